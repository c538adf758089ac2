/* Every rule has a row, a file and a directory fixtures/check/ID/, whose files are described
   in fixtures/check/README.md; every file of a rule and every such directory has a row. */
#include "tap.h"
#include "verdicts.h"

#include "base/mem.h"
#include "check/baseline_read.h"
#include "evidence/baseline.h"
#include "recording/trained.h"
#include <dirent.h>
#include <unistd.h>

struct directory {
	const char *id;
	char path[256];
	struct buf on_disk; /* want.txt as it is */
	struct buf fresh;   /* want.txt as it would be written now */
	struct hints hints;
	int bad, good;
};

static void read_file(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "rb");
	char part[4096];
	size_t n;

	while (f && (n = fread(part, 1, sizeof(part), f)) > 0)
		buf_add(out, part, n);
	if (f)
		fclose(f);
}

/* The text between "== name" and the next "== ", as a terminated copy to free(). */
static char *section(const struct buf *want, const char *name)
{
	char head[300];

	snprintf(head, sizeof(head), "== %s\n", name);
	const char *begin = strstr(buf_cstr(want), head);
	if (!begin)
		return mem_text(STR(""));
	begin += strlen(head);
	const char *end = strstr(begin, "== ");
	return mem_text((struct str){begin, end ? (size_t)(end - begin) : strlen(begin)});
}

/* No finding has a severity outside the rule's range. */
static void check_severities(const struct verdicts *v, const char *path)
{
	const char *at = buf_cstr(&v->text);
	char severity[16], rule[64];

	for (; (at = strstr(at, "\n  ")); at++) {
		if (sscanf(at, "\n  %15s %63s turns", severity, rule) != 2)
			continue;
		const struct check *c = check_find(str_from(rule));
		bool usual = c && strcmp(severity, severity_name(c->severity)) == 0;
		bool raised =
			c && c->raised && strcmp(severity, severity_name(c->severity + 1)) == 0;
		bool lowered =
			c && c->lowered && strcmp(severity, severity_name(c->severity - 1)) == 0;

		ok(usual || raised || lowered, "%s: %s may be of severity %s", path, rule,
		   severity);
	}
}

static bool fires(const struct verdicts *v, const char *id)
{
	char rule[80];

	snprintf(rule, sizeof(rule), "|%s|", id);
	return strstr(buf_cstr(&v->rules), rule) != NULL;
}

/* Replaces .jsonl of the fixture's path. */
static void path_beside(const char *fixture, const char *ending, char path[600])
{
	snprintf(path, 600, "%.*s%s", (int)(strlen(fixture) - strlen(".jsonl")), fixture, ending);
}

/* NULL: there is no such file. */
static struct trained *trained_beside(const char *fixture)
{
	char path[600];
	struct error err = {0};
	struct trained *t = NULL;

	path_beside(fixture, ".trainer", path);
	if (access(path, F_OK) == 0 && !ok(trained_read(path, &t, &err) == 0, "%s is read", path))
		fprintf(stderr, "# %s\n", err.text);
	return t;
}

#define EXPECTED_MAX 8

/* Reads the lines of the file with the expected errors, if there is one, into `text`, and points
   `errors` to them. Returns their number. */
static size_t errors_beside(const char *fixture, struct buf *text, const char *errors[EXPECTED_MAX])
{
	char path[600], *rest = NULL;
	size_t n = 0;

	path_beside(fixture, ".expect-error", path);
	read_file(path, text);
	for (char *at = text->n ? strtok_r(text->p, "\n", &rest) : NULL; at && n < EXPECTED_MAX;
	     at = strtok_r(NULL, "\n", &rest)) {
		errors[n++] = at;
	}
	return n;
}

