/* Any bytes as a task file: accepted tasks have unique ids that are valid rollout ids, and
   values of the documented types. */
#include "rollout/tasks.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_good(const struct task *t, size_t line_before)
{
	struct json_fault fault;
	size_t n = t->id ? strlen(t->id) : 0;

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)t->id[i] <= ' ')
			return false;
	return n > 0 && n <= ROLLOUT_TASK_MAX && t->line > line_before &&
	       (!t->vars.p ||
	        (json_validate(t->vars, &fault) == 0 && json_type(t->vars) == JSON_OBJECT)) &&
	       (!t->actions || *t->actions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tasks t;
	struct error err = {0};
	int failed = tasks_parse((struct str){(const char *)data, size}, "fuzz", &t, &err);

	if (failed ? err.kind != FAIL_INPUT : t.count == 0)
		abort();
	for (size_t i = 0; !failed && i < t.count; i++)
		if (!is_good(&t.items[i], i ? t.items[i - 1].line : 0))
			abort();
	tasks_release(&t);
	return 0;
}
