/* The deterministic policy: see script.h. */
#include "policy/script.h"

#include "base/text.h"
#include "json/write.h"
#include "policy/call_text.h"
#include "policy/tool_set.h"

#include <stdlib.h>

#define SHOWN 100 /* columns of a text in a message */

struct script {
	struct policy base;
	struct arena arena;
	struct script_conf conf;
	size_t next;
	int64_t equal_errors;
	struct buf last_error, this_error; /* masked */
};

/* Counts how often the same masked error came in a row. */
static void count_errors(struct script *s, const struct policy_view *v)
{
	if (v->last == OUTCOME_NONE)
		return;
	if (v->last == OUTCOME_OK) {
		s->equal_errors = 0;
		return;
	}
	buf_clear(&s->this_error);
	text_mask(&s->this_error, v->last_error);
	bool same =
		s->equal_errors > 0 && str_eq(buf_view(&s->this_error), buf_view(&s->last_error));
	s->equal_errors = same ? s->equal_errors + 1 : 1;
	buf_set(&s->last_error, buf_view(&s->this_error));
}

static int script_decide(struct policy *p, const struct policy_view *v, struct decision *out,
                         struct error *err)
{
	struct script *s = (struct script *)p;

	(void)err;
	count_errors(s, v);
	if (s->conf.stop_after && s->equal_errors >= s->conf.stop_after) {
		*out = (struct decision){.kind = DECIDE_STOPPED,
		                         .reason = "the same error was returned too often "
		                                   "(on_error)"};
		return 0;
	}
	if (s->next >= s->conf.count && s->conf.on_end == ON_END_CYCLE)
		s->next = 0;
	if (s->next >= s->conf.count && s->conf.on_end == ON_END_REPEAT && s->conf.count)
		s->next = s->conf.count - 1;
	if (s->next >= s->conf.count) {
		*out = (struct decision){.kind = DECIDE_FINISHED,
		                         .reason = "all scripted actions were sent"};
		return 0;
	}
	const struct script_call *call = &s->conf.calls[s->next++];
	*out = (struct decision){
		.kind = DECIDE_CALL, .name = call->name, .arguments = call->arguments};
	return 0;
}

static void script_facts(const struct policy *p, struct policy_facts *out)
{
	const struct script *s = (const struct script *)p;
	bool ends = s->conf.on_end == ON_END_STOP || s->conf.count == 0;

	*out = (struct policy_facts){.kind = s->conf.recorded ? POLICY_REPLAY : POLICY_SCRIPT,
	                             .name = s->conf.name,
	                             .params = s->conf.params,
	                             .length = ends ? (int64_t)s->conf.count : -1};
}

static void script_close(struct policy *p)
{
	struct script *s = (struct script *)p;

	if (!s)
		return;
	BUFS_RELEASE(&s->last_error, &s->this_error);
	arena_release(&s->arena);
	free(s);
}

/* ---- from a list of actions ---- */

/* The length of a JSON array, object or string at the start, if it is followed by a comma or the
   end; 0: a plain word. */
static size_t value_length(struct str rest)
{
	struct json_fault fault;
	size_t n = 0;

	if (!rest.n || !strchr("[{\"", rest.p[0]) || json_validate_first(rest, &n, &fault))
		return 0;
	return n == rest.n || rest.p[n] == ',' ? n : 0;
}

static size_t action_length(struct str rest)
{
	const char *comma = rest.n ? memchr(rest.p, ',', rest.n) : NULL;
	size_t value = value_length(rest);

	return value ? value : comma ? (size_t)(comma - rest.p) : rest.n;
}

static bool is_of_word(char c)
{
	char lower = (char)(c | 32);

	return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_.+-:", c));
}

bool script_is_plain(struct str action)
{
	size_t word = 0;

	while (word < action.n && is_of_word(action.p[word]))
		word++;
	return action.n && (word == action.n || value_length(action) == action.n);
}

int script_split(const char *actions, struct arena *arena, struct str **out, size_t *count,
                 struct error *err)
{
	struct str rest = str_from(actions);
	size_t n = 1;

