/* tools/list, tools/call, resources/read, resources/list: see mcp_session.h. */
#include "env/mcp/mcp_session.h"

#include "base/map.h"
#include "base/mem.h"
#include "json/write.h"

#define TOOL_PAGES_MAX     1000
#define RESOURCE_PAGES_MAX 16
#define PAGES_TIMEOUTS     5u    /* timeout of all pages, as a multiple of that of one */
#define TOOLS_MAX          65536 /* per list: the limit of the rules */
/* The list is part of a recording's first line and must leave room for the rest of the line. */
#define TOOLS_BYTES_MAX ((size_t)16 << 20)

/* A list under construction. */
struct listing {
	struct mcp_session *session;
	struct buf *tools;
	struct map names; /* as spelled in JSON; in the arena */
	struct arena arena;
	uint64_t kept, left_out;
	bool more_pages, endless;
	struct buf repeated; /* names in JSON, with commas */
	uint64_t until_ns;   /* no further page is requested; UINT64_MAX: no limit */
};

static int list_page(struct mcp_session *s, const char *method, struct str cursor,
                     struct mcp_reply *r, struct error *err)
{
	AUTO_BUF params = BUF(2 * BUF_MAX_SMALL);

	if (cursor.p)
		json_pack(&params, "{cursor:%r}", cursor);
	struct str given = buf_given(&params);
	return mcp_request(s, method, given, r, err);
}

/* As many as fit. */
static void note_repeated(struct listing *l, struct str name)
{
	if (l->repeated.n + name.n + 1 < l->repeated.max) {
		buf_text(&l->repeated, l->repeated.n ? "," : "");
		buf_str(&l->repeated, name);
	}
}

static void add_tool(struct listing *l, struct str tool)
{
	struct str name = JSON_GET(tool, "name");
	uint64_t hash = map_hash(name);

	if (name.n && map_find(&l->names, hash, STR_NONE)) {
		note_repeated(l, name);
		return;
	}
	if (l->session->modern && !mcp_modern_accepts_tool(l->session, tool))
		return;
	if (l->left_out || l->kept == TOOLS_MAX || tool.n > TOOLS_BYTES_MAX - l->tools->n - 2) {
		l->left_out++;
		return;
	}
	if (l->kept++)
		buf_char(l->tools, ',');
	if (name.n)
		map_add(&l->names, arena_new(&l->arena, sizeof(struct map_item)), hash);
	buf_str(l->tools, tool);
}

/* Sets *cursor to that of the next page; false if there is none to request. */
static bool turn_page(struct listing *l, struct str next, int page, struct buf *cursor)
{
	if (json_is_null(next) || json_is(next, STR("")))
		return false;
	l->more_pages = true;
	if (l->left_out)
		return false;
	bool late = !io_left_ms(l->session->conf.io, l->until_ns);
	l->endless = late || page == TOOL_PAGES_MAX || next.n >= BUF_MAX_SMALL ||
	             str_eq(next, buf_view(cursor));
	buf_set(cursor, next);
	l->more_pages = false;
	return !l->endless;
}

static int list_pages(struct mcp_session *s, struct listing *l, struct buf *cursor,
                      struct mcp_reply *r, struct error *err)
{
	for (int page = 0;; page++) {
		struct str at = buf_given(cursor), tool;
		size_t tools_cursor = 0;

		if (list_page(s, "tools/list", at, r, err))
			return -1;
		if (r->got != MCP_GOT_RESULT)
			return 0;
		struct str tools = JSON_GET(r->message.result, "tools");
		if (json_type(tools) != JSON_ARRAY) {
			r->got = MCP_GOT_UNUSABLE;
			r->text = STR("the result of tools/list has no array \"tools\"");
			return 0;
		}
		while (json_next(tools, &tools_cursor, &tool))
			add_tool(l, tool);
		if (!turn_page(l, JSON_GET(r->message.result, "nextCursor"), page, cursor))
			return 0;
	}
}

