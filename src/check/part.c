/* Writes and reads a judge's part: see part.h. */
#include "check/part.h"

#include "base/text.h"
#include "check/judge_internal.h"
#include "evidence/sharing.h"

/* ---- the whole numbers of a struct, as an array ---- */

/* A member that is a number of 64 bits, or consists of such numbers. */
struct numbers {
	size_t at, bytes;
};

#define NUMBERS(type, member)           {offsetof(type, member), sizeof(((type *)0)->member)}
#define PUT_NUMBERS(w, key, from, rows) put_numbers((w), (key), (from), (rows), ARRAY_LEN(rows))
#define GET_NUMBERS(object, key, to, rows)                                                         \
	get_numbers(JSON_GET(object, key), INT64_MAX, (to), (rows), ARRAY_LEN(rows))
#define GET_COUNTS(object, key, to, rows)                                                          \
	get_numbers(JSON_GET(object, key), COUNT_MOST, (to), (rows), ARRAY_LEN(rows))
#define COUNT_MOST ((int64_t)1 << 44) /* no file holds more, and the sums of all parts still fit */

static const struct numbers finding_rows[] = {
	NUMBERS(struct finding, first_turn), NUMBERS(struct finding, last_turn),
	NUMBERS(struct finding, first_step), NUMBERS(struct finding, last_step),
	NUMBERS(struct finding, line),
};
static const struct numbers verdict_rows[] = {
	NUMBERS(struct rollout_verdict, line),
	NUMBERS(struct rollout_verdict, sample),
	NUMBERS(struct rollout_verdict, group_size),
	NUMBERS(struct rollout_verdict, counters.turns),
	NUMBERS(struct rollout_verdict, counters.steps),
	NUMBERS(struct rollout_verdict, counters.failed),
	NUMBERS(struct rollout_verdict, counters.longest_failed_run),
	NUMBERS(struct rollout_verdict, counters.effective),
	NUMBERS(struct rollout_verdict, counters.unknown),
};
static const struct numbers sum_rows[] = {
	NUMBERS(struct judge_summary, rollouts),
	NUMBERS(struct judge_summary, turns),
	NUMBERS(struct judge_summary, steps),
	NUMBERS(struct judge_summary, failed),
	NUMBERS(struct judge_summary, effective),
	NUMBERS(struct judge_summary, unknown),
	NUMBERS(struct judge_summary, errors),
	NUMBERS(struct judge_summary, warnings),
	NUMBERS(struct judge_summary, infos),
	NUMBERS(struct judge_summary, failures),
	NUMBERS(struct judge_summary, movement.acting),
	NUMBERS(struct judge_summary, movement.moved),
	NUMBERS(struct judge_summary, movement.still),
	NUMBERS(struct judge_summary, movement.unknown),
	NUMBERS(struct judge_summary, movement.first_still),
	NUMBERS(struct judge_summary, movement.rollouts),
};
static const struct numbers member_rows[] = {
	NUMBERS(struct group_member, size),
	NUMBERS(struct group_member, sample),
	NUMBERS(struct group_member, seed),
};
static const struct numbers trace_rows[] = {{0, sizeof(struct trace)}};
static const struct numbers claim_rows[] = {{0, 4 * sizeof(int64_t)}};

static void put_numbers(struct json_writer *w, const char *key, const void *from,
                        const struct numbers *rows, size_t count)
{
	if (key)
		jw_key(w, key);
	jw_array(w);
	for (size_t i = 0; i < count; i++) {
		const int64_t *n = (const void *)((const char *)from + rows[i].at);

		for (size_t k = 0; k < rows[i].bytes / sizeof(*n); k++)
			jw_i64(w, n[k]);
	}
	jw_end(w);
}

/* False also for a number above `most`, or below its negative. */
static bool get_numbers(struct str array, int64_t most, void *to, const struct numbers *rows,
                        size_t count)
{
	struct str value;
	size_t cursor = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t *n = (void *)((char *)to + rows[i].at);

		for (size_t k = 0; k < rows[i].bytes / sizeof(*n); k++)
			if (!json_next(array, &cursor, &value) || !json_i64(value, &n[k]) ||
			    n[k] > most || n[k] < -most - 1)
				return false;
	}
	return !json_next(array, &cursor, &value);
}

