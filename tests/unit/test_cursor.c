/* The debugger's position in a recording: every movement agrees with reading from the
   start, in files of any form: interleaved, torn, without an end, longer than the index has
   marks. */
#include "debug/cursor.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

static void write_step(FILE *f, const char *rollout, int n, int position)
{
	fprintf(f,
	        "{\"type\":\"step\",\"rollout\":\"%s\",\"turn\":%d,\"step\":%d,\"state\":{\"p\":%d},"
	        "\"state_hash\":\"%d\",\"tool_call\":{\"name\":\"t\",\"arguments\":{}},"
	        "\"outcome\":\"ok\"}\n",
	        rollout, n / 2, n, position, position);
}

static void write_header(FILE *f, const char *rollout)
{
	fprintf(f,
	        "{\"type\":\"header\",\"rollout\":\"%s\",\"format\":\"rolldbg\",\"version\":1,"
	        "\"state_source\":{\"kind\":\"tool\"}}\n"
	        "{\"type\":\"reset\",\"rollout\":\"%s\",\"outcome\":\"ok\"}\n",
	        rollout, rollout);
}

/* Two rollouts, line by line; "a" has `steps` steps and, unless torn, an end. */
static char *recording(int steps, bool torn)
{
	char *path = strdup("/tmp/rolldbg-cursor-XXXXXX");
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	write_header(f, "a");
	write_header(f, "b");
	for (int i = 0; i < steps; i++) {
		write_step(f, "a", i, i % 7);
		if (i % 3 == 0)
			write_step(f, "b", i / 3, 0);
		if (i % 5 == 0) {
			fputs("{\"type\":\"event\",\"rollout\":\"a\",\"turn\":0,\"event\":\"noise\"}\n",
			      f);
		}
	}
	fputs(torn ? "{\"type\":\"end\",\"rollout\":\"a\",\"sta"
	           : "{\"type\":\"end\",\"rollout\":\"a\",\"status\":\"finished\",\"state\":{\"p\":99},"
	             "\"state_hash\":\"99\"}\n",
	      f);
	fclose(f);
	return path;
}

static struct cursor *opened(const char *path, const char *rollout)
{
	const struct cursor_conf conf = {.path = path, .rollout = rollout};
	struct error err;
	struct cursor *c = NULL;

	if (cursor_open(&conf, &c, &err))
		tap_note("cannot open", err.text);
	return c;
}

/* Is the cursor on that step of "a", with the state after it? */
static bool is_at(const struct cursor *c, int64_t position, int steps, bool torn)
{
	const struct moment *m = cursor_now(c);
	char after[32];

	if (m->position != position || (position && m->line->step != position - 1))
		return false;
	snprintf(after, sizeof(after), "{\"p\":%d}", position == steps ? 99 : (int)position % 7);
	if (position == steps && torn)
		return m->is_last && !m->after.p;
	return m->is_last == (position == steps) && str_is(m->after, after) &&
	       (position == 0 || !json_is_null(m->line->value[KEY_STATE]));
}

static void test_moving(int steps, bool torn)
{
	char *path = recording(steps, torn);
	struct cursor *c = opened(path, NULL);
	struct error err;
	unsigned wrong = 0, x = 1;

	ok(is_at(c, 0, steps, torn), "%d steps: it begins before the first", steps);
	for (int64_t p = 1; p <= steps; p++)
		wrong += cursor_go(c, p, &err) != 1 || !is_at(c, p, steps, torn);
	is_int(wrong, 0, "%d steps: one by one", steps);
	is_int(cursor_go(c, steps + 1, &err), 0, "no step after the last one");
	ok(is_at(c, steps, steps, torn), "and it stays");
	for (int64_t p = steps; p-- > (steps > 300 ? steps - 300 : 0);)
		wrong += cursor_go(c, p, &err) != 1 || !is_at(c, p, steps, torn);
	is_int(wrong, 0, "back again");
	for (int i = 0; i < 300; i++) {
		x = x * 1103515245U + 12345U;
		int64_t step = x / 65536 % (unsigned)steps;

		wrong += cursor_find(c, false, step, &err) != 1 || !is_at(c, step + 1, steps, torn);
	}
	is_int(wrong, 0, "and to any step");
	is_int(cursor_find(c, true, steps / 4, &err), 1, "a turn is found");
	is_int(cursor_now(c)->line->step, steps / 4 * 2, "at its first step");
	is_int(cursor_find(c, false, steps, &err), 0, "no step after the last");
	is_int(cursor_facts(c)->torn, torn, "it detects a truncated file");
	cursor_close(c);

	c = opened(path, NULL);
	is_int(cursor_find(c, false, steps - 1, &err), 1, "many steps at once");
	ok(is_at(c, steps, steps, torn), "to the last step");
	cursor_close(c);
	unlink(path);
	free(path);
}

