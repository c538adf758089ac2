/* The reader on every file of fixtures/recordings/, on generated long lines and on the
   shared directory. expected.tsv has the results for each file. */
#include "tap.h"

#include "base/mem.h"
#include "recording/reader.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY "fixtures/recordings"

static void add_kind(struct buf *out, const struct line *l, const struct reader_note *note)
{
	static const char kinds[] = "hrsve";

	if (note->torn) {
		buf_char(out, '~');
		return;
	}
	if (note->fused)
		buf_char(out, '+');
	buf_char(out, l->type < LINE_TYPES ? kinds[l->type] : '?');
}

/* The types of lines up to the end or the error, which is in err.kind. */
static void read_kinds(const char *path, struct buf *kinds, struct error *err)
{
	struct reader *r = NULL;
	struct line l;
	struct reader_note note;

	*err = (struct error){0};
	if (reader_open(path, &r, err) != 0)
		return;
	while (reader_next(r, &l, &note, err) == 1)
		add_kind(kinds, &l, &note);
	reader_close(r);
}

static void check_row(const char *name, const char *kinds, const char *error)
{
	char path[sizeof(DIRECTORY) + 1024];
	struct error err;
	struct buf got = BUF(BUF_MAX_SMALL);

	snprintf(path, sizeof(path), DIRECTORY "/%s", name);
	read_kinds(path, &got, &err);
	is_str(buf_cstr(&got), kinds, "%s: the lines", name);
	if (!error[0]) {
		is_int(err.kind, FAIL_NONE, "%s: no error%s%s", name, err.kind ? ": " : "",
		       err.kind ? err.text : "");
	} else if (!ok(err.kind == FAIL_INPUT && strncmp(err.text, error, strlen(error)) == 0,
	               "%s: stops with the place and the reason", name)) {
		tap_note("got", err.text);
	}
	buf_release(&got);
}

static bool in_table(const char *table, const char *name)
{
	char row[300];

	snprintf(row, sizeof(row), "\n%s\t", name);
	return strstr(table, row);
}

static void check_rows(const char *table)
{
	DIR *d = opendir(DIRECTORY);
	int without = 0;

	for (struct dirent *e; d && (e = readdir(d));) {
		if (strstr(e->d_name, ".jsonl") && !in_table(table, e->d_name)) {
			tap_note("without a row in expected.tsv", e->d_name);
			without++;
		}
	}
	if (d)
		closedir(d);
	is_int(without, 0, "every recording has a row in expected.tsv");
}

static void table(void)
{
	char row[1024];
	struct buf all = BUF(BUF_MAX_SMALL);
	FILE *f = fopen(DIRECTORY "/expected.tsv", "r");

	while (f && fgets(row, sizeof(row), f)) {
		buf_text(&all, row);
		row[strcspn(row, "\n")] = '\0';
		char *kinds = strchr(row, '\t');
		if (row[0] == '#' || !kinds)
			continue;
		*kinds++ = '\0';
		char *error = kinds + strcspn(kinds, "\t");
		if (*error)
			*error++ = '\0';
		check_row(row, kinds, error);
	}
	if (f)
		fclose(f);
	check_rows(buf_cstr(&all));
	buf_release(&all);
}

static void places(void)
{
	struct reader *r = NULL;
	struct line l;
	struct reader_note note;
	struct error err;

	if (reader_open(DIRECTORY "/fused.jsonl", &r, &err) != 0) {
		ok(0, "fused.jsonl opens");
		return;
	}
	for (int i = 0; i < 3; i++)
		is_int(reader_next(r, &l, &note, &err), 1, "a line");
	is_int(note.line, 2, "the fused object is on line 2");
	FILE *f = fopen(DIRECTORY "/fused.jsonl", "r");
	char start[17] = "";
	ok(f && fseek(f, (long)note.offset, SEEK_SET) == 0 &&
	           fgets(start, sizeof(start), f) != NULL,
	   "its offset is in the file");
	is_str(start, "{\"type\":\"step\",\"", "and names its first byte");
	is_int(l.turn, 0, "turn");
	is_int(l.outcome, OUTCOME_OK, "outcome");
	is_int(l.terminated, 0, "terminated");
	if (f)
		fclose(f);
	reader_close(r);
}

