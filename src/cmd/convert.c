/* rolldbg convert: recordings from and to the formats of other programs. */
#include "base/names.h"
#include "base/new_file.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/options/import_options.h"
#include "cmd/options/output.h"
#include "cmd/store/recordings.h"
#include "cmd/store/store.h"
#include "convert/export.h"
#include "convert/parquet.h"
#include "json/write.h"
#include "recording/by_rollout.h"
#include "report/tables.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMATS_MAX 64
#define MAP         "map:"
#define FLUSH_AT    ((size_t)64 << 10)

#define OPTIONS convert
#include "cmd/options/table.h"

struct converting {
	const struct convert_options *opts;
	/* NULL: from: detect by content; to: rolldbg's own format */
	const struct format *from, *to;
	struct format *map; /* read from a mapping file */
	struct file_list files;
	struct recordings names; /* of the output files in a directory */
	bool directory;
	struct new_file file; /* the file being written */
	struct buf text;      /* not written to it yet */
	struct export export;
	struct tables *tables; /* of --to steps, rollouts; NULL: another format */
	enum table_kind table;
	FILE *rows;     /* of a Parquet file, as JSON lines; NULL: not one */
	size_t written; /* rollouts */
};

/* ---- formats ---- */

/* An option's format is unknown, or one that can only be read. */
static int refuse_format(const char *option, const char *name, bool known, bool written,
                         struct error *err)
{
	const char *names[FORMATS_MAX] = {RECORD_FORMAT};
	size_t n = 1;

	for (size_t i = 0; i < formats_count && n < FORMATS_MAX; i++)
		if (!written || formats[i]->writer)
			names[n++] = formats[i]->name;
	error_set(err, FAIL_USAGE,
	          known ? "%s %s: this format can only be read" : "%s: unknown format '%s'", option,
	          name);
	return names_suggest(err, known ? STR_NONE : str_from(name), names, n);
}

#define FORMAT_COLUMN 20
#define WHAT_COLUMN   32

/* As JSON lines, the last one tells that the list is complete. */
static int list_formats(struct style style, bool json, struct error *err)
{
	struct output out = output_to_stdout();

	for (size_t i = 0; i < formats_count; i++) {
		const struct format *f = formats[i];

		if (json) {
			json_line(&out.text, "format", "format:%t,written:%b,description:%t",
			          f->name, f->writer != NULL, f->what);
			continue;
		}
		buf_printf(&out.text, "%-*s%-*s", FORMAT_COLUMN, f->name,
		           WHAT_COLUMN - FORMAT_COLUMN, f->writer ? "read, write" : "read");
		text_wrap(&out.text, str_from(f->what), WHAT_COLUMN,
		          style.terminal ? style.columns : SIZE_MAX);
	}
	if (json)
		json_line(&out.text, "listing", "listed:%i", (int64_t)formats_count);
	return output_close(&out, err);
}

/* A Parquet file is made from rows, which are kept in a temporary one until then. */
static int collect_rows(struct converting *v, struct error *err)
{
	if (!v->opts->out || !str_ends(str_from(v->opts->out), STR(".parquet")))
		return 0;
	if (!v->tables && !(v->to && v->to->writer->columns)) {
		return error_set(err, FAIL_USAGE,
		                 "--out NAME.parquet requires --to steps, rollouts or scout");
	}
	v->rows = tmpfile();
	return v->rows ? 0 : error_errno(err, "cannot create a temporary file");
}

static int choose_table(struct converting *v, struct error *err)
{
	const char *out = v->opts->out ? v->opts->out : "-";
	bool csv = v->opts->csv || str_ends(str_from(out), STR(".csv"));

	if (v->directory || v->opts->rollout) {
		return error_set(err, FAIL_USAGE,
		                 "--to %s writes one table: no --out DIR/ and no --rollout",
		                 v->opts->to);
	}
	v->table = !strcmp(v->opts->to, "steps") ? TABLE_STEPS : TABLE_ROLLOUTS;
	v->tables = tables_new(v->table, csv ? TABLE_CSV : TABLE_LINES, &v->text);
	return collect_rows(v, err);
}

