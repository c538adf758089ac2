/* Verdicts as JSON lines: finding, rollout, summary. */
#include "json/write.h"
#include "report/report.h"

static void put_number(struct json_writer *w, const char *key, int64_t v)
{
	jw_key(w, key);
	if (v < 0) {
		jw_null(w);
	} else {
		jw_i64(w, v);
	}
}

static void put_finding(const struct rollout_verdict *v, const struct finding *f, struct buf *out)
{
	struct json_writer w = jw_begin(out);

	jw_text(jw_key(&w, "type"), "finding");
	jw_text(jw_key(&w, "file"), v->file);
	jw_str(jw_key(&w, "rollout"), v->rollout);
	jw_str(jw_key(&w, "task"), v->task);
	jw_text(jw_key(&w, "rule"), f->rule);
	jw_text(jw_key(&w, "severity"), severity_name(f->severity));
	put_number(&w, "first_turn", f->first_turn);
	put_number(&w, "last_turn", f->last_turn);
	put_number(&w, "first_step", f->first_step);
	put_number(&w, "last_step", f->last_step);
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
	put_number(&w, "turns", v->counters.turns);
	put_number(&w, "steps", v->counters.steps);
	put_number(&w, "effective", v->counters.effective);
	put_number(&w, "unknown", v->counters.unknown);
	put_number(&w, "failed", v->counters.failed);
	put_number(&w, "longest_failed_run", v->counters.longest_failed_run);
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
	while (rules && *rules) {
		size_t n = strcspn(rules, ",");

		jw_str(w, (struct str){rules, n});
		rules += n + (rules[n] == ',');
	}
	jw_end(w);
}

static void put_failures(struct json_writer *w, const struct judge_summary *s)
{
	jw_object(jw_key(w, "failures"));
	for (size_t i = FAILURE_NONE + 1; i < FAILURE_CAUSES; i++) {
		put_number(w, failure_cause_name((enum failure_cause)i), s->failures.of[i]);
	}
	jw_end(w);
	put_number(w, "environment_failures", failures_of_environment(&s->failures));
	put_number(w, "rewards_invalid", s->failures.no_rewards);
}

void report_json_summary(const struct judge *j, struct buf *out)
{
	struct judge_summary s;

	judge_summary(j, &s);
	struct json_writer w = jw_begin(out);
	jw_text(jw_key(&w, "type"), "summary");
	put_number(&w, "rollouts", s.rollouts);
	put_number(&w, "turns", s.turns);
	put_number(&w, "steps", s.steps);
	put_number(&w, "effective", s.effective);
	put_number(&w, "unknown", s.unknown);
	put_number(&w, "failed", s.failed);
	jw_raw(jw_key(&w, "reward"), str_from(s.reward));
	jw_object(jw_key(&w, "findings"));
	put_number(&w, "error", s.errors);
	put_number(&w, "warning", s.warnings);
	put_number(&w, "info", s.infos);
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
