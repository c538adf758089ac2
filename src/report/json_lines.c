/* Verdicts as JSON lines: finding, rollout, summary. */
#include "json/write.h"
#include "report/report.h"

static void put_finding(const struct rollout_verdict *v, const struct finding *f, struct buf *out)
{
	struct json_writer w = jw_begin(out);

	jw_text(jw_key(&w, "type"), "finding");
	jw_text(jw_key(&w, "file"), v->file);
	jw_str(jw_key(&w, "rollout"), v->rollout);
	jw_str(jw_key(&w, "task"), v->task);
	jw_text(jw_key(&w, "rule"), f->rule);
	jw_text(jw_key(&w, "severity"), severity_name(f->severity));
	jw_count(jw_key(&w, "first_turn"), f->first_turn);
	jw_count(jw_key(&w, "last_turn"), f->last_turn);
	jw_count(jw_key(&w, "first_step"), f->first_step);
	jw_count(jw_key(&w, "last_step"), f->last_step);
	jw_text(jw_key(&w, "pointer"), f->pointer[0] ? f->pointer : NULL);
	jw_text(jw_key(&w, "message"), f->message);
	jw_text(jw_key(&w, "cause"), f->cause);
	jw_text(jw_key(&w, "failure"), failure_cause_name(v->failure));
	jw_end(&w);
	buf_char(out, '\n');
}

void report_json_verdict(const struct rollout_verdict *v, struct buf *out)
{
	for (size_t i = 0; i < v->finding_count; i++) {
		put_finding(v, &v->findings[i], out);
	}
	if (!v->rollout.p) { /* findings about the whole file */
		return;
	}
	struct json_writer w = jw_begin(out);
	jw_text(jw_key(&w, "type"), "rollout");
	jw_text(jw_key(&w, "file"), v->file);
	jw_str(jw_key(&w, "rollout"), v->rollout);
	jw_text(jw_key(&w, "status"), v->status == END_UNKNOWN ? NULL : end_status_name(v->status));
	jw_count(jw_key(&w, "turns"), v->counters.turns);
	jw_count(jw_key(&w, "steps"), v->counters.steps);
	jw_count(jw_key(&w, "effective"), v->counters.effective);
	jw_count(jw_key(&w, "unknown"), v->counters.unknown);
	jw_count(jw_key(&w, "failed"), v->counters.failed);
	jw_count(jw_key(&w, "longest_failed_run"), v->counters.longest_failed_run);
	jw_raw(jw_key(&w, "reward"), str_from(v->counters.reward));
	jw_text(jw_key(&w, "failure"), failure_cause_name(v->failure));
	jw_key(&w, "reward_valid");
	if (strcmp(v->counters.reward, "null") != 0) {
		jw_bool(&w, !v->no_reward);
	} else {
		jw_null(&w);
	}
	jw_end(&w);
	buf_char(out, '\n');
}

static void put_not_checked(struct json_writer *w, const char *rules)
{
	jw_array(jw_key(w, "not_checked"));
	for (struct str rest = str_from(rules); rest.n;) {
		jw_str(w, str_cut(&rest, ','));
	}
	jw_end(w);
}

static void put_failures(struct json_writer *w, const struct judge_summary *s)
{
	jw_object(jw_key(w, "failures"));
	for (size_t i = FAILURE_NONE + 1; i < FAILURE_CAUSES; i++) {
		jw_count(jw_key(w, failure_cause_name((enum failure_cause)i)), s->failures.of[i]);
	}
	jw_end(w);
	jw_count(jw_key(w, "environment_failures"), failures_of_environment(&s->failures));
	jw_count(jw_key(w, "rewards_invalid"), s->failures.no_rewards);
}

void report_json_summary(const struct judge *j, struct buf *out)
{
	struct judge_summary s;

	judge_summary(j, &s);
	struct json_writer w = jw_begin(out);
	jw_text(jw_key(&w, "type"), "summary");
	jw_count(jw_key(&w, "rollouts"), s.rollouts);
	jw_count(jw_key(&w, "turns"), s.turns);
	jw_count(jw_key(&w, "steps"), s.steps);
	jw_count(jw_key(&w, "effective"), s.effective);
	jw_count(jw_key(&w, "unknown"), s.unknown);
	jw_count(jw_key(&w, "failed"), s.failed);
	jw_raw(jw_key(&w, "reward"), str_from(s.reward));
	jw_object(jw_key(&w, "findings"));
	jw_count(jw_key(&w, "error"), s.errors);
	jw_count(jw_key(&w, "warning"), s.warnings);
	jw_count(jw_key(&w, "info"), s.infos);
	jw_end(&w);
	put_failures(&w, &s);
	put_not_checked(&w, judge_not_checked(j));
	jw_key(&w, "confirmed");
	if (s.confirmation == CONFIRMED || s.confirmation == REFUTED) {
		jw_bool(&w, s.confirmation == CONFIRMED);
	} else {
		jw_null(&w);
	}
	jw_end(&w);
	buf_char(out, '\n');
}
