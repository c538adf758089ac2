/* Judging many files: see check_files.h. Each thread judges its file in isolation. Earlier files
   can change its verdicts (a reused session id, a group that continues); this is detected when its
   turn comes, and the file is judged again in sequence. So is a file that cannot be read to its
   end, and one whose output exceeds a thread's buffer. */
#include "cmd/check_files.h"

#include "base/in_order.h"
#include "base/mem.h"
#include "cmd/store.h"

#include <stdlib.h>
#include <sys/stat.h>

#define OUTPUT_MAX ((size_t)1 << 20) /* buffered output per file, until its turn */

struct judged_file {
	struct judge *judge;
	struct verdicts verdicts;
};

static void drop(void *ctx, void *result)
{
	struct judged_file *f = result;

	(void)ctx;
	if (f) {
		judge_free(f->judge);
		reports_free(f->verdicts.reports);
		output_release(&f->verdicts.out);
		free(f);
	}
}

/* ---- in a thread ---- */

static int stop_at_much(void *ctx, struct error *err)
{
	const struct verdicts *v = ctx;

	return v->out.text.n > OUTPUT_MAX ? error_set(err, FAIL_NONE, "too much output") : 0;
}

/* Standard input and pipes can be read once only. */
static bool is_regular(const char *path)
{
	struct stat st;

	return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Returns NULL if the file has to be judged again in sequence. */
static void *judge_alone(void *ctx, size_t index)
{
	const struct file_checking *c = ctx;
	const char *path = c->files->paths[index];
	struct judged_file *f = mem_new(sizeof(*f));
	struct judge_conf conf = *c->conf;
	struct error ignored;

	f->verdicts = (struct verdicts){.context = c->verdicts->context,
	                                .out = output_to_stdout(),
	                                .origin = c->verdicts->origin,
	                                .ends_count = c->verdicts->ends_count,
	                                .fail_on = c->verdicts->fail_on};
	f->verdicts.reports = reports_part(c->verdicts->reports, &f->verdicts.out.text);
	conf.ctx = &f->verdicts;
	if (!f->verdicts.reports || !is_regular(path) ||
	    judge_part_new(&conf, (int64_t)index, &f->judge, &ignored) ||
	    judge_recording(f->judge, path, stop_at_much, &f->verdicts, &ignored)) {
		drop(NULL, f);
		return NULL;
	}
	judge_part_finish(f->judge);
	return f;
}

/* ---- in the order of the files ---- */

/* Results are printed while reading, because a recording may be long. */
static int flush_some(void *ctx, struct error *err)
{
	struct verdicts *v = ctx;

	return output_flush_some(&v->out, err);
}

static int judge_in_turn(struct file_checking *c, size_t index, struct error *err)
{
	const char *path = c->files->paths[index];

	if (c->verdicts->html) {
		c->verdicts->html->recording = path;
	}
	if (!judge_recording(c->judge, path, flush_some, c->verdicts, err)) {
		return 0;
	}
	if (store_pass_over(c->files, err, &c->unusable)) {
		reports_problem(c->verdicts->reports, path, err);
		if (c->verdicts->html) {
			html_file_note(c->verdicts->html, err->text);
		}
		return 0;
	}
	struct error ignored; /* verdicts so far are still printed */

	reports_give_up(c->verdicts->reports, path, c->judge, err);
	(void)!output_flush(&c->verdicts->out, &ignored);
	return -1;
}

/* Appends a file's results after those of the previous file. */
static int adopt(struct file_checking *c, size_t index, struct judged_file *f, struct error *err)
{
	struct verdicts *v = c->verdicts;

	judge_file(c->judge, c->files->paths[index]);
	buf_str(&v->out.text, buf_view(&f->verdicts.out.text));
	verdicts_absorb(v, &f->verdicts);
	reports_absorb(v->reports, f->verdicts.reports);
	judge_absorb(c->judge, f->judge);
	return output_flush_some(&v->out, err);
}

static int take(void *ctx, size_t index, void *result, struct error *err)
{
	struct file_checking *c = ctx;
	struct judged_file *f = result;
	int failed = f && judge_can_absorb(c->judge, f->judge) ? adopt(c, index, f, err)
	                                                       : judge_in_turn(c, index, err);

	drop(NULL, f);
	return failed;
}

int check_each_file(struct file_checking *c, size_t jobs, struct error *err)
{
	const struct in_order order = {.count = c->files->count,
	                               .jobs = jobs,
	                               .work = judge_alone,
	                               .take = take,
	                               .drop = drop,
	                               .ctx = c};

	if (jobs > 1 && c->files->count > 1) {
		return in_order_run(&order, err);
	}
	for (size_t i = 0; i < c->files->count; i++) {
		if (judge_in_turn(c, i, err)) {
			return -1;
		}
	}
	return 0;
}
