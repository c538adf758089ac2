/* Writes and reads a judge's part: see part.h. */
#include "check/part.h"

#include "base/text.h"
#include "check/judge_internal.h"
#include "evidence/sharing.h"

#include <stdio.h>

/* ---- arrays of numbers ---- */

static void put_numbers(struct json_writer *w, const char *key, const int64_t *numbers,
                        size_t count)
{
	if (key)
		jw_key(w, key);
	jw_array(w);
	for (size_t i = 0; i < count; i++)
		jw_i64(w, numbers[i]);
	jw_end(w);
}

static bool get_numbers(struct str array, int64_t *numbers, size_t count)
{
	struct str value;
	size_t n = 0;

	for (size_t cursor = 0; json_next(array, &cursor, &value); n++)
		if (n == count || !json_i64(value, &numbers[n]))
			return false;
	return n == count;
}

static void put_string(struct json_writer *w, const char *key, struct str value)
{
	jw_put_str(w, key, value);
}

/* ---- verdicts ---- */

enum { VERDICT_NUMBERS = 13, FINDING_NUMBERS = 8 };

static void put_finding(struct json_writer *w, const struct finding *f)
{
	const int64_t n[FINDING_NUMBERS] = {f->severity,   f->urgency,      f->depth,
	                                    f->first_turn, f->last_turn,    f->first_step,
	                                    f->last_step,  (int64_t)f->line};

	jw_object(w);
	put_string(w, "rule", str_from(f->rule));
	put_string(w, "cause", f->cause ? str_from(f->cause) : STR_NONE);
	put_numbers(w, "numbers", n, ARRAY_LEN(n));
	put_string(w, "pointer", str_from(f->pointer));
	put_string(w, "message", str_from(f->message));
	jw_end(w);
}

void part_put_verdict(struct json_writer *w, const struct rollout_verdict *v)
{
	const struct counters *c = &v->counters;
	const int64_t n[VERDICT_NUMBERS] = {(int64_t)v->line, v->status,  c->turns,
	                                    c->steps,         c->failed,  c->longest_failed_run,
	                                    c->effective,     c->unknown, v->sample,
	                                    v->group_size,    v->lost,    v->failure,
	                                    v->no_reward};

	jw_object(w);
	put_string(w, "rollout", v->rollout);
	put_string(w, "task", v->task);
	put_string(w, "reason", v->reason);
	put_string(w, "reward", str_from(c->reward));
	put_numbers(w, "numbers", n, ARRAY_LEN(n));
	jw_put_array(w, "findings");
	for (size_t i = 0; i < v->finding_count; i++)
		put_finding(w, &v->findings[i]);
	jw_end(w);
	jw_end(w);
}

static bool get_finding(struct str object, bool places, struct arena *arena, struct finding *out)
{
	struct str rule = json_text(arena, JSON_GET(object, "rule"));
	struct str cause = json_text(arena, JSON_GET(object, "cause"));
	const struct check *c = rule.p ? check_find(rule) : NULL;
	const struct check *by = cause.p ? check_find(cause) : NULL;
	int64_t n[FINDING_NUMBERS];

	if (!c || (cause.p && !by) || !get_numbers(JSON_GET(object, "numbers"), n, ARRAY_LEN(n)) ||
	    n[0] < 0 || n[0] > SEVERITY_ERROR || n[1] < 0 || n[1] > SEVERITY_ERROR || n[2] < 0 ||
	    n[2] > CHECKS_MAX) {
		return false;
	}
	*out = (struct finding){.rule = c->id,
	                        .cause = by ? by->id : NULL,
	                        .severity = (enum severity)n[0],
	                        .urgency = (enum severity)n[1],
	                        .depth = (int)n[2],
	                        .first_turn = n[3],
	                        .last_turn = n[4],
	                        .first_step = n[5],
	                        .last_step = n[6],
	                        .line = places ? (uint64_t)n[7] : 0};
	text_copy(out->pointer, sizeof(out->pointer),
	          json_text(arena, JSON_GET(object, "pointer")));
	text_copy(out->message, sizeof(out->message),
	          json_text(arena, JSON_GET(object, "message")));
	return true;
}

bool part_get_verdict(struct str object, bool places, struct arena *arena,
                      struct rollout_verdict *out)
{
	struct str list = JSON_GET(object, "findings"), one;
	int64_t n[VERDICT_NUMBERS];