	for (size_t i = 0; i < rest.n; i++)
		n += rest.p[i] == ',';
	*out = arena_new(arena, n * sizeof(**out));
	for (*count = 0;;) {
		size_t length = action_length(rest);

		if (length == 0) {
			return error_set(err, FAIL_USAGE,
			                 "\1actions\2: action %zu is empty in '%s'", *count + 1,
			                 actions);
		}
		(*out)[(*count)++] = arena_str(arena, (struct str){rest.p, length});
		if (length == rest.n)
			return 0;
		rest = str_skip(rest, length + 1);
	}
}

int script_check_actions(const char *actions, struct error *err)
{
	AUTO_ARENA arena = {0};
	struct str *ignored;
	size_t count;
	int failed = actions ? script_split(actions, &arena, &ignored, &count, err) : 0;

	return failed;
}

struct action_slot {
	const struct policy_conf *conf;
	struct str name, tool; /* of the tool: decoded name, raw JSON */
	struct str key, schema;
};

static int choose_tool(struct action_slot *s, struct arena *arena, struct error *err)
{
	const struct policy_conf *conf = s->conf;
	struct buf only = BUF(BUF_MAX_MESSAGE);

	if (conf->tool) {
		s->name = arena_str(arena, str_from(conf->tool));
		return conf->force_call ? 0 : tool_require(conf->tools, s->name, err);
	}
	int failed = tool_only(conf->tools, &only, err);
	s->name = buf_keep(&only, arena);
	return failed;
}

/* Forced calls of an unknown tool, which has no schema, use the argument "action". */
static int choose_argument(struct action_slot *s, struct error *err)
{
	const char *named = s->conf->argument;
	struct error ignored;

	s->tool = tool_find(s->conf->tools, s->name);
	s->key = STR("action");
	s->schema = STR_NONE;
	if (!s->conf->force_call)
		return tool_action_property(s->tool, named, &s->key, &s->schema, err);
	if (tool_action_property(s->tool, named, &s->key, &s->schema, &ignored))
		s->key = named ? str_from(named) : STR("action");
	return 0;
}

/* {"tool":NAME, KEY:[TEXTS]}; tool absent: left out. */
static struct str params_of(struct str tool, const char *key, const struct str *texts, size_t count,
                            struct arena *arena)
{
	struct buf params = BUF(BUF_MAX_MESSAGE);

	struct json_writer w = jw_form(&params, "{tool:%?s", tool);
	jw_put_array(&w, key);
	for (size_t i = 0; i < count; i++)
		jw_str(&w, texts[i]);
	jw_pack(&w, "]}");
	return buf_keep(&params, arena);
}

static int make_calls(const struct action_slot *s, const struct str *actions, size_t count,
                      struct arena *arena, struct script_conf *out, struct error *err)
{
	AUTO_BUF arguments = BUF(BUF_MAX_MESSAGE);
	struct str fits = s->conf->force_call ? STR_NONE : s->schema;
	int failed = 0;

	out->calls = arena_new(arena, count * sizeof(*out->calls));
	out->count = count;
	for (size_t i = 0; i < count && !failed; i++) {
		buf_clear(&arguments);
		failed = tool_action_arguments(s->tool, s->key, fits, actions[i], &arguments, err);
		out->calls[i].name = s->name;
		out->calls[i].arguments = arena_str(arena, buf_view(&arguments));
	}
	out->params = params_of(s->name, "actions", actions, count, arena);
	return failed;
}

int script_from_actions(const struct policy_conf *conf, const struct str *actions, size_t count,
                        struct arena *arena, struct script_conf *out, struct error *err)
{
	struct action_slot s = {.conf = conf};

	return choose_tool(&s, arena, err) || choose_argument(&s, err) ||
	                       make_calls(&s, actions, count, arena, out, err)
	               ? -1
	               : 0;
}

/* ---- from the text of an option ---- */

