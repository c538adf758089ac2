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

/* On a terminal what could move its cursor is escaped, which no reader of JSON can tell.
 */
static int put_stripped(struct strip *s, const struct line *l, bool terminal,
                        struct buf *out, struct error *err)
{
	struct buf line = BUF(BUF_MAX_MESSAGE);

	if (!terminal) {
		return strip_line(s, l, out, err);
	}
	int failed = strip_line(s, l, &line, err);
	text_escape_json(out, buf_view(&line));
	buf_release(&line);
	return failed;
}

static int strip_file(struct strip *s, const char *path, bool terminal,
                      struct output *out, struct error *err)
{
	struct reader *r = NULL;
	struct reader_note note;
	struct line l;
	int more;

	if (reader_open(path, &r, err)) {
		return -1;
	}
	while ((more = reader_next(r, &l, &note, err)) > 0) {
		if (note.torn) {
			log_warn("%s:%llu: the last line is torn and left out", path,
			         (unsigned long long)note.line);
		}
		if (put_stripped(s, &l, terminal, &out->text, err)) {
			struct error inner = *err;
			more = error_set(err, inner.kind, "%s:%llu: %s", path,
			                 (unsigned long long)note.line, inner.text);
			break;
		}
		if (output_flush_some(out, err)) {
			more = -1;
			break;
		}
	}
	reader_close(r);
	return more;
}

static int strip_all(const struct context *c, struct strip *s, int argc, char **argv,
                     struct output *out, struct error *err)
{
	struct buf latest = BUF(BUF_MAX_SMALL);
	struct file_list files = {0};
	int failed = argc ? file_list_new(argv, (size_t)argc, &files, err)
	                  : store_latest(c, &latest, err) ||
	                             file_list_new(&latest.p, 1, &files, err);

	for (size_t i = 0; !failed && i < files.count; i++) {
		failed = strip_file(s, files.paths[i], c->style.terminal, out, err);
	}
	file_list_free(&files);
	buf_release(&latest);
	return failed ? -1 : output_flush(out, err);
}

static int strip_run(const struct context *c, const void *opts, int argc, char **argv,
                     struct error *err)
{
	const struct strip_options *o = opts;
	struct output out = output_to_stdout();
	struct strip *s = NULL;
	int failed =
		masks_strip(&o->masks, &s, err) || strip_all(c, s, argc, argv, &out, err);

	strip_free(s);
	output_release(&out);
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