static FILE *temporary(char *path)
{
	int fd = mkstemp(path);

	return fd < 0 ? NULL : fdopen(fd, "w");
}

static void write_long_step(FILE *f, size_t bytes)
{
	fputs("{\"type\":\"step\",\"rollout\":\"long.0\",\"turn\":0,\"step\":0,"
	      "\"observation\":\"",
	      f);
	for (size_t i = 0; i < bytes; i += 64)
		fputs("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", f);
	fputs("\",\"outcome\":\"ok\"}\n", f);
}

static void long_lines(void)
{
	char path[] = "/tmp/rolldbg-reader-XXXXXX";
	struct buf kinds = BUF(64);
	struct error err;
	FILE *f = temporary(path);

	if (!ok(f != NULL, "a temporary file") || !f)
		return;
	write_long_step(f, (size_t)1 << 20);
	write_long_step(f, 64);
	write_long_step(f, BUF_MAX_MESSAGE - 1024);
	write_long_step(f, 64);
	write_long_step(f, BUF_MAX_MESSAGE + 1024);
	write_long_step(f, 64);
	fclose(f);
	read_kinds(path, &kinds, &err);
	is_str(buf_cstr(&kinds), "ssss", "lines up to 64 MiB are read");
	is_int(err.kind, FAIL_INPUT, "a longer one is not");
	ok(strstr(err.text, ":5: the line is longer than 64 MiB"), "and the message names it");
	unlink(path);
	buf_release(&kinds);
}

