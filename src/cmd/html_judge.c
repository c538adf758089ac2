/* Judging recordings for a page: see html_judge.h. */
#include "cmd/html_judge.h"
#include "cmd/options/settings.h"

#include "base/mem.h"
#include "cmd/store/store.h"
#include "cmd/verdicts.h"

#include <stdlib.h>

struct html_judge {
	struct html_job job;
	struct html_file html;
	bool again;
	bool found; /* the requested rollout was seen */
	size_t unusable;
	int64_t unfinished;
};

static void take_line(void *ctx, const struct evidence_update *u)
{
	struct html_judge *h = ctx;

	h->found = h->found || !h->job.rollout || str_is(u->rollout->id, h->job.rollout);
	html_file_line(&h->html, u);
}

static void take_verdict(void *ctx, const struct rollout_verdict *v)
{
	struct html_judge *h = ctx;

	h->unfinished += v->rollout.p && !verdict_reached_an_end(v->status);
	html_file_verdict(&h->html, v);
}

static int check_standard_input(const struct html_job *job, struct error *err)
{
	for (int side = 0; side < 2 && job->sides[side]; side++) {
		for (size_t i = 0; i < job->sides[side]->count; i++) {
			if (strcmp(job->sides[side]->paths[i], "-") == 0) {
				return error_set(
					err, FAIL_USAGE,
					"--html reads the recordings a second time, which is not "
					"possible with standard input: name a file");
			}
		}
	}
	return 0;
}

int html_judge_new(const struct html_job *job, bool again, struct html_judge **out,
                   struct error *err)
{
	struct html_judge *h = mem_new(sizeof(*h));

	h->job = *job;
	h->again = again;
	h->html.conf = (struct page_conf){.command = job->command, .rollout = job->rollout};
	if ((again && (html_file_check(job->path, err) || check_standard_input(job, err))) ||
	    html_file_open(&h->html, job->path, err)) {
		html_judge_free(h);
		return -1;
	}
	*out = h;
	return 0;
}

void html_judge_results(struct html_judge *h, struct str lines)
{
	html_file_results(&h->html, lines);
}

/* Returns true if the recording is one of several: an unusable one is skipped. */
static bool pass_over(struct html_judge *h, const struct file_list *files, const struct error *err)
{
	if (h->again)
		return files->many && err->kind == FAIL_INPUT;
	return store_pass_over(files, err, &h->unusable);
}

static int read_side(struct html_judge *h, struct judge *judge, const struct file_list *files,
                     struct error *err)
{
	if (files->many)
		judge_many(judge);
	for (size_t i = 0; i < files->count; i++) {
		h->html.recording = files->paths[i];
		if (!judge_recording(judge, files->paths[i], NULL, NULL, err))
			continue;
		if (!pass_over(h, files, err))
			return -1;
		html_file_note(&h->html, err->text);
	}
	judge_finish(judge);
	return 0;
}

/* Each side has a judge of its own: the second recording does not continue the first. */
static int judge_sides(struct html_judge *h, struct error *err)
{
	const struct judge_conf conf = {.lenient = true,
	                                .settings = settings_as_options,
	                                .line = take_line,
	                                .verdict = take_verdict,
	                                .ctx = h};
	bool compared = h->job.sides[1] != NULL;
	int failed = 0;

	for (int side = 0; side < 2 && h->job.sides[side] && !failed; side++) {
		struct judge *judge = NULL;

		h->html.side = compared ? side : -1;
		failed = judge_new(&conf, &judge, err) ||
		         read_side(h, judge, h->job.sides[side], err);
		if (!failed && !compared)
			html_file_summary(&h->html, judge, h->unfinished);
		judge_free(judge);
	}
	return failed ? -1 : 0;
}

int html_judge_finish(struct html_judge *h, struct error *err)
{
	if (judge_sides(h, err))
		return -1;
	if (!h->found && h->job.rollout) {
		return error_set(err, FAIL_USAGE, "the recording has no rollout '%s'",
		                 h->job.rollout);
	}
	return html_file_publish(&h->html, err);
}

size_t html_judge_unusable(const struct html_judge *h)
{
	return h->unusable;
}

void html_judge_free(struct html_judge *h)
{
	if (h) {
		html_file_release(&h->html);
		free(h);
	}
}
