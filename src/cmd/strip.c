/* rolldbg strip: prints a recording without values that change from run to run. */
#include "base/in_order.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/options/compare_options.h"
#include "cmd/options/output.h"
#include "cmd/store/store.h"
#include "recording/by_rollout.h"
#include "report/blocks.h"

#include <stdlib.h>
#include <sys/stat.h>

/* minimum size of the rollouts that a thread strips together */
#define GROUP_BYTES ((uint64_t)512 << 10)
#define ALONE_BYTES ((uint64_t)8 << 20) /* a larger group is stripped in sequence, line by line */

struct strip_options {
	struct opt_list masks;
	struct opt_u64 jobs;
	bool text;
};

#define FIELD(f) offsetof(struct strip_options, f)

static const struct opt options[] = {
	OPT_LIST(0, "mask", OPT_POWER, "POINTER", FIELD(masks),
                 "replace the values that this JSON Pointer matches in a line with \"<masked>\"; "
                 "* matches any one token, ** any depth"),
	OPT_FLAG(
		0, "text", OPT_HARMLESS, FIELD(text),
		"print text instead, a block for each step, for git's textconv: values on lines of "
		"their own, states as what changed"),
	OPT_BOUNDED('j', "jobs", OPT_HARMLESS, 1, THREADS_MAX, "N", FIELD(jobs),
                    "strip in N threads (default 1); the output is the same"),
};

struct stripping {
	const struct strip_options *opts;
	struct by_rollout *lines;
	struct strip *strip;
	struct output out;
	bool terminal;
	struct blocks blocks; /* for --text */
	struct rollout_group *groups;
	size_t count;
};

/* Consecutive rollouts. */
struct rollout_group {
	size_t first, end; /* indexes */
	uint64_t bytes;
};

static int put_block(struct stripping *s, const struct line *l, struct error *err)
{
	struct buf text = BUF(BUF_MAX_MESSAGE), scratch = BUF(BUF_MAX_SMALL);
	struct line stripped;
	size_t used;
	int failed = strip_line(s->strip, l, &text, err);

	if (!failed && text.n)
		failed = line_parse(buf_view(&text), &scratch, &stripped, &used, err);
	if (!failed && text.n)
		blocks_line(&s->blocks, &stripped, &s->out.text);
	buf_release(&text);
	buf_release(&scratch);
	return failed;
}

/* On a terminal, characters that could move the cursor are written as JSON escapes, which does
   not change the JSON. */
static int put_stripped(void *ctx, const struct line *l, const struct reader_note *note,
                        struct error *err)
{
	struct stripping *s = ctx;
	struct buf line = BUF(BUF_MAX_MESSAGE);

	(void)note;
	if (s->opts && s->opts->text)
		return put_block(s, l, err);
	if (!s->terminal)
		return strip_line(s->strip, l, &s->out.text, err);
	int failed = strip_line(s->strip, l, &line, err);
	text_escape_json(&s->out.text, buf_view(&line));
	buf_release(&line);
	return failed;
}

static int put_and_flush(void *ctx, const struct line *l, const struct reader_note *note,
                         struct error *err)
{
	struct stripping *s = ctx;

	return put_stripped(s, l, note, err) ? -1 : output_flush_blocks(&s->out, err);
}

static int strip_rollouts(struct stripping *s, struct by_rollout *lines, reader_line_fn *put,
                          struct error *err)
{
	while (by_rollout_id(lines).p)
		if (by_rollout_next(lines, put, s, err))
			return -1;
	return 0;
}

/* ---- in several threads ---- */

static void make_groups(struct stripping *s)
{
	struct by_rollout *all = by_rollout_view(s->lines, 0, by_rollout_count(s->lines));
	struct rollout_group *g = NULL;

	while (by_rollout_id(all).p) {
		if (!g || g->bytes >= GROUP_BYTES) {
			s->groups = mem_resize(s->groups, s->count + 1, sizeof(*s->groups));
			g = &s->groups[s->count++];
			*g = (struct rollout_group){.first = by_rollout_place(all)};
		}
		g->bytes += by_rollout_pass(all);
		g->end = by_rollout_place(all);
	}
	by_rollout_close(all);
}

static void drop(void *ctx, void *result)
{
	struct stripping *own = result;

	(void)ctx;
	if (own) {
		output_release(&own->out);
		free(own);
	}
}

