/* See html_judge.h. */
#include "cmd/html_judge.h"

#include "cmd/verdicts.h"

struct judging {
	struct html_file html;
	const char *rollout; /* the one that is wanted; NULL: all */
	bool found;
	int64_t unfinished;
};

static void take_line(void *ctx, const struct facts_update *u)
{
	struct judging *j = ctx;

	j->found = j->found || !j->rollout || str_is(u->rollout->id, j->rollout);
	html_file_line(&j->html, u);
}

static void take_verdict(void *ctx, const struct rollout_verdict *v)
{
	struct judging *j = ctx;

	j->unfinished += v->rollout.p && !verdict_reached_an_end(v->status);
	html_file_verdict(&j->html, v);
}

static int read_files(struct judging *j, struct judge *judge, const struct file_list *files,
                      struct error *err)
{
	for (size_t i = 0; i < files->count; i++) {
		j->html.recording = files->paths[i];
		if (judge_recording(judge, files->paths[i], NULL, NULL, err)) {
			return -1;
		}
	}
	judge_finish(judge);
	return j->found ? 0
	                : error_set(err, FAIL_USAGE, "the recording has no rollout '%s'",
	                            j->rollout ? j->rollout : "");
}

int html_judge(const struct html_job *job, const struct file_list *files, struct error *err)
{
	struct judging j = {.rollout = job->rollout,
	                    .html = {.conf = {.command = job->command, .rollout = job->rollout}}};
	const struct judge_conf conf = {
		.lenient = true, .line = take_line, .verdict = take_verdict, .ctx = &j};
	struct judge *judge = NULL;
	int failed = judge_new(&conf, &judge, err) ||
	             html_file_open(&j.html, job->path, files->paths, files->count, err) ||
	             read_files(&j, judge, files, err) ||
	             html_file_publish(&j.html, judge, j.unfinished, err);

	html_file_release(&j.html);
	judge_free(judge);
	return failed ? -1 : 0;
}