/* A number from 0 to `most`. */
static bool get_small(struct str value, int64_t most, int64_t *out)
{
	return json_i64(value, out) && *out >= 0 && *out <= most;
}

static void get_text(struct str object, const char *key, struct arena *arena, char *out,
                     size_t size)
{
	text_copy(out, size, json_text(arena, json_get(object, str_from(key))));
}

/* ---- verdicts ---- */

static void put_finding(struct json_writer *w, const struct finding *f)
{
	jw_pack(w, "{rule:%t,cause:%t,severity:%d,urgency:%d,depth:%d,pointer:%t,message:%t",
	        f->rule, f->cause, (int)f->severity, (int)f->urgency, f->depth, f->pointer,
	        f->message);
	PUT_NUMBERS(w, "numbers", f, finding_rows);
	jw_end(w);
}

void part_put_verdict(struct json_writer *w, const struct rollout_verdict *v)
{
	jw_pack(w, "{rollout:%s,task:%s,reason:%s,reward:%t,status:%d,failure:%d", v->rollout,
	        v->task, v->reason, v->counters.reward, (int)v->status, (int)v->failure);
	jw_pack(w, "lost:%b,no_reward:%b", v->lost, v->no_reward);
	PUT_NUMBERS(w, "numbers", v, verdict_rows);
	jw_put_array(w, "findings");
	for (size_t i = 0; i < v->finding_count; i++)
		put_finding(w, &v->findings[i]);
	jw_pack(w, "]}");
}

static bool get_finding(struct str object, bool places, struct arena *arena, struct finding *out)
{
	struct str rule = json_text(arena, JSON_GET(object, "rule"));
	struct str cause = json_text(arena, JSON_GET(object, "cause"));
	const struct check *c = rule.p ? check_find(rule) : NULL;
	const struct check *by = cause.p ? check_find(cause) : NULL;
	int64_t severity, urgency, depth;

	if (!c || (cause.p && !by) || !GET_NUMBERS(object, "numbers", out, finding_rows) ||
	    !get_small(JSON_GET(object, "severity"), SEVERITY_ERROR, &severity) ||
	    !get_small(JSON_GET(object, "urgency"), SEVERITY_ERROR, &urgency) ||
	    !get_small(JSON_GET(object, "depth"), CHECKS_MAX, &depth)) {
		return false;
	}
	out->rule = c->id;
	out->cause = by ? by->id : NULL;
	out->severity = (enum severity)severity;
	out->urgency = (enum severity)urgency;
	out->depth = (int)depth;
	out->line = places ? out->line : 0;
	get_text(object, "pointer", arena, out->pointer, sizeof(out->pointer));
	get_text(object, "message", arena, out->message, sizeof(out->message));
	return true;
}

bool part_get_verdict(struct str object, bool places, struct arena *arena,
                      struct rollout_verdict *out)
{
	struct str list = JSON_GET(object, "findings"), one;
	int64_t status, failure;

	*out = (struct rollout_verdict){.rollout = json_text(arena, JSON_GET(object, "rollout")),
	                                .task = json_text(arena, JSON_GET(object, "task")),
	                                .reason = json_text(arena, JSON_GET(object, "reason"))};
	if (!GET_NUMBERS(object, "numbers", out, verdict_rows) ||
	    !get_small(JSON_GET(object, "status"), END_STATUSES - 1, &status) ||
	    !get_small(JSON_GET(object, "failure"), FAILURE_CAUSES - 1, &failure) ||
	    !json_bool(JSON_GET(object, "lost"), &out->lost) ||
	    !json_bool(JSON_GET(object, "no_reward"), &out->no_reward) ||
	    json_type(list) != JSON_ARRAY) {
		return false;
	}
	struct finding *findings = arena_new(arena, (json_count(list) + 1) * sizeof(*findings));
	out->line = places ? out->line : 0;
	out->status = (enum end_status)status;
	out->failure = (enum failure_cause)failure;
	out->findings = findings;
	get_text(object, "reward", arena, out->counters.reward, sizeof(out->counters.reward));
	for (size_t cursor = 0; json_next(list, &cursor, &one); out->finding_count++)
		if (!get_finding(one, places, arena, &findings[out->finding_count]))
			return false;
	return true;
}

