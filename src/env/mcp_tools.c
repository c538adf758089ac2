/* tools/list, all pages: see mcp_tools.h. */
#include "env/mcp_tools.h"

#include "base/mem.h"
#include "env/mcp_modern.h"
#include "json/canon.h"
#include "json/write.h"

#include <stdlib.h>

#define TOOL_PAGES_MAX 1000
#define TOOLS_MAX      4096 /* of one list */
#define NAME_SLOTS     8192 /* a power of two, at least half of it free */
/* The list is part of a recording's first line and must leave room for the rest. */
#define TOOLS_BYTES_MAX ((size_t)16 << 20)

/* A list while it grows. Names are offsets: the list moves in memory. */
struct listing {
	struct mcp_session *session;
	struct buf *tools;
	struct name_slot {
		size_t at, n; /* n 0: free */
	} * names;
	uint64_t kept, left_out;
	bool more_pages;
	struct buf repeated; /* names in JSON, with commas */
};

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

/* Where the name is, or would be. */
static struct name_slot *slot_of(const struct listing *l, struct str name)
{
	uint64_t hash = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < name.n; i++) {
		hash = (hash ^ (unsigned char)name.p[i]) * 1099511628211u;
	}
	for (size_t i = (size_t)(hash ^ hash >> 32);; i++) {
		struct name_slot *slot = &l->names[i % NAME_SLOTS];
		struct str there = {l->tools->p + slot->at, slot->n};

		if (!slot->n || str_eq(there, name)) {
			return slot;
		}
	}
}

static void note_repeated(struct listing *l, struct str name)
{
	if (l->repeated.n) {
		buf_char(&l->repeated, ',');
	}
	buf_str(&l->repeated, name);
}

static void add_tool(struct listing *l, struct str tool)
{
	struct str name = JSON_GET(tool, "name");
	struct name_slot *slot = name.n ? slot_of(l, name) : NULL;

	if (slot && slot->n) {
		note_repeated(l, name);
		return;
	}
	if (l->session->modern && !mcp_modern_takes_tool(l->session, tool)) {
		return;
	}
	if (l->left_out || l->kept == TOOLS_MAX ||
	    tool.n > TOOLS_BYTES_MAX - l->tools->n - 2) {
		l->left_out++;
		return;
	}
	if (l->kept++) {
		buf_char(l->tools, ',');
	}
	if (slot) {
		*slot = (struct name_slot){l->tools->n + (size_t)(name.p - tool.p),
		                           name.n};
	}
	buf_str(l->tools, tool);
}

/* The next page's cursor in *cursor; false: there is none to ask for. */
static bool turn_page(struct listing *l, struct str next, int page, struct buf *cursor,
                      bool *endless)
{
	if (json_is_null(next) || json_is(next, STR(""))) {
		return false;
	}
	l->more_pages = true;
	if (l->left_out) {
		return false;
	}
	*endless = page == TOOL_PAGES_MAX || next.n >= BUF_MAX_SMALL ||
	           str_eq(next, buf_view(cursor));
	buf_clear(cursor);
	buf_str(cursor, next);
	l->more_pages = false;
	return !*endless;
}

static int list_pages(struct mcp_session *s, struct listing *l, struct buf *cursor,
                      bool *endless, struct mcp_reply *r, struct error *err)
{
	for (int page = 0;; page++) {
		struct str at = cursor->n ? buf_view(cursor) : (struct str){NULL, 0},
			   tool;
		size_t tools_cursor = 0;

		if (list_page(s, at, r, err)) {
			return -1;
		}
		if (r->got != MCP_GOT_RESULT) {
			return 0;
		}
		struct str tools = JSON_GET(r->message.result, "tools");
		if (json_type(tools) != JSON_ARRAY) {
			r->got = MCP_GOT_UNUSABLE;
			r->text = STR("the result of tools/list has no array \"tools\"");
			return 0;
		}
		while (json_next(tools, &tools_cursor, &tool)) {
			add_tool(l, tool);
		}
		if (!turn_page(l, JSON_GET(r->message.result, "nextCursor"), page, cursor,
		               endless)) {
			return 0;
		}
	}
}

static void say_what_is_missing(struct mcp_session *s, const struct listing *l)
{
	struct buf detail = BUF(2 * BUF_MAX_SMALL);
	struct json_writer w;

	if (l->left_out) {
		jw_init(&w, &detail);
		jw_object(&w);
		jw_key(&w, "what");
		jw_text(&w, "tools");
		jw_key(&w, "kept");
		jw_u64(&w, l->kept);
		jw_key(&w, "left_out");
		jw_u64(&w, l->left_out);
		jw_key(&w, "more_pages");
		jw_bool(&w, l->more_pages);
		jw_end(&w);
		events_push_json(s->conf.events, "truncated-bytes", &detail);
	}
	buf_clear(&detail);
	if (l->repeated.n || l->repeated.full) {
		jw_init(&w, &detail);
		jw_object(&w);
		jw_key(&w, "what");
		jw_text(&w, "tools/list");
		jw_key(&w, "why");
		jw_text(&w, "a name came again: only the first tool of that name counts");
		jw_key(&w, "names");
		jw_array(&w);
		if (!l->repeated.full) {
			jw_raw(&w, buf_view(&l->repeated));
		}
		jw_end(&w);
		jw_end(&w);
		events_push_json(s->conf.events, "noise", &detail);
	}
	buf_release(&detail);
}

int mcp_list_tools(struct mcp_session *s, struct buf *tools, bool *endless,
                   struct mcp_reply *r, struct error *err)
{
	struct buf cursor = BUF(BUF_MAX_SMALL);
	struct listing l = {.session = s,
	                    .tools = tools,
	                    .names = mem_array(NAME_SLOTS, sizeof(*l.names)),
	                    .repeated = BUF(BUF_MAX_SMALL)};

	*endless = false;
	buf_clear(tools);
	buf_clear(&s->marked);
	buf_char(tools, '[');
	int failed = list_pages(s, &l, &cursor, endless, r, err);
	buf_char(tools, ']');
	say_what_is_missing(s, &l);
	buf_release(&cursor);
	buf_release(&l.repeated);
	free(l.names);
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
