/* The file of --html, and recordings judged for it: see html_file.h. */
#include "cmd/html_file.h"

#include "base/mem.h"
#include "cmd/options/setting_options.h"
#include "cmd/store/store.h"

#include <stdlib.h>

#define FLUSH_AT ((size_t)256 << 10)

/* As report/html/page.html begins. */
#define PAGE_BEGINS                                                                                \
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"                  \
	"<meta name=\"generator\" content=\"rolldbg\">"

static const struct file_kind page_kind = {"a page of rolldbg",
                                           (const char *const[]){PAGE_BEGINS, NULL}};

int html_file_open(struct html_file *h, const char *path, struct error *err)
{
	h->side = -1;
	h->text = BUF(SIZE_MAX / 2);
	h->conf.put_text = settings_put;
	if (new_file_open(&h->file, &(struct new_file_conf){path, .kind = &page_kind}, err))
		return -1;
	h->page = page_new(&h->conf, &h->text);
	return 0;
}

int html_file_check(const char *path, struct error *err)
{
	return path && strcmp(path, "-") == 0
	               ? error_set(err, FAIL_USAGE,
	                           "--html -: standard output is already used for the result; "
	                           "name a file")
	               : 0;
}

static void flush(struct html_file *h, size_t at)
{
	if (h->text.n >= at) {
		new_file_write(&h->file, buf_view(&h->text));
		buf_clear(&h->text);
	}
}

void html_file_line(struct html_file *h, const struct evidence_update *u)
{
	page_line(h->page, u, &(struct page_source){h->recording, h->side}, &h->text);
	flush(h, FLUSH_AT);
}

void html_file_verdict(struct html_file *h, const struct rollout_verdict *v)
{
	page_verdict(h->page, v, &h->text);
	flush(h, FLUSH_AT);
}

void html_file_note(struct html_file *h, const char *text)
{
	page_note(h->page, text, &h->text);
}

void html_file_summary(struct html_file *h, const struct judge *j, int64_t unfinished)
{
	page_summary(h->page, j, unfinished, &h->text);
}

int html_file_publish(struct html_file *h, struct error *err)
{
	page_end(h->page, &h->text);
	flush(h, 0);
	return new_file_publish(&h->file, err);
}

void html_file_release(struct html_file *h)
{
	page_free(h->page);
	if (h->file.path)
		new_file_release(&h->file);
	buf_release(&h->text);
	h->page = NULL;
}

/* ---- a page of its own ---- */

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

	h->unfinished += v->rollout.p && !end_status_is_reached(v->status);
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
	page_results(h->html.page, lines, &h->html.text);
	flush(&h->html, FLUSH_AT);
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
		bool passed = h->again ? files->many && err->kind == FAIL_INPUT
		                       : store_pass_over(files, err, &h->unusable);

		if (!passed) /* an unusable one of several is skipped */
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

int html_judge_finish(struct html_judge *h, size_t *unusable, struct error *err)
{
	if (judge_sides(h, err))
		return -1;
	if (unusable)
		*unusable = h->unusable;
	if (!h->found && h->job.rollout) {
		return error_set(err, FAIL_USAGE, "the recording has no rollout '%s'",
		                 h->job.rollout);
	}
	return html_file_publish(&h->html, err);
}

void html_judge_free(struct html_judge *h)
{
	if (h) {
		html_file_release(&h->html);
		free(h);
	}
}
