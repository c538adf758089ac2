/* Advertised tools: see tool_list.h. */
#define _GNU_SOURCE /* memmem */
#include "protocol/tool_list.h"

#include "json/canon.h"
#include "json/index.h"
#include "json/scan.h"
#include "json/write.h"

/* Writes the names of those tools of `in` that are missing in the other list, or with `both`
   differ from it. */
static bool write_names(struct json_writer *w, const char *key, struct str in,
                        const struct json_index *other, bool both)
{
	AUTO_ARENA names = {0};
	struct str tool;
	size_t cursor = 0;
	bool any = false;

	jw_put_array(w, key);
	while (json_next(in, &cursor, &tool)) {
		struct str name = JSON_GET(tool, "name");
		bool named = json_type(name) == JSON_STRING;
		struct str twin =
			named ? json_index_find(other, json_text(&names, name)) : STR_NONE;

		if (both ? twin.p && !json_equal(tool, twin) : !twin.p) {
			jw_raw(w, name);
			any = true;
		}
	}
	jw_end(w);
	return any;
}

bool tools_differ(struct str before, struct str now, struct buf *detail)
{
	AUTO_ARENA names = {0};
	struct json_index old, new;

	json_index_begin(&old, before, &names);
	json_index_begin(&new, now, &names);
	struct json_writer w = jw_begin(detail);
	bool added = write_names(&w, "added", now, &old, false);
	bool removed = write_names(&w, "removed", before, &new, false);
	bool changed = write_names(&w, "changed", now, &old, true);
	jw_end(&w);
	return added || removed || changed;
}

/* The first member of that name: it usually precedes the schema, which then need not be read. */
static struct str name_of(struct str tool)
{
	struct json_member m;

	for (size_t cursor = 0; json_next_member(tool, &cursor, &m);)
		if (json_key_is(m.key, STR("name")))
			return m.value;
	return STR_NONE;
}

struct str tool_find(struct str tools, struct str name)
{
	struct str tool;
	size_t cursor = 0;

	while (json_next(tools, &cursor, &tool))
		if (json_is(name_of(tool), name))
			return tool;
	return STR_NONE;
}

struct str tool_schema(struct str tool)
{
	struct str schema = JSON_GET(tool, "inputSchema");

	if (!schema.p) /* OpenEnv and recent Python SDKs */
		schema = JSON_GET(tool, "input_schema");
	return json_type(schema) == JSON_OBJECT ? schema : STR_NONE;
}

bool tool_is_read_only(struct str tools, struct str name)
{
	static const char key[] = "readOnlyHint";
	bool hint = false;

	/* called at every step, and most lists do not contain the key; ASCII letters are never
	   escaped in practice */
	if (tools.n && memmem(tools.p, tools.n, key, strlen(key)))
		json_bool(JSON_GET(JSON_GET(tool_find(tools, name), "annotations"), "readOnlyHint"),
		          &hint);
	return hint;
}