/* Lines of odd lengths, so that blocks, moves and lines meet at every position. */
static void many_lines(void)
{
	char path[] = "/tmp/rolldbg-reader-XXXXXX";
	struct reader *r = NULL;
	struct line l;
	struct reader_note note;
	struct error err;
	FILE *f = temporary(path);
	int64_t n = 0;
	bool good = true;

	if (!ok(f != NULL, "a temporary file") || !f)
		return;
	for (int i = 0; i < 20000; i++) {
		fprintf(f,
		        "{\"type\":\"step\",\"rollout\":\"m.%d\",\"turn\":%d,"
		        "\"observation\":\"%.*s\"}\n",
		        i, i, i % 97,
		        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		        "xxxxx"
		        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	}
	fclose(f);
	is_int(reader_open(path, &r, &err), 0, "opens");
	while (reader_next(r, &l, &note, &err) == 1) {
		char id[32];

		snprintf(id, sizeof(id), "m.%" PRId64, n);
		good = good && l.turn == n && str_is(l.rollout, id);
		n++;
	}
	reader_close(r);
	unlink(path);
	ok(good && n == 20000, "20000 lines in order");
}

/* A run may still be writing its recording. */
static void growing_file(void)
{
	static const char line[] = "{\"type\":\"step\",\"rollout\":\"g\",\"turn\":0}\n";
	char path[] = "/tmp/rolldbg-reader-XXXXXX";
	struct reader *r = NULL;
	struct line l;
	struct reader_note note;
	struct error err;
	FILE *f = temporary(path);

	if (!ok(f != NULL, "a temporary file") || !f)
		return;
	fputs(line, f);
	fflush(f);
	is_int(reader_open(path, &r, &err), 0, "opens");
	is_int(reader_next(r, &l, &note, &err), 1, "the first line");
	fputs(line, f);
	fclose(f);
	is_int(reader_next(r, &l, &note, &err), 1, "a line that was added meanwhile");
	is_int((int64_t)note.offset, (int64_t)strlen(line), "its place");
	is_int(reader_next(r, &l, &note, &err), 0, "the end");
	reader_close(r);
	unlink(path);
}

/* Lines that were located before are missing: not the end of the file. */
static void shrinking_file(void)
{
	static const char line[] = "{\"type\":\"step\",\"rollout\":\"g\",\"turn\":0}\n";
	const uint64_t n = sizeof(line) - 1;
	char path[] = "/tmp/rolldbg-reader-XXXXXX";
	struct reader *r = NULL;
	struct line l;
	struct reader_note note;
	struct error err;
	FILE *f = temporary(path);

	if (!ok(f != NULL, "a temporary file") || !f)
		return;
	fputs(line, f);
	fclose(f);
	is_int(reader_open(path, &r, &err), 0, "opens");
	reader_seek(r, 0, n, 1);
	is_int(reader_next(r, &l, &note, &err), 1, "a line of a file that is complete");
	is_int(reader_next(r, &l, &note, &err), 0, "the end of the lines asked for");
	reader_seek(r, 0, 2 * n, 1);
	is_int(reader_next(r, &l, &note, &err), 1, "a line of a file that became shorter");
	is_int(reader_next(r, &l, &note, &err), -1, "a line that was there before");
	is_int(err.kind, FAIL_SYSTEM, "a failure of the system");
	ok(strstr(err.text, "became shorter while it was read"), "the reason");
	reader_close(r);
	unlink(path);
}

static void operands(void)
{
	struct error err;
	struct reader *r;
	struct file_list list;
	char directory[] = DIRECTORY, missing[] = "fixtures/no-such.jsonl",
	     directories[] = "fixtures", dash[] = "-";

	is_int(reader_open(missing, &r, &err), -1, "a missing file does not open");
	is_str(err.text, "cannot read fixtures/no-such.jsonl: No such file or directory",
	       "with the reason");
	is_int(err.kind, FAIL_INPUT, "as bad input");
	is_int(reader_open(directories, &r, &err), -1, "a directory does not open");
	is_str(err.text, "cannot read fixtures: it is a directory", "as reported");
	is_int(file_list_new((char *[]){dash, directory}, 2, &list, &err), 0, "operands");
	is_str(list.paths[0], "-", "standard input stays");
	is_str(list.paths[1], DIRECTORY "/bad-mask.jsonl", "a directory is its recordings");
	bool sorted = true;
	for (size_t i = 2; i < list.count; i++)
		sorted = sorted && strcmp(list.paths[i - 1], list.paths[i]) < 0;
	ok(sorted, "in the order of their names");
	file_list_free(&list);
	is_int(file_list_new((char *[]){missing}, 1, &list, &err), -1, "a missing operand");
	is_int(file_list_new((char *[]){directories}, 1, &list, &err), -1,
	       "a directory without recordings");
	is_str(err.text,
	       "no recording (*.jsonl, *.traj, *.eval, *.parquet) in directory fixtures; files "
	       "with other names, and directories in it, are only read if named",
	       "as reported");
}

static void standard_input(void)
{
	struct buf kinds = BUF(64);
	struct error err;

	if (!freopen(DIRECTORY "/good.jsonl", "r", stdin)) {
		ok(0, "standard input can be a file");
		return;
	}
	read_kinds("-", &kinds, &err);
	is_str(buf_cstr(&kinds), "hrsvse", "standard input is read");
	buf_release(&kinds);
}

static void shared(const char *name, uint64_t lines)
{
	char path[512];
	struct stat st;
	struct buf kinds = BUF(BUF_MAX_MESSAGE);
	struct error err;
	const char *directory = getenv("ROLLDBG_SHARED");

	snprintf(path, sizeof(path), "%s/recordings/rolldbg/%s",
	         directory ? directory : "../shared", name);
	if (stat(path, &st) != 0) {
		skip("no shared recordings");
		return;
	}
	read_kinds(path, &kinds, &err);
	is_int(err.kind, FAIL_NONE, "%s is read without error", name);
	is_int(kinds.n, lines, "%s: every line", name);
	ok(!strpbrk(buf_cstr(&kinds), "?~+"), "%s: no line is torn, fused or unknown", name);
	buf_release(&kinds);
}

static void files(void)
{
	table();
	places();
	long_lines();
	many_lines();
	growing_file();
	shrinking_file();
	operands();
	standard_input();
}

int main(void)
{
	files();
	shared("intercode.jsonl", 3654);
	shared("tau-airline.jsonl", 1529);
	return done();
}
