/* rolldbg strip: a recording without what changes from run to run. */
#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/masks.h"
#include "cmd/output.h"
#include "cmd/store.h"
#include "trajectory/reader.h"

struct strip_options {
	struct opt_list masks;
};

static const struct opt options[] = {
	{0, "mask", "POINTER", OPT_LIST, OPT(struct strip_options, masks),
         "replace what this JSON Pointer into a line reaches by \"<masked>\"; * is any "
         "one token, ** any depth",
         NULL},
};

struct stripping {
	struct strip *strip;
	struct output out;
	const char *path; /* that is being read */
	bool terminal;
};

/* On a terminal what could move its cursor is escaped, which no reader of JSON can tell.
 */
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

static int take(void *ctx, const struct line *l, const struct reader_note *note,
                struct error *err)
{
	struct stripping *s = ctx;

	if (note->torn) {
		log_warn("%s:%llu: the last line is torn and left out", s->path,
		         (unsigned long long)note->line);
	}
	if (put_stripped(s, l, err)) {
		return error_wrap(err, "%s:%llu", s->path,
		                  (unsigned long long)note->line);
	}
	return output_flush_some(&s->out, err);
}

static int strip_all(const struct context *c, struct stripping *s, int argc, char **argv,
                     struct error *err)
{
	struct buf latest = BUF(BUF_MAX_SMALL);
	struct file_list files = {0};
	struct reader *r = NULL;
	int failed = argc ? file_list_new(argv, (size_t)argc, &files, err)
	                  : store_latest(c, &latest, err) ||
	                             file_list_new(&latest.p, 1, &files, err);

	for (size_t i = 0; !failed && i < files.count; i++) {
		s->path = files.paths[i];
		failed = reader_open(s->path, &r, err) || reader_each(r, take, s, err);
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
	int failed = masks_strip(&o->masks, &s.strip, err) ||
	             strip_all(c, &s, argc, argv, err);

	strip_free(s.strip);
	output_release(&s.out);
	return failed ? -1 : 0;
}

const struct command command_strip = {
	.name = "strip",
	.summary = "print recordings without volatile facts, in canonical form, for diff "
		   "and git",
	.operands = "[FILE|DIR...]",
	.description = "Takes out times, session ids and masked values and spells "
		       "everything else in one canonical way, so that two runs that did "
		       "the same give the same bytes. The result is a valid recording. "
		       "Without FILE: the latest recording.",
	.max_operands = -1,
	.opts = options,
	.opt_count = ARRAY_LEN(options),
	.opts_size = sizeof(struct strip_options),
	.run = strip_run,
};
