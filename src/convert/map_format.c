/* Reads recordings by a description of the places of their facts: see convert.h. A value either
   contains a list of steps, or of chat messages, or is one step itself; steps with the same
   `rollout` belong together. */
#include "base/file.h"
#include "convert/dialog.h"
#include "convert/export.h"
#include "convert/import.h"
#include "json/keyed.h"
#include "recording/foreign.h"

#include <stdlib.h>

/* JSON Pointers, or "=text" for a literal; "A|B" is the first one that is known. Absent: not recorded. */
struct map_paths {
	/* of a value; within each of its rollouts if it has a list of them */
	struct str rollouts, rollout, seed, policy, tools, prompt, messages, steps, total_reward,
		reason, failure;
	/* each value is a message of a rollout, or a step */
	struct str message;
	/* within a step; end also of a value with messages */
	struct str tool, arguments, observation, error, state, state_after, reward, end, truncated;
	/* of maps.def only */
	struct str branch; /* true: another rollout of the same task */
	struct str only;   /* a condition for values with a message */
	struct str status; /* a word or a code, if the reason says nothing */
	struct str score;  /* the total reward, if no step has one */
	bool one_rollout;  /* all values of the file are one */
	bool may_be_empty; /* a rollout without messages is one */
};

#define MAP_CONDITIONS 5

struct mapping {
	struct map_paths paths;
	const char *conditions[MAP_CONDITIONS][3]; /* see maps.def */
};

/* A map of the user. */
struct read_map {
	struct format format; /* first, so that a struct format * can be converted */
	struct mapping map;
	struct buf text;
	struct arena arena;
};

/* ---- the description ---- */

static int read_path(struct keyed *k, struct str value, void *to, size_t at)
{
	struct str text = json_text(k->arena, value);

	if (!text.p || (text.n && text.p[0] != '/' && text.p[0] != '='))
		return keyed_expected(k, "a JSON Pointer such as \"/action/name\", or \"=TEXT\"");
	*(struct str *)(void *)((char *)to + at) = text;
	return 0;
}

#define PATHS(ROW)                                                                                 \
	ROW(rollouts)                                                                              \
	ROW(rollout)                                                                               \
	ROW(seed)                                                                                  \
	ROW(policy)                                                                                \
	ROW(tools)                                                                                 \
	ROW(prompt)                                                                                \
	ROW(messages)                                                                              \
	ROW(message)                                                                               \
	ROW(steps)                                                                                 \
	ROW(total_reward)                                                                          \
	ROW(reason)                                                                                \
	ROW(failure)                                                                               \
	ROW(tool)                                                                                  \
	ROW(arguments)                                                                             \
	ROW(observation)                                                                           \
	ROW(error)                                                                                 \
	ROW(state)                                                                                 \
	ROW(state_after)                                                                           \
	ROW(reward)                                                                                \
	ROW(end)                                                                                   \
	ROW(truncated)

#define READER(name)                                                                               \
	static int read_##name(struct keyed *k, struct str value, void *to)                        \
	{                                                                                          \
		return read_path(k, value, to, offsetof(struct map_paths, name));                  \
	}
PATHS(READER)

