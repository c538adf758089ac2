/* Why an MCP session could not be opened: refused by the server, or not an MCP server. */
#include "base/html.h"
#include "base/text.h"
#include "env/mcp/mcp_internal.h"

/* It was meant to be JSON: then the parse error is more helpful than the path. */
static bool is_broken_json(const struct mcp_reply *r)
{
	return r->http_status == 200 && r->text.n && r->message.kind == JSONRPC_NOT_JSON &&
	       text_glob(STR("*json*"), r->media);
}

/* The error "HTTP 404 (text/html, a web page titled ..)" or "HTTP 301 to http://..", with a fix. */
static int not_mcp(struct env_mcp *e, const struct mcp_reply *r, const char *what,
                   struct error *err)
{
	bool moved = r->http_status / 100 == 3 && r->location.n;
	bool gateway = r->http_status >= 502 && r->http_status <= 504;
	bool broken = is_broken_json(r);
	struct buf text = BUF(BUF_MAX_SMALL);

	buf_printf(&text, "HTTP %d (%.*s", r->http_status,
	           STR_ARG(r->media.n ? r->media : STR("no content type")));
	if (html_is_page(r->text)) {
		buf_text(&text, ", ");
		html_summary(r->text, &text);
	}
	if (broken) {
		buf_printf(&text, ", not JSON: %s at byte %zu", r->message.fault.why,
		           r->message.fault.at);
	}
	buf_char(&text, ')');
	if (moved) {
		buf_text(&text, " to ");
		text_escape_cut(&text, r->location, 200);
	}
	error_set(err, FAIL_PROTOCOL, "%s answered %s with %s, which is not MCP; %s",
	          mcp_session_url(e->session), what, buf_cstr(&text),
	          moved     ? "use the URL it redirects to"
	          : broken  ? "the server's response cannot be parsed"
	          : gateway ? "a proxy in between cannot reach the server"
	                    : "check the path: MCP servers usually listen at /mcp");
	buf_release(&text);
	return -1;
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
		return error_set(err, FAIL_PROTOCOL, "%s: %.*s", mcp_session_url(e->session),
		                 STR_ARG(r->text));
	}
	if (r->got == MCP_GOT_HTTP && !answered) {
		return not_mcp(e, r, what, err);
	}
	mcp_read_other(r, &e->reading, refusal);
	return 0;
}
