/* Reading task files: see tasks.h. */
#include "rollout/tasks.h"

#include "base/file.h"
#include "base/text.h"
#include "env/state_source.h"

#include <inttypes.h>
#include <stdlib.h>

/* One line on its way into a task. */
struct line_of {
	struct arena *arena;
	const char *key;
	struct task *task;
	struct buf text; /* scratch */
};

/* ---- values ---- */

static const char *article(const char *type)
{
	return strchr("aeiou", type[0]) ? "an" : "a";
}

static int wrong_type(const struct line_of *l, struct str value, const char *wanted,
                      struct error *err)
{
	const char *type = json_type_name(json_type(value));

	return error_set(err, FAIL_INPUT, "\"%s\" is %s %s, not %s", l->key,
	                 article(type), type, wanted);
}

/* Decoded, in l->text. */
static int take_text(struct line_of *l, struct str value, const char *wanted,
                     struct error *err)
{
	if (json_type(value) != JSON_STRING) {
		return wrong_type(l, value, wanted, err);
	}
	buf_clear(&l->text);
	bool text = json_decode(value, &l->text);
	if (text && !l->text.n) {
		return error_set(err, FAIL_INPUT, "\"%s\" is empty", l->key);
	}
	return text && !memchr(l->text.p, 0, l->text.n)
	               ? 0
	               : error_set(err, FAIL_INPUT,
	                           "\"%s\" holds a lone surrogate or a NUL", l->key);
}

static const char *keep_text(struct line_of *l)
{
	return arena_str(l->arena, buf_view(&l->text)).p;
}

static int take_string(struct line_of *l, struct str value, const char **out,
                       struct error *err)
{
	if (take_text(l, value, "a string", err)) {
		return -1;
	}
	*out = keep_text(l);
	return 0;
}

/* As rollout ids are made, so that two tasks that differ have rollouts that do. */
static int take_id(struct line_of *l, struct str value, struct error *err)
{
	char name[ROLLOUT_TASK_MAX + 1];
	int64_t number;

	buf_clear(&l->text);
	if (json_i64(value, &number)) {
		buf_printf(&l->text, "%" PRId64, number);
	} else if (take_text(l, value, "a string or a whole number", err)) {
		return -1;
	}
	if (l->text.n > ROLLOUT_TASK_MAX) {
		return error_set(err, FAIL_INPUT, "\"id\" has %zu bytes, and may have %d",
		                 l->text.n, ROLLOUT_TASK_MAX);
	}
	rollout_task_name(buf_view(&l->text), name);
	l->task->id = arena_str(l->arena, str_from(name)).p;
	return 0;
}

static int take_seed(struct line_of *l, struct str value, struct error *err)
{
	l->task->seed.given = json_i64(value, &l->task->seed.value);
	return l->task->seed.given ? 0
	                           : error_set(err, FAIL_INPUT,
	                                       "\"seed\" is no whole number of 64 bits");
}

static int take_turns(struct line_of *l, struct str value, struct error *err)
{
	int64_t n;

	if (!json_i64(value, &n) || n < 0) {
		return error_set(err, FAIL_INPUT,
		                 "\"max_turns\" is no whole number of at least 0");
	}
	l->task->max_turns = (struct opt_u64){true, (uint64_t)n};
	return 0;
}

static int take_vars(struct line_of *l, struct str value, struct error *err)
{
	if (json_type(value) != JSON_OBJECT) {
		return wrong_type(l, value, "an object", err);
	}
	l->task->vars = arena_str(l->arena, value);
	return 0;
}

/* An array becomes "A,B,C"; no action may bring commas of its own. */
static int join_actions(struct line_of *l, struct str array, struct error *err)
{
	struct buf joined = BUF(TASK_LINE_MAX);
	struct str each;
	size_t cursor = 0;
	int failed = 0;

	while (!failed && json_next(array, &cursor, &each)) {
		failed = take_text(l, each, "an array of strings", err);
		if (!failed && memchr(l->text.p, ',', l->text.n)) {
			failed = error_set(err, FAIL_INPUT,
			                   "an action holds a comma, which ends it: put "
			                   "such calls into a policy file (\"policy\")");
		}
		buf_text(&joined, joined.n ? "," : "");
		buf_str(&joined, buf_view(&l->text));
	}
	buf_clear(&l->text);
	buf_str(&l->text, buf_view(&joined));
	buf_release(&joined);
	return failed;
}

