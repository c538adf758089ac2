/* The control plane of MCP-Gym servers: see control_plane.h. */
#include "env/mcp/control_plane.h"

#include "env/hidden_error.h"

/* Limit on timeouts, so that an unresponsive control plane does not delay every step. */
#define UNANSWERED_MAX 2
#define GAVE_UP        "the control plane timed out twice in a row"

struct endpoint {
	const char *path, *uri;
};

static const struct endpoint endpoints[] = {
	[CONTROL_STATE] = {"/control/initial_state", "game://initial_state"},
	[CONTROL_REWARD] = {"/control/reward", "control://reward"},
	[CONTROL_STATUS] = {"/control/status", "control://status"},
};

void control_init(struct control_plane *c, struct io *io, struct mcp_session *session,
                  struct event_queue *events, const struct env_conf *conf)
{
	*c = (struct control_plane){
		.session = session,
		.id = BUF(BUF_MAX_SMALL),
		.path = BUF(BUF_MAX_SMALL),
		.body = BUF(MCP_REPLY_MAX),
		.why = BUF(BUF_MAX_SMALL),
		.undetected_why = BUF(BUF_MAX_SMALL),
	};
	http_json_init(&c->http, conf, io, events);
	c->http.posts_repeat = true;
	buf_text(&c->id, conf->env_session);
}

void control_release(struct control_plane *c)
{
	http_json_release(&c->http);
	BUFS_RELEASE(&c->id, &c->path, &c->body, &c->why, &c->undetected_why);
}

/* Body absent: GET. Status 0: no reply, with the reason in c->why. The reply is in c->body. The URL's
   query string (perhaps a key) is kept. */
static int fetch(struct control_plane *c, const char *path, bool with_id, struct str body,
                 int *status, struct error *err)
{
	struct http_json_answer a;

	buf_clear(&c->body);
	buf_clear(&c->why);
	*status = 0;
	if (c->unanswered >= UNANSWERED_MAX) {
		buf_printf(&c->why, "%s is no longer requested: %s", path, GAVE_UP);
		return 0;
	}
	buf_clear(&c->http.session);
	if (with_id)
		buf_printf(&c->http.session, "mcp-session-id: %s", buf_cstr(&c->id));
	buf_set(&c->path, str_from(path));
	buf_text(&c->path, buf_cstr(&c->session->url) + strcspn(buf_cstr(&c->session->url), "?#"));
	if (http_json_ask(&c->http, buf_cstr(&c->path), body, &a, err))
		return -1;
	*status = a.status;
	c->unanswered = a.late ? c->unanswered + 1 : 0;
	buf_str(a.status ? &c->body : &c->why, a.text);
	if (c->body.full) {
		*status = 0;
		buf_printf(&c->why, "the response to %s is larger than %zu bytes", path,
		           MCP_REPLY_MAX);
	}
	return 0;
}

static int find_resources(struct control_plane *c, struct error *err)
{
	AUTO_BUF list = BUF(BUF_MAX_MESSAGE);
	struct str each;
	size_t cursor = 0;

	c->kind = CONTROL_NONE;
	if (mcp_list_resources(c->session, &list, err))
		return -1;
	while (json_next(buf_view(&list), &cursor, &each))
		if (json_is(JSON_GET(each, "uri"), str_from(endpoints[CONTROL_STATUS].uri)))
			c->kind = CONTROL_RESOURCES;
	return 0;
}

/* A control plane answers a request without an id with 400 and a JSON object with an error
   message. A bare 400 proves nothing. */
static bool misses_id(const struct control_plane *c, int status)
{
	struct str body = buf_view(&c->body);

	return status == 400 && json_is_valid(body) &&
	       json_type(JSON_GET(body, "error")) == JSON_STRING;
}

static void note_no_reply(struct control_plane *c, int status)
{
	if (!status && !c->undetected_why.n)
		buf_str(&c->undetected_why, buf_view(&c->why));
}

int control_detect(struct control_plane *c, struct error *err)
{
	int status;

	if (str_starts(str_from(buf_cstr(&c->session->url)), STR(STDIO_SCHEME)))
		return find_resources(c, err);
	http_json_set_base(&c->http, buf_cstr(&c->session->url));
	if (str_ends(buf_view(&c->http.base), STR("/mcp"))) /* siblings of it, not below it */
		buf_cut(&c->http.base, c->http.base.n - 4);
	if (fetch(c, CONTROL_RESET, false, STR("{}"), &status, err))
		return -1;
	note_no_reply(c, status);
	if (misses_id(c, status)) {
		c->kind = CONTROL_HTTP;
		return 0;
	}
	if (fetch(c, "/control/status", false, STR_NONE, &status, err))
		return -1;
	note_no_reply(c, status);
	if (misses_id(c, status)) {
		c->kind = CONTROL_HTTP_HASHED;
		return 0;
	}
	return find_resources(c, err);
}

/* Escapes a non-ASCII character like Python's json.dumps; returns the bytes consumed. */
static size_t escape_python(const char *p, struct buf *out)
{
	unsigned char lead = (unsigned char)p[0];
	size_t n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
	uint32_t code = n == 1 ? lead : lead & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		code = code << 6 | ((unsigned char)p[i] & 0x3f);
	if (code >= 0x10000) {
		buf_printf(out, "\\u%04x", 0xd7c0 + (code >> 10));
		code = 0xdc00 | (code & 0x3ff);
	}
	buf_printf(out, "\\u%04x", code);
	return n;
}