#define KEYED_PATH(id)                                                                             \
	{.key = #id, .type = KEYED_BY, .at = offsetof(struct map_paths, id), .read = read_##id},
static const struct keyed_row rows[] = {PATHS(KEYED_PATH)};
static const struct keyed_table table = KEYED_TABLE(rows);

/* ---- values ---- */

/* Finds the path's value, or makes one from its literal. */
static struct str find(struct import *m, struct str value, struct str path)
{
	if (!path.p)
		return STR_NONE;
	if (path.n && path.p[0] == '=')
		return IMPORT_PACK(m, "%s", str_skip(path, 1));
	struct str found = STR_NONE;
	while (path.p && json_is_null(found)) {
		buf_clear(&m->work);
		found = arena_str(&m->arena, json_point(value, str_cut(&path, '|'), &m->work));
		path.p = path.n ? path.p : NULL;
	}
	return found;
}

/* True for true, 1, and text other than "" and "false"; -1 if absent. */
static int8_t tristate_of(struct str value)
{
	double number;

	switch (json_type(value)) {
	case JSON_TRUE:
		return 1;
	case JSON_FALSE:
		return 0;
	case JSON_NUMBER:
		return json_double(value, &number) && number != 0;
	case JSON_STRING:
		return json_inner(value).n && !json_is(value, STR("false")) &&
		       !json_is(value, STR("False"));
	case JSON_ABSENT:
	case JSON_NULL:
	case JSON_ARRAY:
	case JSON_OBJECT:
		break;
	}
	return -1;
}

/* A number, possibly written as a string. */
static struct str number_of(struct str value)
{
	struct str inner = json_inner(value);
	struct json_fault fault;

	if (json_type(value) == JSON_STRING && json_validate(inner, &fault) == 0)
		return json_type(inner) == JSON_NUMBER ? inner : STR_NONE;
	return value;
}

/* True for an object with a list of messages, none of whose other members names another format. */
static bool messages_are_plain(struct str value)
{
	static const struct str names[] = {
		STR_INIT("format"),         STR_INIT("version"),
		STR_INIT("schema"),         STR_INIT("schema_version"),
		STR_INIT("format_version"), STR_INIT("trajectory_format"),
	};
	struct str v[ARRAY_LEN(names)] = {0};
	bool named = false;

	json_pick(value, names, ARRAY_LEN(names), v);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		named = named || json_type(v[i]) == JSON_STRING || json_type(v[i]) == JSON_NUMBER;
	struct str messages = JSON_GET(value, "messages");
	return !named && json_count(messages) && messages_may_be(messages);
}

/* True if the first call in it has its arguments as an object. */
static bool messages_have_objects(struct str messages)
{
	struct str message, call;

	for (size_t cursor = 0; json_next(messages, &cursor, &message);) {
		call = json_first(JSON_GET(message, "tool_calls"));
		if (call.p)
			return json_type(JSON_GET(JSON_GET(call, "function"), "arguments")) ==
			       JSON_OBJECT;
	}
	return false;
}

/* Do the conditions hold (see maps.def)? */
static bool holds_all(const char *const conditions[3], struct str value, struct buf *work)
{
	for (size_t i = 0; i < 3 && conditions[i]; i++) {
		struct str pointer = str_from(conditions[i]);
		const char *equals = strchr(conditions[i], '=');
		bool list = str_ends(pointer, STR("["));

		if (pointer.p[0] != '/') {
			bool objects = str_is(pointer, "objects");

			if (objects ? !messages_have_objects(JSON_GET(value, "messages"))
			            : !messages_are_plain(value)) {
				return false;
			}
			continue;
		}
		pointer.n = equals ? (size_t)(equals - pointer.p) : pointer.n - list;
		buf_clear(work);
		struct str found = json_point(value, pointer, work);
		if (json_is_null(found) || (equals && !json_is(found, str_from(equals + 1))) ||
		    (list && json_type(found) != JSON_ARRAY)) {
			return false;
		}
	}
	return true;
}

/* ---- rollouts ---- */

static const struct map_paths *paths_of(const struct import *m)
{
	return &m->format->map->paths;
}

static struct import_header header_of(struct import *m, struct str value)
{
	const struct map_paths *p = paths_of(m);
	struct str tools = outcome_observation(m, find(m, value, p->tools));

	return (struct import_header){
		.task = import_task(m, find(m, value, p->rollout)),
		.seed = number_of(find(m, value, p->seed)),
		.policy_name = import_text(m, find(m, value, p->policy)),
		.tools = tools,
		.has_state = p->state.p || p->state_after.p,
	};
}

/* ---- steps ---- */

static void take_step(struct import *m, struct dialog *d, struct str value)
{
	const struct map_paths *p = paths_of(m);
	struct str error = find(m, value, p->error), state = find(m, value, p->state);
	struct dialog_facts f = DIALOG_FACTS;

	f.name = find(m, value, p->tool);
	f.arguments = find(m, value, p->arguments);
	f.hint.error = error;
	if (json_type(error) == JSON_FALSE || json_type(error) == JSON_TRUE)
		f.hint.failed = json_type(error) == JSON_TRUE;
	f.reward = number_of(find(m, value, p->reward));
	f.terminated = tristate_of(find(m, value, p->end));
	f.truncated = tristate_of(find(m, value, p->truncated));
	f.state = json_is_null(state) ? STR_NONE : outcome_observation(m, state);
	f.state_after = outcome_observation(m, find(m, value, p->state_after));
	dialog_step(m, d, find(m, value, p->observation), &f);
}

/* Takes a value that contains all steps of a rollout. */
static int take_steps(struct import *m, struct str value, struct error *err)
{
	const struct map_paths *p = paths_of(m);
	struct str steps = find(m, value, p->steps), one;
	struct import_header h = header_of(m, value);
	struct import_end e = {.total_reward = number_of(find(m, value, p->total_reward))};
	struct dialog d;
	size_t cursor = 0;

	if (json_type(steps) != JSON_ARRAY) {
		return error_set(err, FAIL_INPUT, "expected a list of steps at \"%.*s\"",
		                 STR_ARG(p->steps));
	}
	dialog_open(m, &d, &h);
	while (json_next(steps, &cursor, &one))
		take_step(m, &d, one);
	dialog_end(m, &d, &e);
	return 0;
}

/* How a rollout ended, by a word. Others are unknown. */
static enum end_status status_of(struct str word)
{
	static const struct {
		const char *word;
		enum end_status status;
	} words[] = {
		{"user_stop", END_FINISHED},
		{"agent_stop", END_FINISHED},
		{"max_steps", END_MAX_TURNS},
		{"too_many_errors", END_STOPPED},
		{"agent_error", END_FAILED},
		{"user_error", END_FAILED},
		{"unexpected_error", END_FAILED},
		{"infrastructure_error", END_FAILED},
		{"timeout", END_STOPPED},
		{"context_window_exceeded", END_TRUNCATED},
		/* eval-protocol; codes below 17 are a google.rpc.Code */
		{"control_plane_signal", END_TERMINATED},
		{"length", END_TRUNCATED},
		{"stop", END_FINISHED},
		{"tool_calls", END_FINISHED},
		{"interrupted", END_INTERRUPTED},
		{"skippable_error", END_FAILED},
		{"non_skippable_error", END_FAILED},
		{"error", END_FAILED},
		{"finished", END_FINISHED},
		{"0", END_FINISHED},
		{"8", END_REFUSED},
		{"100", END_FINISHED},
		{"101", END_UNKNOWN},
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_is(word, words[i].word))
			return words[i].status;
	return END_UNKNOWN;
}

/* Messages, or a list of them for each transition, with all before it: those of the last. */
static struct str last_transition(struct str messages)
{
	struct str last = messages, one;

	for (size_t cursor = 0; json_next(messages, &cursor, &one);)
		last = json_type(one) == JSON_ARRAY ? one : last;
	return last;
}

static int take_messages(struct import *m, struct str value, struct error *err)
{
	const struct map_paths *p = paths_of(m);
	struct str messages = find(m, value, p->messages), prompt = find(m, value, p->prompt);
	struct str failure = import_text(m, find(m, value, p->failure));
	struct import_header h = header_of(m, value);
	struct import_end e = {.total_reward = number_of(find(m, value, p->total_reward)),
	                       .score = find(m, value, p->score)};
	struct str status = find(m, value, p->status);
	struct dialog d;

	if (json_type(messages) == JSON_STRING)
		messages = outcome_observation(m, messages); /* the list as text */
	if (json_type(messages) != JSON_ARRAY && !failure.n && !p->may_be_empty) {
		return error_set(err, FAIL_INPUT, "expected a list of messages at \"%.*s\"",
		                 STR_ARG(p->messages));
	}
	e.reason = failure.n ? failure : import_text(m, find(m, value, p->reason));
	bool ended = tristate_of(find(m, value, p->end)) > 0;
	e.status = failure.n ? END_FAILED : ended ? END_TERMINATED : status_of(e.reason);
	if (e.status == END_UNKNOWN && status.p) {
		bool code = json_type(status) == JSON_NUMBER && !str_is(status, "101");

		e.status = status_of(code ? status : json_inner(status));
		e.status = code && e.status == END_UNKNOWN ? END_FAILED : e.status;
	}
	h.has_state = false;
	dialog_open(m, &d, &h);
	dialog_prompt(m, &d, prompt);
	dialog_messages(m, &d, last_transition(messages));
	dialog_end(m, &d, &e);
	return 0;
}

/* True if a value of many has something to say. */
static bool is_wanted(const struct map_paths *p, struct str value, struct buf *work)
{
	const char *const only[3] = {p->only.p};

	return !p->only.p || holds_all(only, value, work);
}

/* The rollout that a step or a message belongs to. */
static struct dialog *rollout_of(struct import *m, struct str value, struct error *err)
{
	const struct map_paths *p = paths_of(m);
	struct str id = p->one_rollout ? STR("") : find(m, value, p->rollout);
	uint64_t key = map_hash(id.p ? id : STR(""));

	key += tristate_of(find(m, value, p->branch)) > 0;
	struct open_dialog *r = dialogs_find(m, key, err);
	if (r && !r->dialog.id) {
		struct import_header h = header_of(m, value);

		h.has_state = h.has_state && !p->message.p;
		dialog_open(m, &r->dialog, &h);
		if (!p->message.p)
			dialog_flush(m, &r->dialog);
	}
	return r ? &r->dialog : NULL;
}

/* Takes a value that is one step or one message, possibly of a rollout that has begun. */
static int take_one(struct import *m, struct str value, struct error *err)
{
	const struct map_paths *p = paths_of(m);
	struct str message = p->message.n ? find(m, value, p->message) : value;
	bool one = p->one_rollout && !m->own; /* the first value names the rollout */

	if (p->message.p && json_type(message) != JSON_OBJECT && !one)
		return 0;
	bool wanted = is_wanted(p, value, &m->work);
	struct dialog *d = wanted || one ? rollout_of(m, value, err) : NULL;
	if (wanted && d && !p->message.p)
		take_step(m, d, value);
	else if (wanted && d)
		dialog_message(m, d, message, NULL);
	return d || !wanted ? 0 : -1;
}

static int take_rollout(struct import *m, struct str value, struct error *err)
{
	const struct map_paths *p = paths_of(m);

	if (p->messages.p)
		return take_messages(m, value, err);
	return p->steps.p ? take_steps(m, value, err) : take_one(m, value, err);
}

static int map_take(struct import *m, struct str value, struct error *err)
{
	struct str list = find(m, value, paths_of(m)->rollouts), one;

	if (json_type(list) != JSON_ARRAY)
		return take_rollout(m, value, err);
	for (size_t cursor = 0; json_next(list, &cursor, &one);)
		if (take_rollout(m, one, err))
			return -1;
	return 0;
}

static int map_list_end(struct import *m, struct error *err)
{
	return paths_of(m)->one_rollout ? dialogs_finish(m, err) : 0;
}

/* ---- the format ---- */

static uint64_t facts_of(const struct map_paths *p)
{
	return (p->messages.p || p->message.p ? FACT(MESSAGES) | FACT(OBSERVATION) : 0) |
	       (p->tools.p ? FACT(TOOLS) : 0) | (p->observation.p ? FACT(OBSERVATION) : 0) |
	       (p->error.p ? FACT(OUTCOME) | FACT(ERROR) : 0) | (p->state.p ? FACT(STATE) : 0) |
	       (p->reward.p ? FACT(REWARD) | FACT(TOTAL_REWARD) : 0) |
	       (p->total_reward.p ? FACT(TOTAL_REWARD) : 0) | (p->end.p ? FACT(TERMINATED) : 0) |
	       (p->truncated.p ? FACT(TRUNCATED) : 0) | (p->seed.p ? FACT(SEED) : 0);
}

static bool map_is(const struct mapping *map, struct str value)
{
	AUTO_BUF work = BUF(BUF_MAX_MESSAGE);
	bool found = false;

	for (size_t i = 0; i < MAP_CONDITIONS && !found; i++)
		found = map->conditions[i][0] && holds_all(map->conditions[i], value, &work);
	return found;
}

static bool never(struct str value)
{
	return false;
}

void map_free(struct format *format)
{
	struct read_map *map = (struct read_map *)(void *)format;

	if (map) {
		buf_release(&map->text);
		arena_release(&map->arena);
		free(map);
	}
}

int map_read(const char *path, struct format **out, struct error *err)
{
	struct read_map *map = mem_new(sizeof(*map));
	struct map_paths *paths = &map->map.paths;
	struct keyed k = {.what = "map ", .name = path, .arena = &map->arena, .err = err};

	map->text = BUF(BUF_MAX_SMALL);
	int failed = file_read("map", path, &map->text, err);
	k.text = buf_view(&map->text);
	failed = failed || keyed_parse(&k) || keyed_read(&k, k.text, &table, paths);
	if (!failed && !paths->messages.p && !paths->message.p && !paths->tool.p) {
		failed = error_set(err, FAIL_INPUT,
		                   "map %s: \"tool\", \"messages\" or \"message\" is required",
		                   path);
	}
	if (failed) {
		map_free(&map->format);
		return -1;
	}
	map->format = (struct format){.name = "map",
	                              .what = "",
	                              .map = &map->map,
	                              .facts = facts_of(paths),
	                              .is = never,
	                              .take = map_take,
	                              .finish = dialogs_finish};
	*out = &map->format;
	return 0;
}

/* ---- the formats of maps.def ---- */

#undef PATHS
#define P(pointer) STR_INIT(pointer)
#define PATHS(...) {__VA_ARGS__}
#define MAP(id, called, about, holds, format_writer, places, ...)                                  \
	static const struct mapping map_##id = {.paths = places, .conditions = {__VA_ARGS__}};     \
	static bool is_##id(struct str value)                                                      \
	{                                                                                          \
		return map_is(&map_##id, value);                                                   \
	}                                                                                          \
	const struct format format_##id = {.name = called,                                         \
	                                   .what = about,                                          \
	                                   .facts = holds,                                         \
	                                   .map = &map_##id,                                       \
	                                   .is = is_##id,                                          \
	                                   .take = map_take,                                       \
	                                   .writer = format_writer,                                \
	                                   .take_list_end = map_list_end,                          \
	                                   .finish = dialogs_finish};
#include "convert/maps.def"
