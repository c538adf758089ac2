/* strip on every recording: the stripped form is valid, stripping it again changes nothing,
   volatile data is removed and everything else kept. fixtures/recordings/stripped/ has the
   expected output. */
#include "tap.h"

#include "base/mem.h"
#include "json/canon.h"
#include "recording/by_rollout.h"
#include "recording/strip/strip.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#define DIRECTORY "fixtures/recordings"

struct stripping {
	struct strip *strip;
	struct buf *out;
};

static int take(void *ctx, const struct line *l, const struct reader_note *note, struct error *err)
{
	struct stripping *s = ctx;

	return note->torn ? 0 : strip_line(s->strip, l, s->out, err);
}

/* As the command does. */
static int strip_file(const char *path, const struct str *masks, size_t count, struct buf *out,
                      struct error *err)
{
	struct stripping s = {NULL, out};
	char *paths[] = {mem_text(str_from(path))};
	struct by_rollout *b = NULL;
	int result = strip_new(masks, count, &s.strip, err) ||
	             by_rollout_open(NULL, paths, 1, take, &s, &b, err);

	while (result == 0 && by_rollout_id(b).p)
		result = by_rollout_next(b, take, &s, err);
	by_rollout_close(b);
	strip_free(s.strip);
	free(paths[0]);
	return result ? -1 : 0;
}

static int strip_text(struct str text, struct buf *out, struct error *err)
{
	struct strip *s = NULL;
	struct buf scratch = BUF(BUF_MAX_MESSAGE);
	struct line l;
	size_t used;
	int result = strip_new(NULL, 0, &s, err);

	while (result == 0 && text.n) {
		result = line_parse(text, &scratch, &l, &used, err);
		if (result == 0)
			result = strip_line(s, &l, out, err);
		text = str_skip(text, used + 1);
	}
	strip_free(s);
	buf_release(&scratch);
	return result;
}

/* Every line is valid, is canonical except for the order of the format's own keys, and its
   hash is that of its state. */
static bool is_good(struct str text)
{
	struct buf scratch = BUF(BUF_MAX_MESSAGE);
	struct line l;
	struct error err = {0};
	size_t used;
	bool good = true;

	while (good && text.n) {
		good = line_parse(text, &scratch, &l, &used, &err) == 0 && text.p[used] == '\n' &&
		       l.type != LINE_UNKNOWN && l.value[KEY_META].n == 0;
		text = str_skip(text, used + 1);
	}
	if (err.kind)
		tap_note("stripped line", err.text);
	buf_release(&scratch);
	return good;
}

static void properties(const char *path, const char *name)
{
	struct buf once = BUF((size_t)1 << 30), twice = BUF((size_t)1 << 30);
	struct error err = {0};

	if (strip_file(path, NULL, 0, &once, &err) != 0 && err.kind != FAIL_INPUT)
		ok(0, "%s: %s", name, err.text);
	ok(is_good(buf_view(&once)), "%s: the output is valid, without meta", name);
	is_int(strip_text(buf_view(&once), &twice, &err), 0, "%s: it can be stripped again", name);
	ok(str_eq(buf_view(&once), buf_view(&twice)), "%s: and stays as it is", name);
	buf_release(&once);
	buf_release(&twice);
}

static int is_recording(const struct dirent *e)
{
	return strstr(e->d_name, ".jsonl") != NULL;
}

