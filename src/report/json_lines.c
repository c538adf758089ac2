/* Verdicts as JSON lines: finding, rollout, summary. */
#include "json/write.h"
#include "report/report.h"

static void put_finding(const struct rollout_verdict *v, const struct finding *f, struct buf *out)
{
	struct json_writer w = jw_begin(out);

	jw_put_text(&w, "type", "finding");
	jw_put_text(&w, "file", v->file);
	jw_put_str(&w, "rollout", v->rollout);
	jw_put_str(&w, "task", v->task);
	jw_put_text(&w, "rule", f->rule);
	jw_put_text(&w, "severity", severity_name(f->severity));
	jw_put_count(&w, "first_turn", f->first_turn);
	jw_put_count(&w, "last_turn", f->last_turn);
	jw_put_count(&w, "first_step", f->first_step);
	jw_put_count(&w, "last_step", f->last_step);
	jw_put_text(&w, "pointer", f->pointer[0] ? f->pointer : NULL);
	jw_put_text(&w, "message", f->message);
	jw_put_text(&w, "cause", f->cause);
	jw_put_text(&w, "failure", failure_cause_name(v->failure));
	jw_end(&w);
	buf_char(out, '\n');
}

void report_json_verdict(const struct rollout_verdict *v, struct buf *out)
{
	for (size_t i = 0; i < v->finding_count; i++)
		put_finding(v, &v->findings[i], out);
	if (!v->rollout.p) /* findings about the whole file */
		return;
	struct json_writer w = jw_begin(out);
	jw_put_text(&w, "type", "rollout");
	jw_put_text(&w, "file", v->file);
	jw_put_str(&w, "rollout", v->rollout);
	jw_put_text(&w, "status", v->status == END_UNKNOWN ? NULL : end_status_name(v->status));
	jw_put_count(&w, "turns", v->counters.turns);
	jw_put_count(&w, "steps", v->counters.steps);
	jw_put_count(&w, "effective", v->counters.effective);
	jw_put_count(&w, "unknown", v->counters.unknown);
	jw_put_count(&w, "failed", v->counters.failed);
	jw_put_count(&w, "longest_failed_run", v->counters.longest_failed_run);
	jw_put_raw(&w, "reward", str_from(v->counters.reward));
	jw_put_text(&w, "failure", failure_cause_name(v->failure));
	jw_key(&w, "reward_valid");
	if (strcmp(v->counters.reward, "null") != 0)
		jw_bool(&w, !v->no_reward);
	else
		jw_null(&w);
	jw_end(&w);
	buf_char(out, '\n');
}

static void put_not_checked(struct json_writer *w, const char *rules)
{
	jw_put_array(w, "not_checked");
	for (struct str rest = str_from(rules); rest.n;)
		jw_str(w, str_cut(&rest, ','));
	jw_end(w);
}

static void put_failures(struct json_writer *w, const struct judge_summary *s)
{
	jw_put_object(w, "failures");
	for (size_t i = FAILURE_NONE + 1; i < FAILURE_CAUSES; i++)
		jw_put_count(w, failure_cause_name((enum failure_cause)i), s->failures.of[i]);
	jw_end(w);
	jw_put_count(w, "environment_failures", failures_of_environment(&s->failures));
	jw_put_count(w, "rewards_invalid", s->failures.no_rewards);
}

void report_json_summary(const struct judge *j, struct buf *out)
{
	struct judge_summary s;

	judge_summary(j, &s);
	struct json_writer w = jw_begin(out);
	jw_put_text(&w, "type", "summary");
	jw_put_count(&w, "rollouts", s.rollouts);
	jw_put_count(&w, "turns", s.turns);
	jw_put_count(&w, "steps", s.steps);
	jw_put_count(&w, "effective", s.effective);
	jw_put_count(&w, "unknown", s.unknown);
	jw_put_count(&w, "failed", s.failed);
	jw_put_raw(&w, "reward", str_from(s.reward));
	jw_put_object(&w, "findings");
	jw_put_count(&w, "error", s.errors);
	jw_put_count(&w, "warning", s.warnings);
	jw_put_count(&w, "info", s.infos);
	jw_end(&w);
	put_failures(&w, &s);
	put_not_checked(&w, judge_not_checked(j));
	jw_key(&w, "confirmed");
	if (s.confirmation == CONFIRMED || s.confirmation == REFUTED)
		jw_bool(&w, s.confirmation == CONFIRMED);
	else
		jw_null(&w);
	jw_end(&w);
	buf_char(out, '\n');
}
