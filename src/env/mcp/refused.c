/* Why an MCP session could not be opened: refused by the server, or not an MCP server. */
#include "base/html.h"
#include "base/text.h"
#include "env/environments.h"
#include "env/mcp/mcp_internal.h"

#include <string.h>

#define METHOD_NOT_FOUND (-32601)

/* It was meant to be JSON: then the parse error is more helpful than the path. */
static bool is_broken_json(const struct mcp_reply *r)
{
	return r->http_status == 200 && r->text.n && r->message.kind == JSONRPC_NOT_JSON &&
	       text_glob(STR("*json*"), r->media);
}

/* Appends what a reply that is not MCP consists of. */
static void put_content(const struct mcp_reply *r, struct buf *text)
{
	if (is_broken_json(r)) {
		buf_printf(text, " with invalid JSON (%s at byte %zu)", r->message.fault.why,
		           r->message.fault.at);
	} else if (html_is_page(r->text)) {
		buf_text(text, " with ");
		html_summary(r->text, text);
	} else {
		buf_printf(text, " (%.*s)",
		           STR_ARG(r->media.n ? r->media : STR("no content type")));
	}
}

/* The error "HTTP 404 with a web page (..)" or "HTTP 301 to http://..", with a fix. */
static int not_mcp(struct env_mcp *e, const struct mcp_reply *r, const char *what,
                   struct error *err)
{
	bool moved = r->http_status / 100 == 3 && r->location.n;
	bool gateway = r->http_status >= 502 && r->http_status <= 504;
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	if (moved) {
		buf_text(&text, " to ");
		text_escape_cut(&text, r->location, 200);
	} else {
		put_content(r, &text);
	}
	bool other = !moved && !gateway && !is_broken_json(r);
	bool usual = str_ends(str_from(buf_cstr(&e->session->url)), STR("/mcp"));
	AUTO_BUF others = BUF(BUF_MAX_SMALL);
	if (other)
		env_put_unrecognized(e->conf, &others);
	if (others.n)
		buf_printf(&text, "; it is not recognized as %s either", buf_cstr(&others));
	error_set(err, FAIL_PROTOCOL, "%s%s: %s returned HTTP %d%s%s", buf_cstr(&e->session->url),
	          other ? " is not an MCP server" : "", what, r->http_status, buf_cstr(&text),
	          moved     ? "; use the URL it redirects to"
	          : gateway ? "; a proxy in between cannot reach the server"
	          : !other  ? ""
	          : usual   ? ". Check the path and the port"
	                    : ". Check the path: MCP servers usually listen at /mcp");
	return -1;
}

/* A JSON-RPC server of another protocol (OpenEnv answers at /mcp), or a program that echoes. */
static bool lacks_initialize(const struct mcp_reply *r, const char *what)
{
	int64_t code;

	return r->got == MCP_GOT_ERROR && !strcmp(what, "initialize") &&
	       json_i64(r->message.error_code, &code) && code == METHOD_NOT_FOUND;
}

int mcp_refused(struct env_mcp *e, const struct mcp_reply *r, const char *what,
                struct env_reply *refusal, struct error *err)
{
	int status = r->http_status;
	bool page = html_is_page(r->text);
	bool answered = status == 401 || status == 403 || (status == 429 && !page) ||
	                (status >= 500 && status != 501 && !page);

	if (r->got == MCP_GOT_TIMEOUT || r->got == MCP_GOT_TRANSPORT) {
		return error_set(err, r->got == MCP_GOT_TIMEOUT ? FAIL_TIMEOUT : FAIL_TRANSPORT,
		                 "%.*s", STR_ARG(r->text));
	}
	if (r->got == MCP_GOT_UNUSABLE) {
		return error_set(err, FAIL_PROTOCOL, "%s: %.*s", buf_cstr(&e->session->url),
		                 STR_ARG(r->text));
	}
	if (r->got == MCP_GOT_HTTP && !answered)
		return not_mcp(e, r, what, err);
	if (lacks_initialize(r, what)) {
		const char *url = buf_cstr(&e->session->url);
		bool http = !strncmp(url, "http", 4) && str_ends(str_from(url), STR("/mcp"));

		return error_set(
			err, FAIL_PROTOCOL,
			"%s is not an MCP server: it does not know the method "
			"initialize%s",
			url,
			http ? "; for OpenEnv use http://HOST:PORT without /mcp, or \1protocol\2 openenv to call its tools there"
			     : "");
	}
	mcp_read_other(r, &e->known.reading, refusal);
	return 0;
}