	if (!get_numbers(JSON_GET(object, "numbers"), n, ARRAY_LEN(n)) || n[1] < 0 ||
	    n[1] >= END_STATUSES || n[11] < 0 || n[11] >= FAILURE_CAUSES ||
	    json_type(list) != JSON_ARRAY) {
		return false;
	}
	struct finding *findings = arena_new(arena, (json_count(list) + 1) * sizeof(*findings));
	*out = (struct rollout_verdict){
		.rollout = json_text(arena, JSON_GET(object, "rollout")),
		.task = json_text(arena, JSON_GET(object, "task")),
		.reason = json_text(arena, JSON_GET(object, "reason")),
		.line = places ? (uint64_t)n[0] : 0,
		.status = (enum end_status)n[1],
		.counters = {n[2], n[3], n[4], n[5], n[6], n[7], ""},
		.sample = n[8],
		.group_size = n[9],
		.lost = n[10] != 0,
		.failure = (enum failure_cause)n[11],
		.no_reward = n[12] != 0,
		.findings = findings,
	};
	text_copy(out->counters.reward, sizeof(out->counters.reward),
	          json_text(arena, JSON_GET(object, "reward")));
	for (size_t cursor = 0; json_next(list, &cursor, &one); out->finding_count++)
		if (!get_finding(one, places, arena, &findings[out->finding_count]))
			return false;
	return true;
}

/* ---- what later files need ---- */

enum {
	SUM_NUMBERS = 18,
	MEMBER_NUMBERS = 9,
	TRACE_NUMBERS = 2 + TRACE_CALLS + 2 * (TRACE_CALLS + 1)
};
_Static_assert(UNKNOWN_REASONS == 5, "put_sums lists them");

static void put_sums(struct json_writer *w, const struct judge_summary *s)
{
	const struct movement *m = &s->movement;
	const int64_t n[SUM_NUMBERS] = {
		s->rollouts,    s->turns,       s->steps,      s->failed,      s->effective,
		s->unknown,     s->errors,      s->warnings,   s->infos,       m->acting,
		m->moved,       m->still,       m->unknown,    m->rollouts[0], m->rollouts[1],
		m->rollouts[2], m->rollouts[3], m->rollouts[4]};
	const struct span *f = &m->first_still;
	const int64_t still[] = {f->first_turn, f->last_turn, f->first_step, f->last_step,
	                         f->count};

	put_numbers(w, "sums", n, ARRAY_LEN(n));
	put_numbers(w, "failures", s->failures.of, FAILURE_CAUSES);
	put_numbers(w, "no_rewards", &s->failures.no_rewards, 1);
	put_numbers(w, "still", still, ARRAY_LEN(still));
	put_string(w, "read_only_tools", str_from(m->read_only_tools));
}

static bool get_sums(struct str object, struct arena *arena, struct judge_summary *s)
{
	struct movement *m = &s->movement;
	int64_t n[SUM_NUMBERS], still[5];
	struct failure_count failures;

	if (!get_numbers(JSON_GET(object, "sums"), n, ARRAY_LEN(n)) ||
	    !get_numbers(JSON_GET(object, "failures"), failures.of, FAILURE_CAUSES) ||
	    !get_numbers(JSON_GET(object, "no_rewards"), &failures.no_rewards, 1) ||
	    !get_numbers(JSON_GET(object, "still"), still, ARRAY_LEN(still))) {
		return false;
	}
	*s = (struct judge_summary){.rollouts = n[0],
	                            .turns = n[1],
	                            .steps = n[2],
	                            .failed = n[3],
	                            .effective = n[4],
	                            .unknown = n[5],
	                            .errors = n[6],
	                            .warnings = n[7],
	                            .infos = n[8],
	                            .failures = failures};
	*m = (struct movement){.acting = n[9], .moved = n[10], .still = n[11], .unknown = n[12]};
	memcpy(m->rollouts, &n[13], sizeof(m->rollouts));
	m->first_still = (struct span){still[0], still[1], still[2], still[3], still[4]};
	text_copy(m->read_only_tools, sizeof(m->read_only_tools),
	          json_text(arena, JSON_GET(object, "read_only_tools")));
	return true;
}

