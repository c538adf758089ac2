/* The work of each rule is linear in the size of the recording: its own bad fixtures,
   lengthened (the lines of each rollout repeated with continuing numbers) and with more
   rollouts. */
#include "scaling.h"
#include "verdicts.h"

#include <dirent.h>

#define FEW       128
#define MANY      (4 * FEW)
#define FILES_MAX 2 /* of a rule */

/* ---- fixtures made larger ---- */

static struct buf file_text(const char *path)
{
	struct buf out = text();
	char bytes[4096];
	size_t n;
	FILE *f = fopen(path, "rb");

	while (f && (n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		buf_add(&out, bytes, n);
	if (!f || fclose(f)) {
		perror(path);
		exit(1);
	}
	return out;
}

static struct str next_line(struct str *rest)
{
	const char *lf = memchr(rest->p, '\n', rest->n);
	struct str line = {rest->p, lf ? (size_t)(lf - rest->p) + 1 : rest->n};

	*rest = str_skip(*rest, line.n);
	return line;
}

static bool is_type(struct str line, const char *type)
{
	char start[64];
	int n = snprintf(start, sizeof(start), "{\"type\":\"%s\"", type);

	return line.n > (size_t)n && memcmp(line.p, start, (size_t)n) == 0;
}

/* Appends the line with `by` added to each number after the key. */
static void add_numbered(struct buf *out, struct str line, const char *key, long by)
{
	size_t n = strlen(key);

	while (line.n) {
		const char *at = memmem(line.p, line.n, key, n);
		size_t before = at ? (size_t)(at - line.p) + n : line.n;
		char *end = NULL;

		buf_add(out, line.p, before);
		line = str_skip(line, before);
		long number = at && line.n && line.p[0] != '-' ? strtol(line.p, &end, 10) : 0;
		if (end && end != line.p) {
			buf_printf(out, "%ld", number + by);
			line = str_skip(line, (size_t)(end - line.p));
		}
	}
}

static long lines_in(struct str file)
{
	long count = 0;

	while (file.n) {
		next_line(&file);
		count++;
	}
	return count;
}

/* Steps and events n times, followed by the ends; all other lines once, at the beginning.
   Empty if there are none. */
static struct buf longer(struct str file, int n)
{
	struct buf out = text(), steps = text(), ends = text(), renamed = text();
	long span = lines_in(file);

	for (struct str rest = file; rest.n;) {
		struct str line = next_line(&rest);
		bool step = is_type(line, "step") || is_type(line, "event");

		buf_str(step ? &steps : is_type(line, "end") ? &ends : &out, line);
	}
	for (int i = 0; i < n; i++) {
		buf_clear(&renamed);
		add_numbered(&renamed, buf_view(&steps), "\"turn\":", i * span);
		add_numbered(&out, buf_view(&renamed), "\"step\":", i * span);
	}
	buf_str(&out, buf_view(&ends));
	if (!steps.n)
		buf_clear(&out);
	buf_release(&steps);
	buf_release(&ends);
	buf_release(&renamed);
	return out;
}

/* The file n times, each time with new rollout ids. */
static struct buf more(struct str file, int n)
{
	static const char key[] = "\"rollout\":\"";
	struct buf out = text();

	for (int i = 0; i < n; i++) {
		struct str rest = file;

		while (rest.n) {
			const char *at = memmem(rest.p, rest.n, key, sizeof(key) - 1);
			size_t before = at ? (size_t)(at - rest.p) + sizeof(key) - 1 : rest.n;

			buf_add(&out, rest.p, before);
			buf_printf(&out, at ? "%d-" : "", i);
			rest = str_skip(rest, before);
		}
	}
	return out;
}

/* ---- one rule ---- */

/* Invalid lines are omitted, and so are those of a rollout with an invalid header. */
static size_t feed_all(const struct verdicts *v, struct str lines)
{
	struct buf scratch = BUF(BUF_MAX_SMALL);
	size_t judged = 0;

	while (lines.n) {
		struct str one = next_line(&lines);
		struct error err;
		struct line l;
		size_t used;

		one.n -= one.p[one.n - 1] == '\n';
		if (one.n && line_parse(one, &scratch, &l, &used, &err) == 0)
			judged += judge_line(v->judge, &l, NULL, &err) == 0;
	}
	buf_release(&scratch);
	return judged;
}

static uint64_t judge(const struct check *rule, const struct buf *lines)
{
	struct verdicts v;

	verdicts_begin(&v, rule->id, NULL);
	blocks = 0;
	size_t judged = feed_all(&v, buf_view(lines));
	judge_finish(v.judge);
	uint64_t work = judged ? blocks : 0;
	verdicts_end(&v);
	return work;
}

static void check_file(const struct check *rule, const char *path,
                       struct buf (*enlarge)(struct str file, int n), const char *how)
{
	struct buf file = file_text(path);
	struct buf few = enlarge(buf_view(&file), FEW), many = enlarge(buf_view(&file), MANY);
	char what[512];

	snprintf(what, sizeof(what), "%s, %s", path, how);
	if (many.n)
		scales(what, judge(rule, &few), judge(rule, &many));
	buf_release(&file);
	buf_release(&few);
	buf_release(&many);
}

static int is_bad(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return strncmp(e->d_name, "bad", 3) == 0 && dot && strcmp(dot, ".jsonl") == 0;
}

static void check_rule(const struct check *rule)
{
	struct dirent **entries = NULL;
	char directory[256], path[512];

	snprintf(directory, sizeof(directory), "fixtures/check/%s", rule->id);
	int n = scandir(directory, &entries, is_bad, alphasort);
	ok(n > 0, "%s has bad fixtures", rule->id);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
		if (i < FILES_MAX) {
			check_file(rule, path, longer, "longer");
			check_file(rule, path, more, "more rollouts");
		}
		free(entries[i]);
	}
	free(entries);
}

int main(void)
{
	for (size_t i = 0; i < checks_count; i++)
		if (checks[i] != &check_no_history) /* in no recording */
			check_rule(checks[i]);
	return done();
}
