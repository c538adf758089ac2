/* rolldbg strip: prints a recording without values that change from run to run. */
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/options/compare_options.h"
#include "cmd/options/output.h"
#include "cmd/store/store.h"
#include "recording/by_rollout.h"
#include "report/blocks.h"

#include <sys/stat.h>

struct strip_options {
	struct opt_list masks;
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
};

struct stripping {
	const struct strip_options *opts;
	struct strip *strip;
	struct output out;
	bool terminal;
	struct blocks blocks; /* for --text */
};

static int put_block(struct stripping *s, const struct line *l, struct error *err)
{
	struct buf text = BUF(BUF_MAX_MESSAGE), scratch = BUF(BUF_MAX_SMALL);
	struct line stripped;
	int failed = strip_line(s->strip, l, &text, err);

	if (!failed && text.n)
		failed = line_parse(buf_view(&text), &scratch, &stripped, NULL, err);
	if (!failed && text.n)
		blocks_line(&s->blocks, &stripped, &s->out.text);
	BUFS_RELEASE(&text, &scratch);
	return failed;
}

/* On a terminal, characters that could move the cursor are written as JSON escapes, which does
   not change the JSON. */
static int put_stripped(void *ctx, const struct line *l, const struct reader_note *note,
                        struct error *err)
{
	struct stripping *s = ctx;
	struct buf line = BUF(BUF_MAX_MESSAGE);

	int failed = s->opts->text
	                     ? put_block(s, l, err)
	                     : strip_line(s->strip, l, s->terminal ? &line : &s->out.text, err);
	text_escape_json(&s->out.text, buf_view(&line));
	buf_release(&line);
	return failed ? -1 : output_flush_some(&s->out, err);
}

static int strip_rollouts(struct stripping *s, struct by_rollout *lines, struct error *err)
{
	while (by_rollout_id(lines).p)
		if (by_rollout_next(lines, put_stripped, s, err))
			return -1;
	return 0;
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
	struct by_rollout *lines = NULL;
	int failed =
		store_operands(c, argc, argv, &files, err) ||
		by_rollout_open(NULL, files.paths, files.count, torn_warn, NULL, &lines, err) ||
		check_any(lines, &files, err) || strip_rollouts(s, lines, err);

	by_rollout_close(lines);
	file_list_free(&files);
	if (failed) {
		/* what comes before the failure is still printed */
		(void)!output_flush(&s->out, ERROR_IGNORED);
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