static void put_member(void *ctx, const struct group_member *m)
{
	struct json_writer *w = ctx;
	const int64_t n[MEMBER_NUMBERS] = {m->size,    m->sample,    m->lost,
	                                   m->is_void, m->rewarded,  m->trace != NULL,
	                                   m->seed,    m->has_tools, m->open};

	jw_object(w);
	put_string(w, "task", m->task);
	put_numbers(w, "numbers", n, ARRAY_LEN(n));
	jw_put_double(w, "reward", m->reward);
	if (m->trace) {
		int64_t t[TRACE_NUMBERS] = {(int64_t)m->trace->start, (int64_t)m->trace->calls};

		memcpy(&t[2], m->trace->call, sizeof(m->trace->call));
		memcpy(&t[2 + TRACE_CALLS], m->trace->point, sizeof(m->trace->point));
		put_numbers(w, "trace", t, ARRAY_LEN(t));
	}
	jw_end(w);
}

static bool get_member(struct str object, struct arena *arena, struct groups *groups)
{
	struct group_member m = {.task = json_text(arena, JSON_GET(object, "task"))};
	struct trace trace = {.start = 0};
	int64_t n[MEMBER_NUMBERS], t[TRACE_NUMBERS];

	if (!m.task.p || !get_numbers(JSON_GET(object, "numbers"), n, ARRAY_LEN(n)) ||
	    (n[4] && !json_double(JSON_GET(object, "reward"), &m.reward)) ||
	    (n[5] && !get_numbers(JSON_GET(object, "trace"), t, ARRAY_LEN(t)))) {
		return false;
	}
	m.size = n[0];
	m.sample = n[1];
	m.lost = n[2];
	m.is_void = n[3];
	m.rewarded = n[4];
	m.seed = n[6];
	m.has_tools = n[7];
	m.open = n[8];
	if (n[5]) {
		trace.start = (uint64_t)t[0];
		trace.calls = (uint64_t)t[1] < TRACE_CALLS ? (size_t)t[1] : TRACE_CALLS;
		memcpy(trace.call, &t[2], sizeof(trace.call));
		memcpy(trace.point, &t[2 + TRACE_CALLS], sizeof(trace.point));
		m.trace = &trace;
	}
	groups_add(groups, &m);
	return true;
}

static void put_claim(void *ctx, const int64_t number[4])
{
	put_numbers(ctx, NULL, number, 4);
}

bool part_put(struct json_writer *w, struct judge *part)
{
	jw_object(w);
	put_sums(w, &part->sum);
	jw_put_double(w, "reward", part->file_reward);
	jw_put_bool(w, "rewarded", part->reward_known);
	put_string(w, "not_checked", str_from(part->not_checked));
	jw_put_array(w, "claims");
	sharing_each(evidence_sharing(part->facts), put_claim, w);
	jw_end(w);
	jw_put_array(w, "members");
	bool whole = groups_each(&part->groups, put_member, w);
	jw_end(w);
	jw_end(w);
	return whole;
}

static bool get_not_checked(struct judge *part, const char *list)
{
	for (size_t i = 0; i < part->rule_count; i++) {
		const char *id = part->rules[i].check->id;
		size_t n = strlen(id);

		for (const char *at = list; (at = strstr(at, id)) != NULL; at += n) {
			bool begins = at == list || at[-1] == ',';

			part->rules[i].not_checked |= begins && (at[n] == ',' || !at[n]);
		}
	}
	return true;
}

bool part_get(struct str object, struct arena *arena, struct judge *part)
{
	struct str list = json_text(arena, JSON_GET(object, "not_checked")), one;
	int64_t claim[4];

	if (!list.p || !get_sums(object, arena, &part->sum) ||
	    !json_double(JSON_GET(object, "reward"), &part->file_reward) ||
	    !json_bool(JSON_GET(object, "rewarded"), &part->reward_known)) {
		return false;
	}
	for (size_t cursor = 0; json_next(JSON_GET(object, "claims"), &cursor, &one);) {
		if (!get_numbers(one, claim, ARRAY_LEN(claim)))
			return false;
		sharing_claimed(evidence_sharing(part->facts), claim);
	}
	for (size_t cursor = 0; json_next(JSON_GET(object, "members"), &cursor, &one);)
		if (!get_member(one, arena, &part->groups))
			return false;
	return get_not_checked(part, list.p);
}