/* Does the schema take that action? *array (may be NULL): as an array. */
static bool slot_takes(const struct action_slot *s, struct str action, bool *array)
{
	AUTO_BUF made = BUF(BUF_MAX_MESSAGE);
	struct error ignored;
	bool takes = !tool_action_arguments(s->tool, s->key, s->schema, action, &made, &ignored);

	if (array)
		*array = takes && made.p[s->key.n + strlen("{\"\":")] == '[';
	return takes;
}

/* A JSON array of strings is the list of actions, unless the argument takes an array. */
static bool is_list(const struct action_slot *s, struct str text)
{
	struct str each;
	bool strings = text.n && text.p[0] == '[' && json_is_valid(text) && json_count(text);
	bool array = false;

	for (size_t cursor = 0; strings && json_next(text, &cursor, &each);)
		strings = json_type(each) == JSON_STRING;
	if (strings)
		slot_takes(s, text, &array);
	return strings && !array;
}

static void read_list(struct str list, struct arena *arena, struct str **out, size_t *count)
{
	struct str each;

	*out = arena_new(arena, json_count(list) * sizeof(**out));
	*count = 0;
	for (size_t cursor = 0; json_next(list, &cursor, &each);) {
		struct str text = json_text(arena, each);

		(*out)[(*count)++] =
			str_starts(text, STR("\"")) ? each : text; /* not decoded twice */
	}
}

/* One action of "A,B,C" whatever the schema takes: a number, JSON, or a word. A dot is part of a
   file's name or of a sentence rather than of an action. */
static bool is_one_action(const struct action_slot *s, struct str part)
{
	double number;

	return json_double_text(part, &number) || value_length(part) == part.n ||
	       (script_is_plain(part) && (s->conf->force_call || !memchr(part.p, '.', part.n)));
}

/* The parts of text that may as well be one value, such as a sentence, are not sent as calls. */
static int check_parts(const struct action_slot *s, struct str text, const struct str *parts,
                       size_t count, struct error *err)
{
	bool plain = true, listed = count > 1 && !slot_takes(s, text, NULL);

	for (size_t i = 0; i < count; i++) {
		plain = plain && is_one_action(s, parts[i]);
		/* a forced call is not checked later */
		listed = listed && (!s->conf->force_call || slot_takes(s, parts[i], NULL));
	}
	if (count == 1 || plain || listed)
		return 0;
	AUTO_BUF shown = BUF(BUF_MAX_SMALL);

	text_escape_cut(&shown, text, SHOWN);
	return error_set(
		err, FAIL_USAGE,
		"\1actions\2: '%s' may be one value or %zu: write values that are not single words "
		"as JSON, '%s', or each call with \1call\2 '%.*s KEY=VALUE'",
		buf_cstr(&shown), count,
		is_list(s, STR("[\"a, b\"]")) ? "[\"a, b\",\"c\"]" : "\"a, b\",\"c\"",
		STR_ARG(s->name));
}

int script_from_text(const struct policy_conf *conf, struct arena *arena, struct script_conf *out,
                     struct error *err)
{
	struct action_slot s = {.conf = conf};
	struct str text = str_from(conf->actions), *actions;
	size_t count;

	if (script_split(conf->actions, arena, &actions, &count, err) ||
	    choose_tool(&s, arena, err) || choose_argument(&s, err) ||
	    check_parts(&s, text, actions, count, err)) {
		return -1;
	}
	if (is_list(&s, text))
		read_list(text, arena, &actions, &count);
	return make_calls(&s, actions, count, arena, out, err);
}

int script_check(const struct policy_conf *conf, const struct script_conf *script,
                 struct error *err)
{
	if (conf->force_call || !conf->tools.p)
		return 0;
	for (size_t i = 0; i < script->count; i++) {
		const struct script_call *c = &script->calls[i];
		struct str tool = tool_find(conf->tools, c->name);

		if (!tool.p ? tool_require(conf->tools, c->name, err)
		            : tool_check_arguments(tool, c->arguments, err)) {
			return error_wrap(err, "call %zu (%.*s)", i + 1, STR_ARG(c->name));
		}
	}
	return 0;
}

