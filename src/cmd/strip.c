/* rolldbg strip: prints a recording without values that change from run to run. */
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/options/compare_options.h"
#include "cmd/options/output.h"
#include "cmd/store/store.h"
#include "json/diff.h"
#include "recording/by_rollout.h"
#include "recording/line.h"
#include "report/outline.h"

#include <sys/stat.h>

/* ---- text for line diffs ---- */

/* A recording as text for line diffs (textconv of git): a block of lines for each line, a member of a
   value on a line of its own. A state follows as what changed since the one before. Numbers of steps and
   turns are left out, so that one more call is one more block. Empty if zeroed. */
struct blocks {
	struct buf rollout; /* whose line was the last one */
	struct buf state;   /* the last one known in it; empty: none */
	bool any;           /* a block was printed */
};

/* Every member on a line of its own, whatever the width of the terminal is. */
static const struct style narrow = {.columns = 0};

/* Of the title, numbers that the next lines would differ in, and what follows from other values. */
static bool is_left_out(enum key k)
{
	static const enum key keys[] = {
		KEY_TYPE,       KEY_ROLLOUT,   KEY_FORMAT, KEY_VERSION, KEY_TURN,
		KEY_STEP,       KEY_ENV_STEPS, KEY_TURNS,  KEY_STEPS,   KEY_STATE,
		KEY_STATE_HASH, KEY_TOOL_CALL, KEY_LINES,  KEY_META,
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (k == keys[i])
			return true;
	return false;
}

static void put_title(const struct line *l, struct buf *out)
{
	buf_text(out, line_type_name(l->type));
	if (l->type == LINE_HEADER) {
		buf_text(out, " of rollout ");
		text_escape(out, l->rollout);
	} else if (line_has(l, KEY_TOOL_CALL)) {
		buf_char(out, ' ');
		text_escape(out, line_tool_name(l));
	}
	buf_char(out, '\n');
	if (line_has(l, KEY_TOOL_CALL))
		outline_add(out, "arguments", line_arguments(l), narrow);
}

static void put_values(const struct line *l, struct buf *out)
{
	size_t rows;
	const struct line_key *row = line_rows(l->type, &rows);

	for (const struct line_key *end = row + rows; row < end; row++) {
		struct str value = l->value[row->key];
		bool empty = json_is_null(value) || str_is(value, "[]") || str_is(value, "false");

		if (!empty && !is_left_out(row->key))
			outline_add(out, row->name, value, narrow);
	}
}

#define SHORT_BYTES ((size_t)60) /* a longer old value is not repeated */

static bool put_change(void *ctx, const struct json_difference *d)
{
	struct buf *out = ctx;
	bool old = d->before.p && d->before.n <= SHORT_BYTES && d->after.p;

	buf_text(out, "  ");
	text_escape(out, d->pointer);
	buf_text(out, !d->before.p ? " added " : !d->after.p ? " removed" : " ");
	text_escape(out, old ? d->before : STR_NONE);
	buf_text(out, d->before.p && d->after.p ? &" -> "[old ? 0 : 1] : "");
	text_escape_line(out, d->after);
	return true;
}

/* What changed belongs to the block before this line's. */
static void put_changes(const struct blocks *b, const struct line *l, struct buf *out)
{
	struct str now = l->value[KEY_STATE];

	if (!b->state.n || !now.p || json_equal(buf_view(&b->state), now))
		return;
	outline_text(out, "changed", json_is_null(now) ? "unknown" : "", narrow);
	if (!json_is_null(now))
		json_diff(buf_view(&b->state), now, NULL, put_change, out);
}

static void blocks_line(struct blocks *b, const struct line *l, struct buf *out)
{
	b->rollout.max = b->state.max = SIZE_MAX / 2;
	if (l->type == LINE_HEADER || !str_eq(buf_view(&b->rollout), l->rollout)) {
		buf_set(&b->rollout, l->rollout);
		buf_clear(&b->state);
	}
	put_changes(b, l, out);
	buf_text(out, b->any ? "\n" : "");
	b->any = true;
	put_title(l, out);
	put_values(l, out);
	if (!b->state.n && line_has(l, KEY_STATE))
		outline_add(out, "state", l->value[KEY_STATE], narrow);
	if (l->value[KEY_STATE].p) {
		buf_clear(&b->state);
		buf_str(&b->state,
		        json_is_null(l->value[KEY_STATE]) ? STR("") : l->value[KEY_STATE]);
	}
}

#define OPTIONS strip
#include "cmd/options/table.h"

struct stripping {
	const struct strip_options *opts;
	struct strip *strip;
	struct output out;
	bool terminal;
	struct blocks blocks; /* for --text */
};

static int put_block(struct stripping *s, const struct line *l, struct error *err)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE), scratch = BUF(BUF_MAX_SMALL);
	struct line stripped;

	if (strip_line(s->strip, l, &text, err) ||
	    (text.n && line_parse(buf_view(&text), &scratch, &stripped, NULL, err)))
		return -1;
	if (text.n)
		blocks_line(&s->blocks, &stripped, &s->out.text);
	return 0;
}

/* On a terminal, characters that could move the cursor are written as JSON escapes, which does
   not change the JSON. */
static int put_stripped(void *ctx, const struct line *l, const struct reader_note *note,
                        struct error *err)
{
	struct stripping *s = ctx;
	AUTO_BUF line = BUF(BUF_MAX_MESSAGE);

	int failed = s->opts->text
	                     ? put_block(s, l, err)
	                     : strip_line(s->strip, l, s->terminal ? &line : &s->out.text, err);
	text_escape_json(&s->out.text, buf_view(&line));
	return failed ? -1 : output_flush_some(&s->out, err);
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
		check_any(lines, &files, err);

	while (!failed && by_rollout_id(lines).p)
		failed = by_rollout_next(lines, put_stripped, s, err);

	by_rollout_close(lines);
	file_list_free(&files);
	if (failed) {
		/* what comes before the failure is still printed */
		(void)!output_flush(&s->out, ERROR_IGNORED);
		return -1;
	}
	return output_flush(&s->out, err);
}

static int strip_main(const struct context *c, const void *opts, int argc, char **argv,
                      struct error *err)
{
	struct stripping s = {
		.opts = opts, .out = output_to_stdout(), .terminal = c->style.terminal};
	int failed = masks_strip(s.opts->masks.item, s.opts->masks.count, &s.strip, err) ||
	             strip_all(c, &s, argc, argv, err);

	strip_free(s.strip);
	BUFS_RELEASE(&s.blocks.rollout, &s.blocks.state);
	output_release(&s.out);
	return failed ? -1 : 0;
}

CODE(strip)
