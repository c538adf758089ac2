/* A script in a policy file:

     {"kind":"script", "name":"...", "tool":"lake_move", "actions":["DOWN", ...],
      "calls":[{"name":"...","arguments":{...}}, "TOOL key=value", ...],   either actions or calls
      "on_end":"stop|cycle|repeat", "on_error":"continue" or {"stop_after":3}} */
#include "policy/script.h"

#include "policy/call_text.h"
#include "policy/policy_file.h"

#include <stdio.h>

struct script_file {
	struct policy_file file;
	const char *tool;
	struct str actions; /* raw array; absent: none */
	struct script_conf script;
};

static int read_on_error(struct keyed *k, struct str value, void *to)
{
	struct script_file *f = to;
	int64_t times = 0;

	if (json_is(value, STR("continue")))
		return 0;
	if (!json_i64(JSON_GET(value, "stop_after"), &times) || times < 1 || json_count(value) != 1)
		return keyed_expected(k, "\"continue\" or {\"stop_after\": K} with K >= 1");
	f->script.stop_after = times;
	return 0;
}

#define IN_CALL(member) .at = offsetof(struct script_call, member)
static const struct keyed_row call_rows[] = {
	{"id", .type = KEYED_IGNORED}, /* in recorded calls */
	{"name", KEYED_TEXT, IN_CALL(name), .required = true},
	{"arguments", KEYED_OBJECT, IN_CALL(arguments)},
};
static const struct keyed_table call_table = KEYED_TABLE(call_rows);

static int read_calls(struct keyed *k, struct str list, void *to)
{
	struct script_conf *script = &((struct script_file *)to)->script;
	struct str each;

	if (json_type(list) != JSON_ARRAY)
		return keyed_expected(k, "an array");
	script->calls = arena_new(k->arena, (json_count(list) + 1) * sizeof(*script->calls));
	for (size_t cursor = 0; json_next(list, &cursor, &each); script->count++) {
		struct script_call *call = &script->calls[script->count];

		call->arguments = STR("{}");
		snprintf(k->place, sizeof(k->place), "calls[%zu]", script->count);
		if (json_type(each) == JSON_STRING) {
			call->text = json_text(k->arena, each).p;
			if (call_text_check(call->text, k->err)) {
				error_wrap(k->err, "%s", k->place);
				return policy_file_invalid(k);
			}
		} else if (keyed_read(k, each, &call_table, call)) {
			return -1;
		}
	}
	k->place[0] = '\0';
	return 0;
}

static const char *const on_end_words[] = {"stop", "cycle", "repeat", NULL};

#define IN_FILE(member) .at = offsetof(struct script_file, member)
static const struct keyed_row script_rows[] = {
	POLICY_FILE_ROWS,
	{"tool", KEYED_WORDS, IN_FILE(tool)},
	{"actions", KEYED_ARRAY, IN_FILE(actions)},
	{"calls", KEYED_BY, .read = read_calls, .inner = &call_table},
	{"on_end", KEYED_CHOICE, IN_FILE(script.on_end), .words = on_end_words},
	{"on_error", KEYED_BY, .read = read_on_error},
};
const struct keyed_table script_file_keys = KEYED_TABLE(script_rows);

static int open_actions(struct keyed *k, const struct policy_conf *conf, struct script_file *f)
{
	size_t count = 0;
	struct str *actions = arena_new(k->arena, (json_count(f->actions) + 1) * sizeof(*actions));
	struct policy_conf with_tool = *conf;
	struct str each;

	with_tool.tool = conf->tool ? conf->tool : f->tool;
	for (size_t cursor = 0; json_next(f->actions, &cursor, &each);) {
		actions[count++] =
			json_type(each) == JSON_STRING ? json_text(k->arena, each) : each;
	}
	return script_from_actions(&with_tool, actions, count, k->arena, &f->script, k->err);
}

/* Reads the calls that are given as text, now that the tools are known. */
static int open_calls(struct keyed *k, const struct policy_conf *conf, struct script_conf *script)
{
	for (size_t i = 0; i < script->count; i++) {
		struct script_call *call = &script->calls[i];

		if (call->text && call_text_read(conf, call->text, k->arena, call, k->err))
			return error_wrap(k->err, "calls[%zu]", i);
	}
	return script_check(conf, script, k->err);
}

static int check_keys(struct keyed *k, const struct policy_conf *conf, const struct script_file *f)
{
	if (!f->actions.p == !f->script.calls) {
		return error_set(k->err, FAIL_INPUT,
		                 "a script needs either \"actions\" or \"calls\", an array");
	}
	if (f->script.calls && (f->tool || conf->tool)) {
		return error_set(
			k->err, FAIL_INPUT,
			"each of the \"calls\" has its own tool: %s is only valid with \"actions\"",
			conf->tool ? "\1tool\2" : "\"tool\"");
	}
	return 0;
}

int script_from_file(struct keyed *k, struct str root, const struct policy_conf *conf,
                     struct policy **out)
{
	struct script_file f = {.file = {.name = NULL}};

	if (keyed_read(k, root, &script_file_keys, &f))
		return -1;
	if (check_keys(k, conf, &f))
		return policy_file_invalid(k);
	if (!out)
		return 0;
	f.script.name = policy_file_title(conf, &f.file);
	if (f.actions.p ? open_actions(k, conf, &f) : open_calls(k, conf, &f.script))
		return policy_file_invalid(k);
	f.script.params = json_compact(k->arena, k->text);
	*out = script_new(&f.script);
	return 0;
}
