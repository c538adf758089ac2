/* tools/list, all pages: see mcp_tools.h. */
#include "env/mcp_tools.h"

#define TOOL_PAGES_MAX 1000

static int list_page(struct mcp_session *s, struct str cursor, struct mcp_reply *r,
                     struct error *err)
{
	struct buf params = BUF(BUF_MAX_SMALL);

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
		add_tools(tools, JSON_GET(r->message.result, "tools"));
		if (json_is_null(next)) {
			break;
		}
		*endless = page == TOOL_PAGES_MAX || str_eq(next, buf_view(&cursor));
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
