/* tools/list, all pages: see mcp_tools.h. */
#include "env/mcp_tools.h"

#include "json/canon.h"
#include "json/write.h"

#define TOOL_PAGES_MAX 1000

static int list_page(struct mcp_session *s, struct str cursor, struct mcp_reply *r,
                     struct error *err)
{
	struct buf params = BUF(2 * BUF_MAX_SMALL);

	if (cursor.p) {
		buf_text(&params, "{\"cursor\":");
		buf_str(&params, cursor);
		buf_char(&params, '}');
	}
	struct str given = params.n ? buf_view(&params) : (struct str){NULL, 0};
	int failed = mcp_request(s, "tools/list", given, r, err);
	buf_release(&params);
	return failed;
}

static void add_tools(struct buf *tools, struct str page)
{
	struct str tool;
	size_t cursor = 0;

	while (json_next(page, &cursor, &tool)) {
		if (tools->n > 1) {
			buf_char(tools, ',');
		}
		buf_str(tools, tool);
	}
}

int mcp_list_tools(struct mcp_session *s, struct buf *tools, bool *endless,
                   struct mcp_reply *r, struct error *err)
{
	struct buf cursor = BUF(BUF_MAX_SMALL);
	int failed = 0;

	*endless = false;
	buf_clear(tools);
	buf_char(tools, '[');
	for (int page = 0;; page++) {
		failed = list_page(
			s, cursor.n ? buf_view(&cursor) : (struct str){NULL, 0}, r, err);
		if (failed || r->got != MCP_GOT_RESULT) {
			break;
		}
		struct str next = JSON_GET(r->message.result, "nextCursor");
		struct str list = JSON_GET(r->message.result, "tools");
		bool fits = list.n < MCP_REPLY_MAX - tools->n;

		if (fits) {
			add_tools(tools, list);
		}
		if (fits && json_is_null(next)) {
			break;
		}
		*endless = !fits || page == TOOL_PAGES_MAX || next.n >= BUF_MAX_SMALL ||
		           str_eq(next, buf_view(&cursor));
		if (*endless) {
			break;
		}
		buf_clear(&cursor);
		buf_str(&cursor, next);
	}
	buf_char(tools, ']');
	buf_release(&cursor);
	return failed;
}

static struct str tool_named(struct str tools, struct str name)
{
	struct str tool;
	size_t cursor = 0;

	while (json_next(tools, &cursor, &tool)) {
		if (str_eq(JSON_GET(tool, "name"), name)) {
			return tool;
		}
	}
	return (struct str){NULL, 0};
}

static bool same_tool(struct hasher *h, struct str a, struct str b)
{
	struct buf scratch = BUF(BUF_MAX_MESSAGE);
	char hex[2][HASH_HEX + 1];

	json_hash(h, a, NULL, &scratch, hex[0]);
	json_hash(h, b, NULL, &scratch, hex[1]);
	buf_release(&scratch);
	return memcmp(hex[0], hex[1], HASH_HEX) == 0;
}

/* Appends the names of those tools of `in` that the other list lacks (hasher NULL), or
 * has in another form. */
static bool name_them(struct json_writer *w, const char *key, struct str in,
                      struct str other, struct hasher *h)
{
	struct str tool;
	size_t cursor = 0;
	bool any = false;

	jw_key(w, key);
	jw_array(w);
	while (json_next(in, &cursor, &tool)) {
		struct str name = JSON_GET(tool, "name");
		struct str twin = tool_named(other, name);

		if (h ? twin.p && !same_tool(h, tool, twin) : !twin.p) {
			jw_raw(w, name);
			any = true;
		}
	}
	jw_end(w);
	return any;
}

bool mcp_tools_differ(struct str before, struct str now, struct hasher *h,
                      struct buf *detail)
{
	struct json_writer w;

	jw_init(&w, detail);
	jw_object(&w);
	bool added = name_them(&w, "added", now, before, NULL);
	bool removed = name_them(&w, "removed", before, now, NULL);
	bool changed = name_them(&w, "changed", now, before, h);
	jw_end(&w);
	return added || removed || changed;
}

bool mcp_tool_reads_only(struct str tools, struct str name)
{
	struct str tool;
	size_t cursor = 0;
	bool hint = false;

	while (json_next(tools, &cursor, &tool)) {
		if (json_is(JSON_GET(tool, "name"), name)) {
			json_bool(JSON_GET(JSON_GET(tool, "annotations"), "readOnlyHint"),
			          &hint);
		}
	}
	return hint;
}