/* Returns NULL if it has to be stripped in sequence. */
static void *strip_alone(void *ctx, size_t index)
{
	const struct stripping *s = ctx;
	const struct rollout_group *g = &s->groups[index];
	struct stripping *own = mem_new(sizeof(*own));
	struct error ignored; /* stripping in sequence reports it */

	*own = (struct stripping){.out = output_to_stdout(), .terminal = s->terminal};
	struct by_rollout *lines = by_rollout_view(s->lines, g->first, g->end);
	int failed = g->bytes > ALONE_BYTES ||
	             masks_strip(&s->opts->masks, &own->strip, &ignored) ||
	             strip_rollouts(own, lines, put_stripped, &ignored);
	by_rollout_close(lines);
	strip_free(own->strip);
	if (failed) {
		drop(NULL, own);
		return NULL;
	}
	return own;
}

static int take(void *ctx, size_t index, void *result, struct error *err)
{
	struct stripping *s = ctx, *own = result;
	const struct rollout_group *g = &s->groups[index];
	int failed;

	if (own) {
		failed = output_flush(&s->out, err) || output_flush(&own->out, err);
	} else {
		struct by_rollout *lines = by_rollout_view(s->lines, g->first, g->end);

		failed = strip_rollouts(s, lines, put_and_flush, err);
		by_rollout_close(lines);
	}
	drop(s, own);
	return failed;
}

static int strip_in_threads(struct stripping *s, size_t jobs, struct error *err)
{
	make_groups(s);
	const struct in_order order = {.count = s->count,
	                               .jobs = jobs,
	                               .work = strip_alone,
	                               .take = take,
	                               .drop = drop,
	                               .ctx = s};
	int failed = in_order_run(&order, err);

	free(s->groups);
	return failed;
}

/* What has no line must not become an empty golden. /dev/null is an empty recording, as for diff. */
static int check_any(const struct by_rollout *lines, const struct file_list *files,
                     struct error *err)
{
	const char *path = files->count ? files->paths[0] : "-";
	struct stat st;

	if (by_rollout_id(lines).p || (stat(path, &st) == 0 && S_ISCHR(st.st_mode)))
		return 0;
	return error_set(err, FAIL_INPUT, "%s: contains no recording",
	                 strcmp(path, "-") == 0 ? "standard input" : path);
}

static int strip_all(const struct context *c, struct stripping *s, int argc, char **argv,
                     struct error *err)
{
	struct file_list files = {0};
	size_t jobs = opt_number(s->opts->jobs, 1);
	int failed =
		store_operands(c, argc, argv, &files, err) ||
		by_rollout_open(NULL, files.paths, files.count, torn_warn, NULL, &s->lines, err) ||
		check_any(s->lines, &files, err) ||
		(jobs > 1 && !s->opts->text ? strip_in_threads(s, jobs, err)
	                                    : strip_rollouts(s, s->lines, put_and_flush, err));

	by_rollout_close(s->lines);
	file_list_free(&files);
	if (failed) {
		struct error ignored; /* what comes before the failure is still printed */

		(void)!output_flush(&s->out, &ignored);
		return -1;
	}
	return output_flush(&s->out, err);
}

static int strip_run(const struct context *c, const void *opts, int argc, char **argv,
                     struct error *err)
{
	struct stripping s = {
		.opts = opts, .out = output_to_stdout(), .terminal = c->style.terminal};
	int failed =
		masks_strip(&s.opts->masks, &s.strip, err) || strip_all(c, &s, argc, argv, err);

	strip_free(s.strip);
	blocks_release(&s.blocks);
	output_release(&s.out);
	return failed ? -1 : 0;
}

const struct command command_strip = {
	.name = "strip",
	.summary = "print recordings without times and ids, in canonical form, for diff and git",
	.operands = "[FILE|DIR...]",
	.description = "Removes times, session ids and masked values and writes everything else "
		       "in canonical form, rollouts in the order of their ids, so that two runs "
		       "that did the same give the same bytes whatever --jobs was. The result is "
		       "a valid recording. Files are read twice; piped input is copied to a "
		       "temporary file first. Without FILE it strips the latest recording.",
	.max_operands = -1,
	.recordings = true,
	COMMAND_OPTIONS(options, struct strip_options),
	.run = strip_run,
};