static void every_fixture(void)
{
	struct dirent **entries = NULL;
	int n = scandir(DIRECTORY, &entries, is_recording, alphasort);

	ok(n > 40, "there are recordings");
	for (int i = 0; i < n; i++) {
		char path[sizeof(DIRECTORY) + 300];

		snprintf(path, sizeof(path), DIRECTORY "/%s", entries[i]->d_name);
		properties(path, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

static void get_file(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "r");
	char block[4096];

	for (size_t n; f && (n = fread(block, 1, sizeof(block), f)) > 0;)
		buf_add(out, block, n);
	if (f)
		fclose(f);
}

static void expected(const char *name)
{
	char path[256];
	struct buf got = BUF(1 << 20), want = BUF(1 << 20);
	struct error err = {0};

	snprintf(path, sizeof(path), DIRECTORY "/stripped/%s", name);
	get_file(path, &want);
	snprintf(path, sizeof(path), DIRECTORY "/%s", name);
	is_int(strip_file(path, NULL, 0, &got, &err), 0, "%s is stripped %s", name, err.text);
	is_str(buf_cstr(&got), buf_cstr(&want), "%s: as it must be", name);
	buf_release(&got);
	buf_release(&want);
}

static void same(const char *a, const char *b)
{
	char path[256];
	struct buf x = BUF(1 << 20), y = BUF(1 << 20);
	struct error err = {0};

	snprintf(path, sizeof(path), DIRECTORY "/%s", a);
	is_int(strip_file(path, NULL, 0, &x, &err), 0, "%s is stripped", a);
	snprintf(path, sizeof(path), DIRECTORY "/%s", b);
	is_int(strip_file(path, NULL, 0, &y, &err), 0, "%s is stripped", b);
	is_str(buf_cstr(&x), buf_cstr(&y), "%s and %s become the same", a, b);
	buf_release(&x);
	buf_release(&y);
}

static void masks(void)
{
	const struct str given[] = {STR("/observation/position"), STR("/rollout"), STR("/reward"),
	                            STR("/observation/position")};
	const struct str bad[] = {STR("observation")};
	struct buf got = BUF(1 << 20), again = BUF(1 << 20);
	struct error err = {0};

	is_int(strip_file(DIRECTORY "/good.jsonl", given, 4, &got, &err), 0, "masks of the caller");
	ok(strstr(buf_cstr(&got), "\"observation\":{\"position\":\"<masked>\"}"), "are applied");
	ok(strstr(buf_cstr(&got), "\"reward\":null"), "null where a string is not allowed");
	ok(!strstr(buf_cstr(&got), "\"rollout\":\"<masked>\""),
	   "but not for keys that identify the line");
	ok(strstr(buf_cstr(&got), "\"masks\":[\"/observation/position\",\"/rollout\",\"/reward\"]"),
	   "and are in the header, each once");
	is_int(strip_text(buf_view(&got), &again, &err), 0, "the result is a recording");
	is_str(buf_cstr(&again), buf_cstr(&got), "a second strip changes nothing");
	is_int(strip_file(DIRECTORY "/good.jsonl", bad, 1, &got, &err), -1, "no pointer");
	is_int(err.kind, FAIL_USAGE, "is a mistake of the command line");
	is_int(strip_file(DIRECTORY "/bad-mask.jsonl", NULL, 0, &got, &err), -1, "in a header");
	is_int(err.kind, FAIL_INPUT, "it is bad input");
	ok(strstr(err.text, "masks: "), "that is named: %s", err.text);
	buf_release(&got);
	buf_release(&again);
}

static void shared(const char *name)
{
	char path[512];
	struct stat st;
	const char *directory = getenv("ROLLDBG_SHARED");

	snprintf(path, sizeof(path), "%s/recordings/rolldbg/%s",
	         directory ? directory : "../shared", name);
	if (stat(path, &st) == 0)
		properties(path, name);
	else
		skip("no shared recordings");
}

int main(void)
{
	every_fixture();
	expected("volatile.jsonl");
	expected("good.jsonl");
	expected("sparse.jsonl");
	expected("unknown.jsonl");
	expected("mask-all.jsonl");
	expected("numbers.jsonl");
	expected("line-count-off.jsonl");
	same("crlf.jsonl", "unterminated.jsonl");
	same("shuffled.jsonl", "escaped.jsonl");
	same("shuffled.jsonl", "fused.jsonl");
	same("blank-lines.jsonl", "fused.jsonl");
	masks();
	shared("intercode.jsonl");
	shared("tau-airline.jsonl");
	return done();
}
