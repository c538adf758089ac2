/* Tool and arguments of a call: see call.h. Runs for every step of every recording, so parsing
   never allocates. */
#include "evidence/call.h"

#include "base/hash.h"
#include "json/canon.h"

/* The index of the tool with that name, a JSON string. */
static int find_tool(struct open_rollout *o, struct str name)
{
	struct buf *text = &o->facts.work->text;
	int tool = tool_at(&o->facts, json_inner(name));

	if (tool >= 0 || !json_has_escape(name))
		return tool;
	buf_clear(text);
	json_decode(name, text);
	return tool_at(&o->facts, buf_view(text));
}

void call_parse(struct open_rollout *o, struct str call, struct derived_line *m)
{
	static const struct str keys[] = {STR_INIT("name"), STR_INIT("arguments")};
	struct str values[ARRAY_LEN(keys)];

	json_pick(call, keys, ARRAY_LEN(keys), values);
	m->arguments = values[1];
	if (json_type(values[0]) == JSON_STRING) {
		m->tool_name = json_inner(values[0]);
		m->tool = find_tool(o, values[0]);
	}
}

uint64_t call_hash(struct workspace *w, const struct derived_line *m)
{
	buf_set(&w->canon, m->tool_name);
	buf_char(&w->canon, '\0');
	json_canon(m->arguments, NULL, JSON_EDIT_DROP, &w->canon);
	return fingerprint(buf_view(&w->canon));
}