/* "script" alone adds nothing to the actions. */
static int check_spec(const struct policy_conf *conf, struct error *err)
{
	if (conf->spec && strchr(conf->spec, ':')) {
		return error_set(err, FAIL_USAGE,
		                 "\1policy\2 script has no argument, not '%s': use "
		                 "\1actions\2 A,B,C, or name a policy file",
		                 conf->spec);
	}
	return conf->actions || conf->call_text_count
	               ? 0
	               : error_set(
				 err, FAIL_USAGE,
				 "\1policy\2 script needs \1actions\2 A,B,C or \1call\2 'TOOL key=value'; a "
				 "script in a file is used with \1policy\2 FILE");
}

static int check_options(const struct policy_conf *conf, struct error *err)
{
	if (check_spec(conf, err) || script_check_actions(conf->actions, err))
		return -1;
	for (size_t i = 0; i < conf->call_text_count; i++)
		if (call_text_check(conf->call_texts[i], err))
			return -1;
	return 0;
}

static int script_from_texts(const struct policy_conf *conf, struct arena *arena,
                             struct script_conf *out, struct error *err)
{
	struct str *texts = arena_new(arena, conf->call_text_count * sizeof(*texts));

	out->name = STR("calls");
	out->calls = arena_new(arena, conf->call_text_count * sizeof(*out->calls));
	for (; out->count < conf->call_text_count; out->count++) {
		texts[out->count] = str_from(conf->call_texts[out->count]);
		if (call_text_read(conf, conf->call_texts[out->count], arena,
		                   &out->calls[out->count], err)) {
			return -1;
		}
	}
	out->params = params_of(STR_NONE, "calls", texts, conf->call_text_count, arena);
	return 0;
}

static int script_open(const struct policy_conf *conf, struct policy **out, struct error *err)
{
	struct script_conf script = {.name = STR("actions")};
	AUTO_ARENA arena = {0};

	if (check_options(conf, err))
		return -1;
	if (!out)
		return 0;
	int failed = conf->call_text_count ? script_from_texts(conf, &arena, &script, err)
	                                   : script_from_text(conf, &arena, &script, err);
	if (!failed)
		*out = script_new(&script);
	return failed ? -1 : 0;
}

const struct policy_ops policy_script = {
	.kind = POLICY_SCRIPT,
	.keys = &script_file_keys,
	.help = "a fixed list of calls: \1actions\2 A,B,C, or a policy file",
	.open = script_open,
	.from_file = script_from_file,
	.decide = script_decide,
	.facts = script_facts,
	.close = script_close,
};

struct policy *script_new(const struct script_conf *conf)
{
	struct script *s = mem_new(sizeof(*s));

	s->base.ops = &policy_script;
	s->conf = *conf;
	s->last_error = s->this_error = BUF(BUF_MAX_MESSAGE);
	s->conf.calls = arena_new(&s->arena, conf->count * sizeof(*conf->calls));
	for (size_t i = 0; i < conf->count; i++) {
		s->conf.calls[i].name = arena_str(&s->arena, conf->calls[i].name);
		s->conf.calls[i].arguments = arena_str(&s->arena, conf->calls[i].arguments);
	}
	s->conf.name = arena_str(&s->arena, conf->name);
	s->conf.params = arena_str(&s->arena, conf->params);
	return &s->base;
}

/* ---- from the calls of a recording ---- */

int script_from_calls(const struct policy_conf *conf, struct policy **out, struct error *err)
{
	struct script_conf script = {
		.recorded = true, .name = STR("recording"), .params = STR("{}")};
	AUTO_ARENA arena = {0};
	struct str call;
	size_t cursor = 0;

	script.calls = arena_new(&arena, (json_count(conf->calls) + 1) * sizeof(*script.calls));
	while (json_next(conf->calls, &cursor, &call)) {
		script.calls[script.count].name = json_text(&arena, JSON_GET(call, "name"));
		script.calls[script.count++].arguments = JSON_GET(call, "arguments");
	}
	int failed = script_check(conf, &script, err);
	if (failed)
		err->kind = FAIL_INPUT;
	else
		*out = script_new(&script);
	return failed;
}