static void note_omissions(struct mcp_session *s, const struct listing *l)
{
	struct event_queue *q = s->conf.events;

	if (l->left_out) {
		events_pack(q, EVENT_TRUNCATED_BYTES,
		            "{what:'tools',kept:%i,left_out:%i,more_pages:%b}", (int64_t)l->kept,
		            (int64_t)l->left_out, l->more_pages);
	}
	if (l->repeated.n) {
		events_pack(
			q, EVENT_NOISE,
			"{what:'tools/list',why:'duplicate tool name: only the first tool of that "
			"name is used',names:[%r]}",
			buf_view(&l->repeated));
	}
	if (l->endless) {
		events_pack(q, EVENT_NOISE,
		            "{what:'tools/list',why:'pagination does not end: the cursor repeats, "
		            "or the pages are too large or too slow'}");
	}
}

int mcp_list_tools(struct mcp_session *s, struct buf *tools, struct mcp_reply *r, struct error *err)
{
	AUTO_BUF cursor = BUF(BUF_MAX_SMALL);
	struct listing l = {.session = s, .tools = tools, .repeated = BUF(BUF_MAX_SMALL)};

	l.until_ns = s->conf.timeout_ms
	                     ? io_deadline_ns(s->conf.io, PAGES_TIMEOUTS * s->conf.timeout_ms)
	                     : UINT64_MAX;
	buf_clear(tools);
	buf_clear(&s->marked);
	buf_char(tools, '[');
	int failed = list_pages(s, &l, &cursor, r, err);
	buf_char(tools, ']');
	note_omissions(s, &l);
	buf_release(&l.repeated);
	arena_release(&l.arena);
	return failed;
}

/* Lists the tools again. If that is refused, *r keeps the first refusal. */
static int list_again(struct mcp_session *s, const struct mcp_reply *r, bool *listed,
                      struct error *err)
{
	struct mcp_kept kept = s->kept;
	struct buf tools = BUF(BUF_MAX_MESSAGE);
	struct mcp_reply list;

	mcp_kept_init(&s->kept);
	int failed = mcp_list_tools(s, &tools, &list, err);
	*listed = !failed && list.got == MCP_GOT_RESULT;
	mcp_kept_release(&s->kept);
	s->kept = kept;
	buf_release(&tools);
	s->tools_changed |= *listed;
	if (*listed) {
		mcp_note_retry(s, r,
		               "the server refused the headers before executing the call: the "
		               "tools were listed again, and the call was sent again");
	}
	return failed;
}

int mcp_call_tool(struct mcp_session *s, struct str name, struct str arguments, struct mcp_reply *r,
                  struct error *err)
{
	bool listed = false;

	if (mcp_call_once(s, name, arguments, r, err) ||
	    (r->headers_refused && list_again(s, r, &listed, err))) {
		return -1;
	}
	return listed ? mcp_call_once(s, name, arguments, r, err) : 0;
}

int mcp_read_resource(struct mcp_session *s, struct str uri, struct mcp_reply *r, struct error *err)
{
	AUTO_BUF params = BUF(BUF_MAX_SMALL);

	json_pack(&params, "{uri:%s}", uri);
	return mcp_request(s, "resources/read", buf_view(&params), r, err);
}

int mcp_list_resources(struct mcp_session *s, struct buf *out, struct error *err)
{
	AUTO_BUF cursor = BUF(BUF_MAX_SMALL);
	struct mcp_reply r;
	struct str each;
	size_t count = 0;
	int failed = 0;

	for (int page = 0; page < RESOURCE_PAGES_MAX && (!page || cursor.n); page++) {
		failed = list_page(s, "resources/list", page ? buf_view(&cursor) : STR_NONE, &r,
		                   err);
		buf_clear(&cursor);
		if (failed || r.got != MCP_GOT_RESULT)
			break;
		struct str list = JSON_GET(r.message.result, "resources");
		for (size_t at = 0; json_next(list, &at, &each);) {
			buf_char(out, count++ ? ',' : '[');
			buf_str(out, each);
		}
		struct str next = JSON_GET(r.message.result, "nextCursor");
		if (json_type(next) == JSON_STRING && !json_is(next, STR("")) &&
		    next.n < BUF_MAX_SMALL) {
			buf_str(&cursor, next);
		}
	}
	buf_text(out, count ? "]" : "");
	return failed;
}