/* ---- what later files need ---- */

static void put_member(void *ctx, const struct group_member *m)
{
	struct json_writer *w = ctx;

	jw_pack(w, "{task:%s,lost:%b,void:%b,open:%b,tools:%b,unlisted:%b,rewarded:%b", m->task,
	        m->lost, m->is_void, m->open, m->has_tools, m->unlisted, m->rewarded);
	jw_put_double(w, "reward", m->reward);
	PUT_NUMBERS(w, "numbers", m, member_rows);
	if (m->trace)
		PUT_NUMBERS(w, "trace", m->trace, trace_rows);
	jw_end(w);
}

static bool get_member(struct str object, struct arena *arena, struct groups *groups)
{
	struct group_member m = {.task = json_text(arena, JSON_GET(object, "task"))};
	struct trace trace = {.start = 0};

	if (!m.task.p || !GET_NUMBERS(object, "numbers", &m, member_rows) ||
	    !json_bool(JSON_GET(object, "lost"), &m.lost) ||
	    !json_bool(JSON_GET(object, "void"), &m.is_void) ||
	    !json_bool(JSON_GET(object, "open"), &m.open) ||
	    !json_bool(JSON_GET(object, "tools"), &m.has_tools) ||
	    !json_bool(JSON_GET(object, "unlisted"), &m.unlisted) ||
	    !json_bool(JSON_GET(object, "rewarded"), &m.rewarded) ||
	    (m.rewarded && !json_double(JSON_GET(object, "reward"), &m.reward))) {
		return false;
	}
	if (JSON_GET(object, "trace").p) {
		if (!GET_NUMBERS(object, "trace", &trace, trace_rows) ||
		    trace.calls > TRACE_CALLS + 1)
			return false;
		m.trace = &trace;
	}
	groups_add(groups, &m);
	return true;
}

static void put_claim(void *ctx, const int64_t number[4])
{
	PUT_NUMBERS(ctx, NULL, number, claim_rows);
}

void part_put(struct json_writer *w, struct judge *part)
{
	jw_pack(w, "{read_only_tools:%t,rewarded:%b,not_checked:%t",
	        part->sum.movement.read_only_tools, part->reward_known, part->not_checked);
	jw_put_double(w, "reward", part->file_reward);
	PUT_NUMBERS(w, "sums", &part->sum, sum_rows);
	jw_put_array(w, "claims");
	sharing_each(evidence_sharing(part->facts), put_claim, w);
	jw_pack(w, "],members:[");
	groups_each(&part->groups, put_member, w);
	jw_pack(w, "]}");
}

static void get_not_checked(struct judge *part, struct str list)
{
	while (list.n) {
		struct str id = str_cut(&list, ',');

		for (size_t i = 0; i < part->rule_count; i++)
			part->rules[i].not_checked |= str_is(id, part->rules[i].check->id);
	}
}

bool part_get(struct str object, struct arena *arena, struct judge *part)
{
	struct str list = json_text(arena, JSON_GET(object, "not_checked")), one;
	struct str claims = JSON_GET(object, "claims"), members = JSON_GET(object, "members");
	char *tools = part->sum.movement.read_only_tools;
	int64_t claim[4];

	if (!list.p || !GET_COUNTS(object, "sums", &part->sum, sum_rows) ||
	    !json_double(JSON_GET(object, "reward"), &part->file_reward) ||
	    !json_bool(JSON_GET(object, "rewarded"), &part->reward_known)) {
		return false;
	}
	get_text(object, "read_only_tools", arena, tools,
	         sizeof(part->sum.movement.read_only_tools));
	for (size_t cursor = 0; json_next(claims, &cursor, &one);) {
		if (!get_numbers(one, INT64_MAX, claim, claim_rows, ARRAY_LEN(claim_rows)))
			return false;
		sharing_claimed(evidence_sharing(part->facts), claim);
	}
	for (size_t cursor = 0; json_next(members, &cursor, &one);)
		if (!get_member(one, arena, &part->groups))
			return false;
	get_not_checked(part, list);
	return true;
}
