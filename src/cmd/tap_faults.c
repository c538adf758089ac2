/* Faults of the tap and their conditions: see tap_faults.h. */
#include "cmd/tap_faults.h"

#include "base/mem.h"
#include "debug/expression.h"
#include "json/write.h"

#include <stdio.h>
#include <stdlib.h>

static bool holds(void *condition, const struct tap_request *q)
{
	struct line l = {.type = LINE_STEP};
	struct moment m = {.line = &l};
	AUTO_BUF call = BUF(BUF_MAX_MESSAGE);
	char number[24];

	json_pack(&call, "{name:%s,arguments:%r}", q->tool, q->arguments);
	snprintf(number, sizeof(number), "%lld", (long long)q->step);
	l.value[KEY_TURN] = l.value[KEY_STEP] = str_from(number);
	l.value[KEY_TOOL_CALL] = buf_view(&call);
	l.value[KEY_STATE] = q->state;
	return expression_holds(condition, &(struct known){.moment = &m});
}

static void release(void *condition)
{
	expression_free(condition);
}

static enum tap_fault_id find(struct str name)
{
	for (int i = 0; i < TAP_FAULTS; i++)
		if (str_is(name, tap_faults[i].name))
			return (enum tap_fault_id)i;
	return TAP_FAULT_NONE;
}

static int no_such_fault(struct str name, struct error *err)
{
	AUTO_BUF list = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < TAP_FAULTS; i++)
		buf_printf(&list, "%s%s", i ? ", " : "", tap_faults[i].name);
	error_set(err, FAIL_USAGE, "--fault %.*s: unknown; there are: %s", STR_ARG(name),
	          buf_cstr(&list));
	return -1;
}

static int add(struct tap_fault_conf *f, struct str text, struct error *err)
{
	const char *mark = memchr(text.p, '@', text.n);
	struct str name = {text.p, mark ? (size_t)(mark - text.p) : text.n};
	struct tap_fault_rule *rule = &f->rules[f->count];
	struct expression *e = NULL;
	size_t at;

	rule->fault = find(name);
	if (rule->fault == TAP_FAULT_NONE)
		return no_such_fault(name, err);
	if (mark && expression_parse(str_skip(text, name.n + 1), &e, &at, err))
		return error_wrap(err, "--fault %.*s", STR_ARG(name));
	rule->condition = e;
	f->count++;
	if (e && (tap_faults[rule->fault].when == FAULT_AT_SESSION || !expression_is_before(e))) {
		return error_set(err, FAIL_USAGE,
		                 "--fault %.*s: the condition has to be decided before the call is "
		                 "sent: by turn, step, tool, arguments or before",
		                 STR_ARG(text));
	}
	return 0;
}

int faults_new(const struct opt_list *texts, uint64_t delay_ms, uint64_t max_sessions,
               struct tap_engine **out, struct error *err)
{
	struct tap_fault_conf f = {.holds = holds,
	                           .release = release,
	                           .delay_ns = delay_ms * UINT64_C(1000000),
	                           .max_sessions = max_sessions};
	int failed = 0;

	*out = NULL;
	if (!texts->count)
		return 0;
	f.rules = mem_array(texts->count, sizeof(*f.rules));
	for (size_t i = 0; i < texts->count && !failed; i++)
		failed = add(&f, str_from(texts->item[i]), err);
	*out = tap_engine_new(&f);
	return failed;
}
