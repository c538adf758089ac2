/* Verdicts as JSON lines: finding, rollout, summary. */
#include "json/write.h"
#include "report/report.h"

static void put_finding(const struct rollout_verdict *v, const struct finding *f, struct buf *out)
{
	json_line(out, "finding",
	          "file:%t,rollout:%s,task:%s,rule:%t,severity:%t,first_turn:%c,last_turn:%c,"
	          "first_step:%c,last_step:%c,pointer:%t,message:%t,cause:%t,failure:%t",
	          v->file, v->rollout, v->task, f->rule, severity_name(f->severity), f->first_turn,
	          f->last_turn, f->first_step, f->last_step, f->pointer[0] ? f->pointer : NULL,
	          f->message, f->cause, failure_cause_name(v->failure));
}

void report_json_verdict(const struct rollout_verdict *v, struct buf *out)
{
	const struct counters *c = &v->counters;

	for (size_t i = 0; i < v->finding_count; i++)
		put_finding(v, &v->findings[i], out);
	if (!v->rollout.p) /* findings about the whole file */
		return;
	json_line(
		out, "rollout",
		"file:%t,rollout:%s,status:%t,turns:%c,steps:%c,effective:%c,unknown:%c,failed:%c,"
		"longest_failed_run:%c,reward:%r,failure:%t,reward_valid:%r",
		v->file, v->rollout, v->status == END_UNKNOWN ? NULL : end_status_name(v->status),
		c->turns, c->steps, c->effective, c->unknown, c->failed, c->longest_failed_run,
		str_from(c->reward), failure_cause_name(v->failure),
		json_flag(strcmp(c->reward, "null") ? !v->no_reward : -1));
}

static void put_failures(struct json_writer *w, const struct judge_summary *s)
{
	jw_put_object(w, "failures");
	for (size_t i = FAILURE_NONE + 1; i < FAILURE_CAUSES; i++)
		jw_put_i64(w, failure_cause_name((enum failure_cause)i), s->failures.of[i]);
	jw_end(w);
	jw_pack(w, "environment_failures:%c,rewards_invalid:%c",
	        failures_of_environment(&s->failures), s->failures.no_rewards);
}

void report_json_summary(const struct judge *j, struct buf *out)
{
	struct judge_summary s;
	struct json_writer w;

	judge_summary(j, &s);
	jw_line(&w, out, "summary");
	jw_pack(&w, "rollouts:%c,turns:%c,steps:%c,effective:%c,unknown:%c,failed:%c,reward:%r",
	        s.rollouts, s.turns, s.steps, s.effective, s.unknown, s.failed, str_from(s.reward));
	jw_pack(&w, "findings:{error:%c,warning:%c,info:%c}", s.errors, s.warnings, s.infos);
	put_failures(&w, &s);
	jw_put_array(&w, "not_checked");
	for (struct str rest = str_from(judge_not_checked(j)); rest.n;)
		jw_str(&w, str_cut(&rest, ','));
	jw_end(&w);
	jw_pack(&w, "confirmed:%r",
	        json_flag(s.confirmation == CONFIRMED ? 1
	                  : s.confirmation == REFUTED ? 0
	                                              : -1));
	jw_line_end(&w);
}