static int choose_formats(struct converting *v, struct error *err)
{
	const char *from = v->opts->from, *to = v->opts->to;

	if (from && str_starts(str_from(from), STR(MAP))) {
		if (map_read(from + strlen(MAP), &v->map, err))
			return -1;
		from = NULL;
	}
	v->from = v->map ? v->map : from ? format_find(str_from(from)) : NULL;
	v->to = to ? format_find(str_from(to)) : NULL;
	if (to && (!strcmp(to, "steps") || !strcmp(to, "rollouts")))
		return choose_table(v, err);
	if (v->opts->csv)
		return error_set(err, FAIL_USAGE, "--csv requires --to steps or --to rollouts");
	if (from && !v->from && strcmp(from, RECORD_FORMAT) != 0)
		return refuse_format("--from", from, false, false, err);
	if (to && (v->to ? !v->to->writer : strcmp(to, RECORD_FORMAT) != 0))
		return refuse_format("--to", to, v->to, true, err);
	v->export.format = v->to;
	return collect_rows(v, err);
}

/* ---- where to ---- */

static int open_file(struct converting *v, const char *path, struct error *err)
{
	struct new_file_conf conf = {path, .replace = v->opts->force};

	return new_file_open(&v->file, &conf, err);
}

static int flush(struct converting *v, size_t least, struct error *err)
{
	if (v->rows && v->text.n >= least) {
		size_t n = fwrite(v->text.p, 1, v->text.n, v->rows);
		bool whole = n == v->text.n;

		buf_clear(&v->text);
		return whole ? 0 : error_errno(err, "cannot write a temporary file");
	}
	if (v->text.n >= least) {
		new_file_write(&v->file, buf_view(&v->text));
		buf_clear(&v->text);
	}
	if (v->file.failed.kind != FAIL_NONE) {
		*err = v->file.failed;
		return -1;
	}
	return 0;
}

/* The table's rows become a Parquet file, which takes the place of the temporary one. */
static int write_parquet(struct converting *v, struct error *err)
{
	AUTO_BUF columns = BUF(BUF_MAX_MESSAGE);

	if (flush(v, 0, err) || fflush(v->rows) || lseek(fileno(v->rows), 0, SEEK_SET))
		return err->kind != FAIL_NONE ? -1 : error_errno(err, "a temporary file failed");
	if (v->to)
		buf_text(&columns, v->to->writer->columns);
	else
		tables_columns(v->table, &columns);
	int failed = parquet_write(fileno(v->rows), buf_cstr(&columns), v->file.fd, err);
	fclose(v->rows);
	v->rows = NULL;
	return failed;
}

static int close_file(struct converting *v, struct error *err)
{
	if (v->rows && write_parquet(v, err))
		return -1;
	int failed = flush(v, 0, err) || new_file_publish(&v->file, err);

	new_file_release(&v->file);
	return failed ? -1 : 0;
}

static int make_directory(struct converting *v, struct error *err)
{
	const char *out = v->opts->out;

	if (mkdir(out, 0777) && errno != EEXIST)
		return error_errno(err, "cannot create the directory %s", out);
	v->names.path = BUF(BUF_MAX_SMALL);
	buf_text(&v->names.path, out);
	buf_text(&v->names.path, str_ends(str_from(out), STR("/")) ? "" : "/");
	return 0;
}

/* Opens the output file of a rollout in a directory. */
static int open_rollout_file(struct converting *v, struct str id, struct error *err)
{
	AUTO_BUF path = BUF(BUF_MAX_SMALL);

	recordings_path(&v->names, id, &path);
	if (v->to && v->to->writer->one_a_file)
		buf_cut(&path, path.n - 1); /* removes .jsonl */
	return open_file(v, buf_cstr(&path), err);
}

/* ---- the lines ---- */

static int take_line(void *ctx, const struct line *l, const struct reader_note *note,
                     struct error *err)
{
	struct converting *v = ctx;

	if (v->to)
		return export_add(&v->export, l, err);
	buf_str(&v->text, l->text);
	buf_char(&v->text, '\n');
	return flush(v, FLUSH_AT, err);
}

