/* rolldbg strip: prints a recording without what changes from run to run. */
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/masks.h"
#include "cmd/output.h"
#include "cmd/store.h"
#include "cmd/torn.h"
#include "trajectory/by_rollout.h"

struct strip_options {
	struct opt_list masks;
};

#define FIELD(f) offsetof(struct strip_options, f)

static const struct opt options[] = {
	OPT_LIST(0, "mask", "POINTER", FIELD(masks),
                 "replace the values that this JSON Pointer matches in a line with \"<masked>\"; "
                 "* matches any one token, ** any depth"),
};

struct stripping {
	struct strip *strip;
	struct output out;
	bool terminal;
};

/* On a terminal, characters that could move the cursor are written as JSON escapes, which does
   not change the JSON. */
static int put_stripped(struct stripping *s, const struct line *l, struct error *err)
{
	struct buf line = BUF(BUF_MAX_MESSAGE);

	if (!s->terminal) {
		return strip_line(s->strip, l, &s->out.text, err);
	}
	int failed = strip_line(s->strip, l, &line, err);
	text_escape_json(&s->out.text, buf_view(&line));
	buf_release(&line);
	return failed;
}

static int take(void *ctx, const struct line *l, const struct reader_note *note, struct error *err)
{
	struct stripping *s = ctx;

	if (note->torn) {
		return torn_warn(NULL, l, note, err);
	}
	return put_stripped(s, l, err) ? -1 : output_flush_some(&s->out, err);
}

static int strip_all(const struct context *c, struct stripping *s, int argc, char **argv,
                     struct error *err)
{
	struct buf latest = BUF(BUF_MAX_SMALL);
	struct file_list files = {0};
	int failed =
		argc ? file_list_new(argv, (size_t)argc, &files, err)
		     : store_latest(c, &latest, err) || file_list_new(&latest.p, 1, &files, err);

	if (!failed) {
		failed = by_rollout_each(files.paths, files.count, take, s, err);
	}
	file_list_free(&files);
	buf_release(&latest);
	return failed ? -1 : output_flush(&s->out, err);
}

static int strip_run(const struct context *c, const void *opts, int argc, char **argv,
                     struct error *err)
{
	const struct strip_options *o = opts;
	struct stripping s = {.out = output_to_stdout(), .terminal = c->style.terminal};
	int failed = masks_strip(&o->masks, &s.strip, err) || strip_all(c, &s, argc, argv, err);

	strip_free(s.strip);
	output_release(&s.out);
	return failed ? -1 : 0;
}

const struct command command_strip = {
	.name = "strip",
	.summary = "print recordings without volatile facts, in canonical form, for diff and git",
	.operands = "[FILE|DIR...]",
	.description = "Removes times, session ids and masked values and writes everything else "
		       "in canonical form, rollouts in the order of their ids, so that two runs "
		       "that did the same give the same bytes whatever --jobs was. The result is "
		       "a valid recording. Files are read twice; piped input is copied to a "
		       "temporary file first. Without FILE it strips the latest recording.",
	.max_operands = -1,
	.recordings = true,
	.opts = options,
	.opt_count = ARRAY_LEN(options),
	.opts_size = sizeof(struct strip_options),
	.run = strip_run,
};