static bool has_empty_action(struct str actions)
{
	bool empty = true;

	for (size_t i = 0; i < actions.n; i++) {
		if (actions.p[i] == ',' && empty) {
			return true;
		}
		empty = actions.p[i] == ',';
	}
	return empty;
}

static int take_actions(struct line_of *l, struct str value, struct error *err)
{
	if (json_type(value) == JSON_ARRAY && json_count(value)) {
		if (join_actions(l, value, err)) {
			return -1;
		}
	} else if (take_text(l, value, "a string or an array of strings", err)) {
		return -1;
	}
	l->task->actions = keep_text(l);
	return has_empty_action(buf_view(&l->text))
	               ? error_set(err, FAIL_INPUT, "an action of \"actions\" is empty")
	               : 0;
}

static int take_tool(struct line_of *l, struct str value, struct error *err)
{
	return take_string(l, value, &l->task->tool, err);
}

static int take_policy(struct line_of *l, struct str value, struct error *err)
{
	return take_string(l, value, &l->task->policy, err);
}

static int take_state(struct line_of *l, struct str value, struct error *err)
{
	struct state_source source;

	if (take_string(l, value, &l->task->state, err)) {
		return -1;
	}
	int failed = state_source_parse(str_from(l->task->state), &source, err);
	if (failed) {
		err->kind = FAIL_INPUT;
	}
	state_source_release(&source);
	return failed;
}

static const struct task_key {
	const char *name;
	int (*take)(struct line_of *l, struct str value, struct error *err);
} keys[] = {
	{"id", take_id},           {"seed", take_seed},   {"vars", take_vars},
	{"actions", take_actions}, {"tool", take_tool},   {"policy", take_policy},
	{"max_turns", take_turns}, {"state", take_state},
};

/* ---- lines ---- */

static int unknown_key(struct str key, struct error *err)
{
	const char *names[ARRAY_LEN(keys)];
	struct buf hint = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		names[i] = keys[i].name;
	}
	text_suggest(&hint, key, names, ARRAY_LEN(names));
	error_set(err, FAIL_INPUT,
	          "unknown key \"%.*s\"%s; values for the prompt belong under \"vars\"",
	          (int)(key.n < 60 ? key.n : 60), key.n ? key.p : "", buf_cstr(&hint));
	buf_release(&hint);
	return -1;
}

static int take_member(struct line_of *l, const struct json_member *m, uint32_t *seen,
                       struct error *err)
{
	size_t i = 0;

	while (i < ARRAY_LEN(keys) && !str_is(m->key, keys[i].name)) {
		i++;
	}
	if (i == ARRAY_LEN(keys)) {
		return unknown_key(m->key, err);
	}
	if (*seen & (uint32_t)1 << i) {
		return error_set(err, FAIL_INPUT, "\"%s\" is given twice", keys[i].name);
	}
	*seen |= (uint32_t)1 << i;
	l->key = keys[i].name;
	return json_is_null(m->value) ? 0 : keys[i].take(l, m->value, err);
}

static int take_line(struct line_of *l, struct str text, struct error *err)
{
	struct json_fault fault;
	struct json_member m;
	size_t cursor = 0;
	uint32_t seen = 0;

	if (text.n > TASK_LINE_MAX) {
		return error_set(err, FAIL_INPUT, "the line is over 1 MiB");
	}
	if (json_validate(text, &fault)) {
		return error_set(err, FAIL_INPUT, "column %zu: %s", fault.at + 1,
		                 fault.why);
	}
	if (json_type(text) != JSON_OBJECT) {
		return error_set(err, FAIL_INPUT,
		                 "a task is one object a line, this is %s",
		                 json_type_name(json_type(text)));
	}
	while (json_next_member(text, &cursor, &m)) {
		if (take_member(l, &m, &seen, err)) {
			return -1;
		}
	}
	return l->task->id ? 0 : error_set(err, FAIL_INPUT, "\"id\" is missing");
}

