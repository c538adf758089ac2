/* Every rule has a row, a file and a folder fixtures/check/ID/: bad-*.jsonl fires
   that rule and no other, also-*.jsonl fires it among others, good-*.jsonl does
   not fire it. What exactly is said stands in want.txt beside them;
   UPDATE_FIXTURES=1 writes it anew. What the user says with --expect-error stands in
   expect-error.txt, a line each; a baseline.jsonl is handed in as --baseline, and
   bad-x.trainer as --trainer-logprobs for bad-x.jsonl. */
#include "tap.h"
#include "verdicts.h"

#include "base/mem.h"
#include "check/baseline.h"
#include "check/trained.h"
#include <dirent.h>
#include <unistd.h>

struct folder {
	const char *id;
	char path[256];
	struct buf want; /* the file as it is */
	struct buf now;  /* the file as it should be */
	struct buf said; /* expect-error.txt */
	struct told told;
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

static bool fires(const struct verdicts *v, const char *id)
{
	char rule[80];
	snprintf(rule, sizeof(rule), "|%s|", id);
	return strstr(buf_cstr(&v->rules), rule) != NULL;
}

/* NULL: no file of that name stands beside it. */
static struct trained *trained_beside(const char *fixture)
{
	char path[600];
	struct error err = {0};
	struct trained *t = NULL;
	snprintf(path, sizeof(path), "%.*s.trainer",
	         (int)(strlen(fixture) - strlen(".jsonl")), fixture);
	if (access(path, F_OK) == 0 &&
	    !ok(trained_read(path, &t, &err) == 0, "%s is read", path))
		fprintf(stderr, "# %s\n", err.text);
	return t;
}

static void judge_fixture(struct folder *f, const char *name)
{
	char path[600], alone[80];
	struct verdicts v;
	struct error err = {0};
	struct told told = f->told;
	snprintf(path, sizeof(path), "%s/%s", f->path, name);
	snprintf(alone, sizeof(alone), "|%s|", f->id);
	told.trained = trained_beside(path);
	verdicts_begin_told(&v, NULL, NULL, told);
	if (!ok(verdicts_file(&v, path, &err) == 0, "%s is read", path))
		fprintf(stderr, "# %s\n", err.text);
	if (strncmp(name, "bad-", 4) == 0) {
		f->bad++;
		is_str(buf_cstr(&v.rules), alone, "%s fires %s and nothing else", path,
		       f->id);
	} else if (strncmp(name, "also-", 5) == 0) {
		ok(fires(&v, f->id), "%s fires %s", path, f->id);
	} else {
		f->good++;
		ok(!fires(&v, f->id), "%s does not fire %s", path, f->id);
	}
	char *want = section(&f->want, name);
	is_str(buf_cstr(&v.text), want, "%s: what is said", path);
	buf_printf(&f->now, "== %s\n%s", name, buf_cstr(&v.text));
	free(want);
	verdicts_end(&v);
	trained_free(told.trained);
}

#define EXPECTED_MAX 8

/* The lines of expect-error.txt, if there is one. */
static void read_told(struct folder *f, const char **errors)
{
	char path[300], *rest = NULL;
	struct error err = {0};
	snprintf(path, sizeof(path), "%s/baseline.jsonl", f->path);
	if (access(path, F_OK) == 0) {
		f->told.baseline = baseline_new();
		ok(baseline_add(f->told.baseline, path, &err) == 0, "%s is read", path);
	}
	snprintf(path, sizeof(path), "%s/expect-error.txt", f->path);
	read_file(path, &f->said);
	f->told.errors = errors;
	for (char *at = f->said.n ? strtok_r(f->said.p, "\n", &rest) : NULL; at;
	     at = strtok_r(NULL, "\n", &rest)) {
		if (f->told.error_count < EXPECTED_MAX)
			errors[f->told.error_count++] = at;
	}
}

static void judge_folder(const char *id)
{
	struct folder f = {.id = id,
	                   .want = BUF(BUF_MAX_MESSAGE),
	                   .now = BUF(BUF_MAX_MESSAGE),
	                   .said = BUF(BUF_MAX_SMALL)};
	const char *errors[EXPECTED_MAX];
	char want[300];
	struct dirent **entries = NULL;
	snprintf(f.path, sizeof(f.path), "fixtures/check/%s", id);
	snprintf(want, sizeof(want), "%s/want.txt", f.path);
	read_file(want, &f.want);
	read_told(&f, errors);
	int n = scandir(f.path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name, *dot = strrchr(name, '.');
		if (strcmp(name, "baseline.jsonl") == 0) {
			free(entries[i]);
			continue;
		}
		bool known = strncmp(name, "bad-", 4) == 0 ||
		             strncmp(name, "good-", 5) == 0 ||
		             strncmp(name, "also-", 5) == 0;
		if (dot && strcmp(dot, ".jsonl") == 0 &&
		    ok(known, "%s has a known name", name))
			judge_fixture(&f, name);
		free(entries[i]);
	}
	free(entries);
	ok(f.bad > 0 && f.good > 0, "%s has bad and good fixtures", f.path);
	FILE *out = getenv("UPDATE_FIXTURES") ? fopen(want, "wb") : NULL;
	if (out) {
		fwrite(f.now.p, 1, f.now.n, out);
		fclose(out);
	}
	buf_release(&f.want);
	buf_release(&f.now);
	buf_release(&f.said);
	baseline_free(f.told.baseline);
}

static void id_to_file(const char *id, char *out, size_t size)
{
	snprintf(out, size, "src/check/%s.c", id);
	for (char *p = out; *p; p++)
		*p = *p == '-' ? '_' : *p;
}

static void has_words(const struct check *c)
{
	char path[256];
	struct buf text = BUF(BUF_MAX_SMALL);
	ok(c->title[0] && strlen(c->title) < 80, "%s: one line of title", c->id);
	ok(strlen(c->why) > 200, "%s: explained", c->id);
	ok(strstr(c->why, "Look") || strstr(c->why, "Compare"), "%s: says where to look",
	   c->id);
	ok(strstr(c->why, "Cure"), "%s: names a cure", c->id);
	unsigned pasts = WANT_PAST | WANT_PAST_FAILED;
	ok(!c->line == !(c->wants & ~pasts), "%s: wants lines and takes them", c->id);
	ok(!c->past == !(c->wants & pasts), "%s: wants the past and takes it", c->id);
	id_to_file(c->id, path, sizeof(path));
	read_file(path, &text);
	ok(text.n > 0, "%s: has its file", c->id);
	is_str(check_find(str_from(c->id)) == c ? c->id : NULL, c->id,
	       "%s: is found by its id", c->id);
	buf_release(&text);
}

/* A file that defines a rule, and a folder of fixtures, must have a row. */
static void has_row(const char *folder, const char *ending)
{
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char id[300], path[600];
		struct buf text = BUF(BUF_MAX_SMALL * 4);
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		snprintf(id, sizeof(id), "%.*s",
		         (int)(strlen(entries[i]->d_name) - strlen(ending)),
		         entries[i]->d_name);
		for (char *p = id; *p; p++)
			*p = *p == '_' ? '-' : *p;
		if (ending[0])
			read_file(path, &text);
		bool is_rule = ending[0] ? strstr(buf_cstr(&text),
		                                  "\nconst struct check check_") != NULL
		                         : entries[i]->d_name[0] != '.';
		if (is_rule)
			ok(check_find(str_from(id)) != NULL,
			   "%s belongs to a rule with a row", path);
		buf_release(&text);
		free(entries[i]);
	}
	free(entries);
}

int main(void)
{
	for (size_t i = 0; i < checks_count; i++) {
		has_words(checks[i]);
		judge_folder(checks[i]->id);
	}
	has_row("src/check", ".c");
	has_row("fixtures/check", "");
	ok(check_find(STR("no-such-rule")) == NULL, "an unknown id is not found");
	return done();
}