/* Does it fire as its name says? */
static bool check_name(struct directory *f, const struct verdicts *v, const char *path,
                       const char *name)
{
	char alone[80];

	snprintf(alone, sizeof(alone), "|%s|", f->id);
	if (strncmp(name, "bad-", 4) == 0) {
		f->bad++;
		bool good = is_str(buf_cstr(&v->rules), alone, "%s fires %s and no other rule",
		                   path, f->id);
		if (!good && fires(v, f->id)) {
			fprintf(stderr,
			        "# another rule fires as well: rename the fixture to also-, or "
			        "make one of them leave it out; explained findings count too\n");
		}
		return good;
	}
	if (strncmp(name, "also-", 5) == 0)
		return ok(fires(v, f->id), "%s fires %s", path, f->id);
	f->good++;
	return ok(!fires(v, f->id), "%s does not fire %s", path, f->id);
}

static bool updating(void)
{
	return getenv("UPDATE_FIXTURES") != NULL;
}

/* Compares the output for a fixture with want.txt, or writes it there (only if the fixture
   fires as its name says). */
static void compare_text(struct directory *f, const char *path, const char *name,
                         const struct buf *text, bool as_named)
{
	char *want = section(&f->on_disk, name);

	if (!updating() && !is_str(buf_cstr(text), want, "%s: the findings", path))
		fprintf(stderr, "# if that is right: UPDATE_FIXTURES=1 writes want.txt anew\n");
	const char *now = as_named ? buf_cstr(text) : want;
	if (as_named || want[0])
		buf_printf(&f->fresh, "== %s\n%s", name, now);
	free(want);
}

static void judge_fixture(struct directory *f, const char *name)
{
	char path[600];
	struct verdicts v;
	struct error err = {0};
	struct hints hints = f->hints;
	struct buf text = BUF(BUF_MAX_SMALL);
	const char *errors[EXPECTED_MAX];

	snprintf(path, sizeof(path), "%s/%s", f->path, name);
	hints.errors = errors;
	hints.error_count = errors_beside(path, &text, errors);
	hints.trained = trained_beside(path);
	verdicts_begin_with(&v, (struct judge_conf){.hints = hints, .verify = true});
	bool read = ok(verdicts_file(&v, path, &err) == 0, "%s is read", path);
	if (!read)
		fprintf(stderr, "# %s\n", err.text);
	bool as_named = check_name(f, &v, path, name);
	check_severities(&v, path);
	compare_text(f, path, name, &v.text, read && as_named);
	verdicts_end(&v);
	buf_release(&text);
	trained_free(hints.trained);
}

/* 0 if the file does not exist. */
static int64_t number_beside(const struct directory *f, const char *name)
{
	char path[300];
	struct buf text = BUF(BUF_MAX_SMALL);

	snprintf(path, sizeof(path), "%s/%s", f->path, name);
	read_file(path, &text);
	int64_t number = strtoll(buf_cstr(&text), NULL, 10);
	buf_release(&text);
	return number;
}

/* Reads baseline.jsonl and min-effective.txt, as far as they exist. */
static void read_hints(struct directory *f)
{
	char path[300];
	struct error err = {0};

	snprintf(path, sizeof(path), "%s/baseline.jsonl", f->path);
	if (access(path, F_OK) == 0) {
		f->hints.baseline = baseline_new();
		ok(baseline_add(f->hints.baseline, path, &err) == 0, "%s is read", path);
	}
	f->hints.min_effective = number_beside(f, "min-effective.txt");
}

static void judge_directory(const char *id)
{
	struct directory f = {
		.id = id, .on_disk = BUF(BUF_MAX_MESSAGE), .fresh = BUF(BUF_MAX_MESSAGE)};
	char want[300];
	struct dirent **entries = NULL;

	snprintf(f.path, sizeof(f.path), "fixtures/check/%s", id);
	snprintf(want, sizeof(want), "%s/want.txt", f.path);
	read_file(want, &f.on_disk);
	read_hints(&f);
	int n = scandir(f.path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name, *dot = strrchr(name, '.');

		if (strcmp(name, "baseline.jsonl") == 0) {
			free(entries[i]);
			continue;
		}
		bool known = strncmp(name, "bad-", 4) == 0 || strncmp(name, "good-", 5) == 0 ||
		             strncmp(name, "also-", 5) == 0;
		if (dot && strcmp(dot, ".jsonl") == 0 && ok(known, "%s has a known name", name))
			judge_fixture(&f, name);
		free(entries[i]);
	}
	free(entries);
	ok(f.bad > 0 && f.good > 0, "%s has at least one bad-*.jsonl and one good-*.jsonl", f.path);
	FILE *out = updating() ? fopen(want, "wb") : NULL;
	if (out) {
		fwrite(f.fresh.p, 1, f.fresh.n, out);
		fclose(out);
	}
	buf_release(&f.on_disk);
	buf_release(&f.fresh);
	baseline_free(f.hints.baseline);
}