static struct str trimmed(struct str s)
{
	while (s.n && strchr(" \t\r", s.p[s.n - 1])) {
		s.n--;
	}
	while (s.n && strchr(" \t\r", s.p[0])) {
		s = str_skip(s, 1);
	}
	return s;
}

static struct task *new_task(struct tasks *t, size_t line)
{
	if (!(t->count & (t->count - 1))) {
		t->items = mem_resize(t->items, t->count ? 2 * t->count : 1,
		                      sizeof(*t->items));
	}
	t->items[t->count] = (struct task){.line = line};
	return &t->items[t->count++];
}

static int take_lines(struct tasks *t, struct str text, const char *name,
                      struct error *err)
{
	struct line_of l = {.arena = &t->arena, .text = BUF(TASK_LINE_MAX)};
	int failed = 0;

	for (size_t number = 1; text.n && !failed; number++) {
		const char *end = memchr(text.p, '\n', text.n);
		struct str line = {text.p, end ? (size_t)(end - text.p) : text.n};

		text = str_skip(text, line.n + (end != NULL));
		line = trimmed(line);
		if (!line.n) {
			continue;
		}
		if (t->count == TASKS_MAX) {
			failed = error_set(err, FAIL_INPUT, "more than %d tasks",
			                   TASKS_MAX);
		} else {
			l.task = new_task(t, number);
			failed = take_line(&l, line, err);
		}
		if (failed) {
			error_wrap(err, "%s:%zu", name, number);
		}
	}
	buf_release(&l.text);
	return failed;
}

static int by_id(const void *left, const void *right)
{
	const struct task *const *a = left, *const *b = right;
	int order = strcmp((*a)->id, (*b)->id);

	return order ? order : ((*a)->line > (*b)->line) - ((*a)->line < (*b)->line);
}

static int check_ids(const struct tasks *t, const char *name, struct error *err)
{
	const struct task **sorted = mem_array(t->count, sizeof(const struct task *));
	const struct task *twice = NULL, *first = NULL;

	for (size_t i = 0; i < t->count; i++) {
		sorted[i] = &t->items[i];
	}
	qsort(sorted, t->count, sizeof(const struct task *), by_id);
	for (size_t i = 1; i < t->count; i++) {
		bool same = !strcmp(sorted[i - 1]->id, sorted[i]->id);

		if (same && (!twice || sorted[i]->line < twice->line)) {
			twice = sorted[i];
			first = sorted[i - 1];
		}
	}
	free(sorted);
	return !twice ? 0
	              : error_set(err, FAIL_INPUT,
	                          "%s:%zu: task \"%s\" is in line %zu too: ids are "
	                          "unique (--group-size N repeats a task)",
	                          name, twice->line, twice->id, first->line);
}

int tasks_parse(struct str text, const char *name, struct tasks *out, struct error *err)
{
	*out = (struct tasks){.count = 0};
	if (str_starts(text, STR("\xef\xbb\xbf"))) {
		text = str_skip(text, 3);
	}
	if (take_lines(out, text, name, err)) {
		return -1;
	}
	if (!out->count) {
		return error_set(err, FAIL_INPUT,
		                 "%s: no tasks; a line is {\"id\":\"NAME\"} at least",
		                 name);
	}
	return check_ids(out, name, err);
}

/* Tasks that follow each other often share a policy. */
static int check_policies(const struct tasks *t, const char *name, struct error *err)
{
	const char *last = "random";

	for (size_t i = 0; i < t->count; i++) {
		const char *policy = t->items[i].policy;

		if (policy && strcmp(policy, last) != 0 && policy_check(policy, err)) {
			return error_wrap(err, "%s:%zu", name, t->items[i].line);
		}
		last = policy ? policy : last;
	}
	return 0;
}

int tasks_read(const char *path, struct tasks *out, struct error *err)
{
	const char *name = strcmp(path, "-") != 0 ? path : "standard input";
	struct buf text = BUF(TASK_FILE_MAX);

	*out = (struct tasks){.count = 0};
	int failed = file_read("task file", path, &text, err) ||
	             tasks_parse(buf_view(&text), name, out, err) ||
	             check_policies(out, name, err);
	buf_release(&text);
	return failed ? -1 : 0;
}

void tasks_release(struct tasks *t)
{
	free(t->items);
	arena_release(&t->arena);
	*t = (struct tasks){.count = 0};
}
