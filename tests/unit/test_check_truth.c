/* The counters and the precision of error findings on public episodes, with the truth
   counted by another program: $ROLLDBG_SHARED/recordings/rolldbg (default ../shared).
   Skipped if it is absent. */
#include "tap.h"
#include "verdicts.h"

#include "base/text.h"

struct truth {
	char file[64], rollout[160];
	bool success;
	int64_t turns, steps, failed, longest_run;
	char effective[16];
};

struct comparison {
	struct truth *rows;
	size_t count, judged, wrong;
	const char *file;
	size_t errors, errors_on_success, airline_errors;
};

static bool read_row(char *text, struct truth *t)
{
	char *field[8];

	for (size_t i = 0; i < ARRAY_LEN(field); i++) {
		field[i] = text;
		char *tab = strpbrk(text, "\t\n");
		if (!tab)
			return false;
		*tab = '\0';
		text = tab + 1;
	}
	snprintf(t->file, sizeof(t->file), "%s", field[0]);
	snprintf(t->rollout, sizeof(t->rollout), "%s", field[1]);
	t->success = field[2][0] == '1';
	snprintf(t->effective, sizeof(t->effective), "%s", field[7]);
	return text_i64(str_from(field[3]), &t->turns) && text_i64(str_from(field[4]), &t->steps) &&
	       text_i64(str_from(field[5]), &t->failed) &&
	       text_i64(str_from(field[6]), &t->longest_run);
}

static bool read_truth(const char *directory, struct comparison *c)
{
	char path[600], line[1024];

	snprintf(path, sizeof(path), "%s/truth.tsv", directory);
	FILE *f = fopen(path, "r");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		c->rows = mem_resize(c->rows, c->count + 1, sizeof(*c->rows));
		c->count += strncmp(line, "file\t", 5) != 0 && read_row(line, &c->rows[c->count]);
	}
	fclose(f);
	return true;
}

static const struct truth *find(const struct comparison *c, struct str rollout)
{
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->rows[i].file, c->file) == 0 && str_is(rollout, c->rows[i].rollout))
			return &c->rows[i];
	return NULL;
}

static bool same(const struct truth *want, const struct counters *got)
{
	char effective[32] = "-";

	if (got->effective >= 0)
		snprintf(effective, sizeof(effective), "%" PRId64, got->effective);
	return got->turns == want->turns && got->steps == want->steps &&
	       got->failed == want->failed && got->longest_failed_run == want->longest_run &&
	       strcmp(effective, want->effective) == 0;
}

static void compare(void *ctx, const struct rollout_verdict *v)
{
	struct comparison *c = ctx;

	if (!v->rollout.p) /* about the group of a task */
		return;
	const struct truth *want = find(c, v->rollout);
	bool error = v->finding_count > 0 && v->findings[0].severity == SEVERITY_ERROR;
	c->judged++;
	if (!want || !same(want, &v->counters)) {
		c->wrong++;
		fprintf(stderr, "# %s: counters differ in %.*s\n", c->file, STR_ARG(v->rollout));
	}
	if (!want || !error)
		return;
	c->errors++;
	c->errors_on_success += want->success;
	c->airline_errors += want->success && strcmp(c->file, "tau-airline.jsonl") == 0;
}

static void compare_recording(struct comparison *c, const char *directory, const char *file)
{
	char path[600];
	struct verdicts v = {.text = BUF(BUF_MAX_SMALL), .rules = BUF(BUF_MAX_SMALL)};
	struct judge_conf conf = {.verdict = compare, .ctx = c};
	struct error err = {0};

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	c->file = file;
	int failed = judge_new(&conf, &v.judge, &err) || verdicts_file(&v, path, &err);
	if (!ok(!failed, "%s is read", file))
		fprintf(stderr, "# %s\n", err.text);
	verdicts_end(&v);
}

int main(void)
{
	char directory[512];
	const char *shared = getenv("ROLLDBG_SHARED");
	struct comparison c = {0};

	snprintf(directory, sizeof(directory), "%s/recordings/rolldbg",
	         shared ? shared : "../shared");
	if (!read_truth(directory, &c)) {
		skip("no shared recordings");
		return done();
	}
	compare_recording(&c, directory, "intercode.jsonl");
	compare_recording(&c, directory, "tau-airline.jsonl");
	is_int(c.judged, c.count, "every rollout got its verdict");
	is_int(c.wrong, 0, "every counter is exact");
	ok(c.errors > 100, "error findings: %zu rollouts", c.errors);
	ok(100 * c.errors_on_success <= 4 * c.errors, "%zu of them succeeded", c.errors_on_success);
	is_int(c.airline_errors, 0, "no successful airline episode has an error finding");
	free(c.rows);
	return done();
}