static int one_a_file(const struct converting *v, struct error *err)
{
	if (v->written && !v->directory && v->to && v->to->writer->one_a_file) {
		return error_set(
			err, FAIL_USAGE,
			"a file in format %s holds one rollout; use --out DIR/ or --rollout ID",
			v->to->name);
	}
	return 0;
}

static int write_rollout(struct converting *v, struct by_rollout *lines, struct error *err)
{
	struct str id = by_rollout_id(lines);

	if (one_a_file(v, err) || (v->directory && open_rollout_file(v, id, err)) ||
	    by_rollout_next(lines, take_line, v, err) ||
	    (v->to && export_rollout(&v->export, &v->text, err))) {
		return -1;
	}
	v->written++;
	return v->directory ? close_file(v, err) : flush(v, FLUSH_AT, err);
}

static int skip_line(void *ctx, const struct line *l, const struct reader_note *note,
                     struct error *err)
{
	return 0;
}

static int write_rollouts(struct converting *v, struct error *err)
{
	const char *only = v->opts->rollout;
	struct by_rollout *lines = NULL;
	int failed = by_rollout_open(v->from, v->files.paths, v->files.count, torn_warn, NULL,
	                             &lines, err);

	while (!failed && by_rollout_id(lines).p) {
		struct str id = by_rollout_id(lines);

		failed = !id.n || (only && !str_is(id, only))
		                 ? by_rollout_next(lines, skip_line, NULL, err)
		                 : write_rollout(v, lines, err);
	}
	by_rollout_close(lines);
	return failed;
}

/* Lines are handled in input order: memory does not grow with the file. */
static int take_or_warn(void *ctx, const struct line *l, const struct reader_note *note,
                        struct error *err)
{
	struct converting *v = ctx;

	v->written++;
	if (v->tables)
		return tables_line(v->tables, l, note, err) || flush(v, FLUSH_AT, err);
	return note->torn ? torn_warn(ctx, l, note, err) : take_line(ctx, l, note, err);
}

static int copy_lines(struct converting *v, struct error *err)
{
	for (size_t i = 0; i < v->files.count; i++) {
		struct reader *r = NULL;

		if (reader_open(v->files.paths[i], &r, err))
			return -1;
		reader_set_format(r, v->from);
		if (v->tables)
			tables_file(v->tables, v->files.paths[i]);
		if (reader_each(r, take_or_warn, v, err))
			return -1;
		if (v->tables)
			tables_file_end(v->tables);
	}
	return 0;
}

static int convert_files(struct converting *v, struct error *err)
{
	const char *out = v->opts->out ? v->opts->out : "-";
	bool whole = !v->to && !v->directory && !v->opts->rollout;

	if (v->directory ? make_directory(v, err) : open_file(v, out, err))
		return -1;
	if (whole ? copy_lines(v, err) : write_rollouts(v, err))
		return -1;
	if (!v->written) {
		return v->opts->rollout
		               ? error_set(err, FAIL_USAGE, "no rollout '%s'", v->opts->rollout)
		               : error_set(err, FAIL_INPUT, "%s: contains no recording",
		                           v->files.paths[0]);
	}
	return v->directory ? 0 : close_file(v, err);
}

static int convert_main(const struct context *c, const void *opts, int argc, char **argv,
                        struct error *err)
{
	const struct convert_options *o = opts;
	struct converting v = {
		.opts = o, .directory = recordings_is_directory(o->out), .text = BUF(SIZE_MAX / 2)};
	AUTO_BUF tools = BUF(0);

	if (o->list && argc) {
		return error_set(err, FAIL_USAGE,
		                 "--list reads no recording: unexpected operand '%s'", argv[0]);
	}
	if (o->list)
		return list_formats(c->style, o->json, err);
	int failed = choose_formats(&v, err) || import_options_apply(&o->import, &tools, err) ||
	             store_operands(c, argc, argv, &v.files, err) || convert_files(&v, err);
	new_file_release(&v.file);
	buf_release(&v.text);
	if (!failed && v.to)
		export_warn_of_losses(&v.export);
	rollout_copy_release(&v.export.r);
	tables_free(v.tables);
	if (v.rows)
		fclose(v.rows);
	map_free(v.map);
	recordings_release(&v.names);
	file_list_free(&v.files);
	return failed ? -1 : 0;
}

CODE(convert)
