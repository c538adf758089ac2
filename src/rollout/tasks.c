/* Task files: see tasks.h. */
#include "rollout/tasks.h"

#include "base/file.h"
#include "base/settings.h"
#include "base/text.h"
#include "env/state_source.h"
#include "json/canon.h"
#include "json/keyed.h"
#include "policy/script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- values ---- */

/* Compares ids in the form used in rollout ids, so that two tasks never share one. */
static int read_id(struct keyed *k, struct str value, void *to)
{
	struct task *task = to;
	char digits[24], name[ROLLOUT_TASK_MAX + 1];
	const char *text = digits;
	int64_t number;

	if (json_i64(value, &number))
		snprintf(digits, sizeof(digits), "%" PRId64, number);
	else if (json_type(value) != JSON_STRING)
		return keyed_expected(k, "a string or an integer");
	else if (keyed_name(k, &text))
		return -1;
	if (strlen(text) > ROLLOUT_TASK_MAX) {
		return keyed_fail(k, "\"id\" has %zu bytes, the maximum is %d", strlen(text),
		                  ROLLOUT_TASK_MAX);
	}
	rollout_task_name(str_from(text), name);
	task->id = arena_str(k->arena, str_from(name)).p;
	return 0;
}

static int read_seed(struct keyed *k, struct str value, void *to)
{
	struct task *task = to;

	task->has_seed = json_i64(value, &task->seed);
	return task->has_seed ? 0 : keyed_expected(k, "a 64-bit integer");
}

static int read_turns(struct keyed *k, struct str value, void *to)
{
	struct task *task = to;

	task->has_max_turns = json_i64(value, &task->max_turns) && task->max_turns >= 0;
	return task->has_max_turns ? 0 : keyed_expected(k, "a non-negative integer");
}

/* A string that is not one action of "A,B,C" is written as a JSON string. */
static int add_action(struct keyed *k, struct buf *joined)
{
	enum json_type type = json_type(k->value);
	const char *text;

	if (type == JSON_ARRAY || type == JSON_OBJECT) {
		json_minify(k->value, joined);
		return 0;
	}
	if (type != JSON_STRING)
		return keyed_expected(k, "an array of strings, arrays and objects");
	if (keyed_name(k, &text))
		return -1;
	buf_str(joined,
	        script_is_plain(str_from(text)) && *text != '"' ? str_from(text) : k->value);
	return 0;
}

/* Converts an array to "A,B,C". */
static int join_actions(struct keyed *k, struct str array, const char **to)
{
	AUTO_BUF joined = BUF(TASK_LINE_MAX);
	size_t cursor = 0;
	int failed = 0;

	while (!failed && json_next(array, &cursor, &k->value)) {
		buf_text(&joined, joined.n ? "," : "");
		failed = add_action(k, &joined);
	}
	*to = arena_str(k->arena, (struct str){buf_cstr(&joined), joined.n}).p;
	return failed;
}

static bool has_empty_action(const char *actions)
{
	AUTO_ARENA arena = {0};
	struct error ignored;
	struct str *parts;
	size_t count;
	int failed = script_split(actions, &arena, &parts, &count, &ignored);

	return failed;
}

static int read_actions(struct keyed *k, struct str value, void *to)
{
	struct task *task = to;
	bool list = json_type(value) == JSON_ARRAY && json_count(value);

	if (!list && json_type(value) != JSON_STRING)
		return keyed_expected(k, "a string or an array of strings");
	if (list ? join_actions(k, value, &task->actions) : keyed_name(k, &task->actions))
		return -1;
	return has_empty_action(task->actions) ? keyed_fail(k, "an action of \"actions\" is empty")
	                                       : 0;
}

static int read_state(struct keyed *k, struct str value, void *to)
{
	struct task *task = to;
	struct state_source source;
	struct error err;

	(void)value;
	if (keyed_name(k, &task->state))
		return -1;
	int failed = state_source_parse(str_from(task->state), &source, &err);
	if (failed) {
		settings_as_keys(err.text);
		keyed_fail(k, "%s", err.text);
	}
	state_source_release(&source);
	return failed;
}

#define IN_TASK(member) .at = offsetof(struct task, member)
static const struct keyed_row task_rows[] = {
	{"id", KEYED_BY, .required = true, .read = read_id},
	{"seed", KEYED_BY, .read = read_seed},
	{"vars", KEYED_OBJECT, IN_TASK(vars)},
	{"reset", KEYED_OBJECT, IN_TASK(reset)},
	{"actions", KEYED_BY, .read = read_actions},
	{"tool", KEYED_NAME, IN_TASK(tool)},
	{"policy", KEYED_NAME, IN_TASK(policy)},
	{"max_turns", KEYED_BY, .read = read_turns},
	{"state", KEYED_BY, .read = read_state},
};
const struct keyed_table task_keys = KEYED_TABLE(task_rows);

/* ---- lines ---- */

static int read_line(struct keyed *k, struct task *task)
{
	k->value = k->text;
	if (k->text.n > TASK_LINE_MAX)
		return keyed_fail(k, "the line is over 1 MiB");
	return keyed_parse(k) || keyed_read(k, k->text, &task_keys, task) ? -1 : 0;
}

static struct task *new_task(struct tasks *t, size_t line)
{
	t->items = mem_grow(t->items, t->count, sizeof(*t->items));
	t->items[t->count] = (struct task){.line = line};
	return &t->items[t->count++];
}

static int read_lines(struct tasks *t, struct str text, const char *name, struct error *err)
{
	int failed = 0;

	for (size_t number = 1; text.n && !failed; number++) {
		struct keyed k = {.what = "",
		                  .name = name,
		                  .text = text_trim(str_cut(&text, '\n')),
		                  .line = number,
		                  .arena = &t->arena,
		                  .err = err};

		if (k.text.n && t->count == TASKS_MAX)
			failed = keyed_fail(&k, "more than %d tasks", TASKS_MAX);
		else if (k.text.n)
			failed = read_line(&k, new_task(t, number));
	}
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

	for (size_t i = 0; i < t->count; i++)
		sorted[i] = &t->items[i];
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
	                          "%s:%zu: duplicate task \"%s\", first in line %zu "
	                          "(\1group_size\2 N repeats a task)",
	                          name, twice->line, twice->id, first->line);
}

int tasks_parse(struct str text, const char *name, struct tasks *out, struct error *err)
{
	*out = (struct tasks){.count = 0};
	if (str_starts(text, STR("\xef\xbb\xbf")))
		text = str_skip(text, 3);
	if (read_lines(out, text, name, err))
		return -1;
	if (!out->count) {
		return error_set(err, FAIL_INPUT,
		                 "%s: no tasks; a task is a line such as {\"id\":\"NAME\"}", name);
	}
	return check_ids(out, name, err);
}

int tasks_read(const char *path, struct tasks *out, struct error *err)
{
	const char *name = strcmp(path, "-") != 0 ? path : "standard input";
	AUTO_BUF text = BUF(TASK_FILE_MAX);

	*out = (struct tasks){.count = 0};
	int failed = file_read("task file", path, &text, err) ||
	             tasks_parse(buf_view(&text), name, out, err);
	return failed ? -1 : 0;
}

void tasks_release(struct tasks *t)
{
	free(t->items);
	arena_release(&t->arena);
	*t = (struct tasks){.count = 0};
}