static void id_to_file(const char *id, char *out, size_t size)
{
	snprintf(out, size, "src/check/rules/%s.c", id);
	for (char *p = out; *p; p++)
		*p = *p == '-' ? '_' : *p;
}

/* Follows "explains" from one rule to the next: it must never return to the start.
   NOLINTNEXTLINE(misc-no-recursion): no deeper than there are rules */
static void check_explains_cycle(const struct check *c, const struct check *from, size_t depth)
{
	for (size_t i = 0; i < EXPLAINS_MAX && from->explains[i]; i++) {
		const struct check *to = from->explains[i];

		if (!ok(to != c && depth < checks_count, "%s: explains %s", from->id, to->id))
			return;
		check_explains_cycle(c, to, depth + 1);
	}
}

static void has_words(const struct check *c)
{
	char path[256];
	struct buf text = BUF(BUF_MAX_SMALL);

	ok(!c->explains[EXPLAINS_MAX - 1], "%s: its list of explained rules is terminated", c->id);
	ok((!c->raised || c->severity < SEVERITY_ERROR) &&
	           (!c->lowered || c->severity > SEVERITY_INFO),
	   "%s: there is a severity to be raised or lowered to", c->id);
	ok(c->title[0] && strlen(c->title) < 80, "%s: one line of title", c->id);
	ok(strlen(c->why) > 200, "%s: explained: why has %zu bytes, more than 200 wanted", c->id,
	   strlen(c->why));
	ok(strstr(c->why, "Look") || strstr(c->why, "Compare"),
	   "%s: why has a sentence with Look or Compare: the place to look at", c->id);
	ok(strstr(c->why, "Fix"), "%s: why has a sentence with Fix: the cure", c->id);
	ok(!(c->line || c->find) == !c->wants, "%s: asks for lines and has a function for them",
	   c->id);
	id_to_file(c->id, path, sizeof(path));
	read_file(path, &text);
	ok(text.n > 0, "%s: has its file", c->id);
	is_str(check_find(str_from(c->id)) == c ? c->id : NULL, c->id, "%s: is found by its id",
	       c->id);
	buf_release(&text);
}

/* A file that defines a rule, and a directory of fixtures, must have a row. */
static void has_row(const char *directory, const char *ending)
{
	struct dirent **entries = NULL;
	size_t found = 0;
	int n = scandir(directory, &entries, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char id[300], path[600];
		struct buf text = BUF(BUF_MAX_SMALL * 4);

		snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
		snprintf(id, sizeof(id), "%.*s", (int)(strlen(entries[i]->d_name) - strlen(ending)),
		         entries[i]->d_name);
		for (char *p = id; *p; p++)
			*p = *p == '_' ? '-' : *p;
		if (ending[0])
			read_file(path, &text);
		bool is_rule =
			ending[0] ? strstr(buf_cstr(&text), "\nconst struct check check_") != NULL
				  : !strchr(entries[i]->d_name, '.');
		if (is_rule) {
			found++;
			ok(check_find(str_from(id)) != NULL, "%s belongs to a rule with a row",
			   path);
		}
		buf_release(&text);
		free(entries[i]);
	}
	free(entries);
	ok(found > 0, "%s has rules", directory);
}

int main(void)
{
	for (size_t i = 0; i < checks_count; i++) {
		has_words(checks[i]);
		check_explains_cycle(checks[i], checks[i], 0);
		if (checks[i] != &check_no_history) /* in no recording */
			judge_directory(checks[i]->id);
	}
	has_row("src/check/rules", ".c");
	has_row("fixtures/check", "");
	ok(!check_find(STR("no-such-rule")), "an unknown id is not found");
	return done();
}