/* Python's json.dumps(.., sort_keys=True), except that numbers keep their spelling. */
static void write_python(struct str value, struct buf *out)
{
	AUTO_BUF canon = BUF(BUF_MAX_MESSAGE);
	bool inside = false;

	json_canon(value, NULL, JSON_EDIT_DROP, &canon);
	for (size_t i = 0; i < canon.n; i++) {
		char c = canon.p[i];

		if ((unsigned char)c >= 0x7f) {
			i += escape_python(canon.p + i, out) - 1;
			continue;
		}
		buf_char(out, c);
		if (inside && c == '\\')
			buf_char(out, canon.p[++i]);
		else if (c == '"')
			inside = !inside;
		else if (!inside && (c == ',' || c == ':'))
			buf_char(out, ' ');
	}
}

void control_use_hash(struct control_plane *c, struct str config, const char *name,
                      const char *version, bool has_seed, int64_t seed)
{
	/* must be byte for byte what the server hashes */
	AUTO_BUF text = BUF(BUF_MAX_SMALL);
	char id[HASH_HEX + 1];

	buf_text(&text, "{\"config\": ");
	write_python(config.p ? config : STR("{}"), &text);
	buf_printf(&text, ", \"name\": \"%s\", \"seed\": ", name);
	if (has_seed)
		buf_printf(&text, "%lld", (long long)seed);
	else
		buf_text(&text, "null");
	buf_printf(&text, ", \"version\": \"%s\"}", version);
	hash_md5_hex(buf_view(&text), id);
	buf_set(&c->id, str_from(id));
}

/* ---- reading ---- */

static int read_resource(struct control_plane *c, const char *uri, struct error *err)
{
	struct mcp_reply reply;

	buf_clear(&c->body);
	buf_clear(&c->why);
	if (mcp_read_resource(c->session, str_from(uri), &reply, err))
		return -1;
	struct str text = JSON_GET(json_first(JSON_GET(reply.message.result, "contents")), "text");
	if (reply.got == MCP_GOT_RESULT && json_type(text) == JSON_STRING)
		json_decode(text, &c->body);
	else
		buf_printf(&c->why, "resources/read %s was refused", uri);
	return 0;
}

static void explain_http(const char *method, const char *path, int status, struct str body,
                         struct buf *why)
{

	buf_clear(why);
	buf_printf(why, "%s %s returned HTTP %d", method, path, status);
	struct str error = json_is_valid(body) ? JSON_GET(body, "error") : STR_NONE;
	if (json_type(error) == JSON_STRING) {
		buf_text(why, ": ");
		json_decode(error, why);
	}
}

/* Is the answer only an error? Next to an observation, "error" is an ordinary member. */
static bool reports_error(struct str body, struct str *message)
{
	struct hidden_error r =
		hidden_error_in_body(body, (struct hidden_error_context){{NULL, 0}, {NULL, 0}});

	*message = r.message;
	return r.strength == HIDDEN_ERROR_CERTAIN && r.bare && json_type(r.message) == JSON_STRING;
}

bool control_reply_holds(enum control_fact fact, int status, struct str body, struct buf *why)
{
	const char *path = endpoints[fact].path;
	struct json_fault fault;
	struct str message;

	if (status != 200) {
		explain_http("GET", path, status, body, why);
		return false;
	}
	buf_clear(why);
	if (json_validate(body, &fault)) {
		buf_printf(why, "%s is not JSON: %s at byte %zu", path, fault.why, fault.at);
	} else if (reports_error(body, &message)) {
		buf_printf(why, "%s returned HTTP 200 with an error: ", path);
		json_decode(message, why);
	} else if (fact == CONTROL_STATE && /* it has none */
	           json_is(JSON_GET(body, "observation"), STR("session_not_initialized"))) {
		buf_printf(why, "%s names no session", path);
	}
	return why->n == 0;
}

bool control_names(struct str place, enum control_fact *fact)
{
	for (size_t i = 0; i < ARRAY_LEN(endpoints); i++) {
		if (str_ends(place, str_from(endpoints[i].path)) ||
		    str_is(place, endpoints[i].uri)) {
			*fact = (enum control_fact)i;
			return true;
		}
	}
	return false;
}

int control_read(struct control_plane *c, enum control_fact fact, struct str *out,
                 struct error *err)
{
	const struct endpoint *e = &endpoints[fact];
	int status = 200;

	*out = STR_NONE;
	if (c->kind == CONTROL_RESOURCES ? read_resource(c, e->uri, err)
	                                 : fetch(c, e->path, true, STR_NONE, &status, err)) {
		return -1;
	}
	if (!c->why.n && control_reply_holds(fact, status, buf_view(&c->body), &c->why))
		*out = buf_view(&c->body);
	return 0;
}

void control_explain_reset(int status, struct str body, struct buf *why)
{
	if (status)
		explain_http("POST", CONTROL_RESET, status, body, why);
}

int control_reset(struct control_plane *c, int64_t seed, int *status, struct error *err)
{
	AUTO_BUF body = BUF(64);

	buf_printf(&body, "{\"seed\":%lld}", (long long)seed);
	int failed = fetch(c, CONTROL_RESET, true, buf_view(&body), status, err);
	if (!failed && *status != 200) {
		control_explain_reset(*status, buf_view(&c->body), &c->why);
		if (seed < 0)
			buf_text(&c->why, " (Gymnasium refuses negative seeds)");
	}
	return failed;
}