static int is_multiple(void *ctx, const struct moment *m, struct error *err)
{
	const int *of = ctx;

	(void)err;
	return m->line->step % *of == 0;
}

static void test_searching(void)
{
	const int steps = 20000;
	char *path = recording(steps, false);
	struct cursor *c = opened(path, NULL);
	struct error err;
	int of = 4999;

	is_int(cursor_go(c, 1, &err), 1, "from the first step");
	is_int(cursor_search(c, false, is_multiple, &of, &err), 1, "forwards there is one");
	is_int(cursor_now(c)->line->step, 4999, "the next");
	is_int(cursor_search(c, false, is_multiple, &of, &err), 1, "and the next one");
	is_int(cursor_now(c)->line->step, 9998, "after it");
	is_int(cursor_search(c, true, is_multiple, &of, &err), 1, "backwards there is one");
	is_int(cursor_now(c)->line->step, 4999, "the previous");
	is_int(cursor_search(c, false, is_multiple, &of, &err), 1, "over known ground, too");
	is_int(cursor_now(c)->line->step, 9998, "the next");
	of = 100000;
	is_int(cursor_search(c, false, is_multiple, &of, &err), 0, "none");
	is_int(cursor_now(c)->position, steps, "then it is on the last step");
	is_int(cursor_search(c, true, is_multiple, &of, &err), 1, "step 0 is a multiple");
	is_int(cursor_now(c)->position, 1, "of anything");
	is_int(cursor_search(c, true, is_multiple, &of, &err), 0, "none before it");
	is_int(cursor_now(c)->position, 0, "then it is at the start");
	cursor_close(c);
	unlink(path);
	free(path);
}

/* The cursor's effects are those that check counts. */
static void test_effects(void)
{
	char *path = recording(50, false);
	struct cursor *c = opened(path, "a");
	struct error err;

	ok(!cursor_go(c, 51, &err) && cursor_go(c, 3, &err) == 1, "back to the third");
	is_int(cursor_now(c)->effect, EFFECT_CHANGED, "which changed the state");
	cursor_close(c);
	c = opened(path, "b");
	ok(cursor_go(c, 3, &err) == 1 && cursor_go(c, 2, &err) == 1, "a different rollout");
	is_int(cursor_now(c)->effect, EFFECT_UNCHANGED, "whose steps do not");
	ok(cursor_facts(c)->others, "the file has other rollouts");
	cursor_close(c);
	unlink(path);
	free(path);
}

static void test_growing(void)
{
	char *path = recording(3, true);
	struct cursor *c;
	struct error err;
	FILE *f;

	ok(!truncate(path, 0), "a file to grow");
	f = fopen(path, "a");
	write_header(f, "a");
	write_step(f, "a", 0, 0);
	fflush(f);
	c = opened(path, NULL);
	is_int(cursor_go(c, 1, &err), 1, "a step at the end of the lines");
	ok(cursor_now(c)->is_last && !cursor_now(c)->after.p, "is the last so far");
	is_int(cursor_go(c, 2, &err), 0, "there are no more steps");
	write_step(f, "a", 1, 1);
	fclose(f);
	is_int(cursor_go(c, 2, &err), 1, "until it is written");
	is_int(cursor_go(c, 1, &err), 1, "and the first");
	ok(!cursor_now(c)->is_last && str_is(cursor_now(c)->after, "{\"p\":1}"),
	   "its lines are complete");
	cursor_close(c);
	unlink(path);
	free(path);
}

static void test_refused(void)
{
	const struct cursor_conf nowhere = {.path = "/nowhere.jsonl"};
	char *path = recording(3, false);
	const struct cursor_conf nobody = {.path = path, .rollout = "nobody"};
	struct cursor *c;
	struct error err;

	ok(cursor_open(&nowhere, &c, &err) && err.kind == FAIL_INPUT, "no such file");
	ok(cursor_open(&nobody, &c, &err) && err.kind == FAIL_USAGE, "no such rollout");
	is_str(err.text, "the recording has no rollout 'nobody'; available: a, b",
	       "which there are");
	unlink(path);
	free(path);
}

int main(void)
{
	test_moving(1, false);
	test_moving(40, false);
	test_moving(40, true);
	test_moving(20001, false);
	test_searching();
	test_effects();
	test_growing();
	test_refused();
	return done();
}
