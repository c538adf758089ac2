/* A trainer's log-probabilities: reading the file, and the sums over ratios. */
#include "tap.h"

#include "recording/logprobs.h"
#include "recording/trained.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/trained.XXXXXX";

static int read_text(const char *text, struct trained **out, struct error *err)
{
	FILE *f = fopen(path, "wb");

	*out = NULL;
	fputs(text, f);
	fclose(f);
	return trained_read(path, out, err);
}

static const struct {
	const char *what, *text, *error; /* after the path */
} bad[] = {
	{"nothing", "", ": contains no log-probabilities"},
	{"only blank lines", "\n\r\n \n", ": contains no log-probabilities"},
	{"no JSON", "{\"rollout\":\"a\",\"turn\":0,\"logprobs\":[NaN]}", ":1: "},
	{"no object", "\n[1]\n", ":2: \"rollout\" is missing or not a string"},
	{"no turn", "{\"rollout\":\"a\",\"logprobs\":[]}", ":1: \"turn\" is missing"},
	{"a turn before the first", "{\"rollout\":\"a\",\"turn\":-1,\"logprobs\":[]}",
         ":1: \"turn\" is missing"},
	{"half a turn", "{\"rollout\":\"a\",\"turn\":0.5,\"logprobs\":[]}",
         ":1: \"turn\" is missing"},
	{"no list", "{\"rollout\":\"a\",\"turn\":0,\"logprobs\":{}}",
         ":1: \"logprobs\" is an object, not an array"},
	{"a null in it", "{\"rollout\":\"a\",\"turn\":0,\"logprobs\":[-1,null]}",
         ":1: \"logprobs\": the value at 1 is not a number"},
	{"a turn twice",
         "{\"rollout\":\"a\",\"turn\":0,\"logprobs\":[]}\n"
         "{\"rollout\":\"b\",\"turn\":0,\"logprobs\":[]}\n"
         "{\"rollout\":\"\\u0061\",\"turn\":0,\"logprobs\":[]}\n",
         ":3: duplicate of turn 0 in line 1"},
};

static void refuses(void)
{
	struct trained *t;
	struct error err;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		err = (struct error){0};
		ok(read_text(bad[i].text, &t, &err) == -1 && err.kind == FAIL_INPUT &&
		           strstr(err.text, path) && strstr(err.text, bad[i].error),
		   "%s: %s", bad[i].what, err.text);
	}
	ok(trained_read("/nowhere/at/all", &t, &err) == -1 && err.kind == FAIL_INPUT,
	   "a file that is not there");
	ok(trained_read("/", &t, &err) == -1 && err.kind == FAIL_INPUT, "a directory");
}

static void reads(void)
{
	struct trained *t;
	struct error err = {0};
	struct buf text = BUF(BUF_MAX_MESSAGE);

	for (int i = 0; i < 1000; i++) {
		buf_printf(&text,
		           "{\"rollout\":\"r%d\",\"turn\":%d,\"step\":1,\"logprobs\":[-%d,"
		           "-0.5]}%s",
		           i / 10, i % 10, i, i < 999 ? "\r\n" : "");
	}
	ok(read_text(buf_cstr(&text), &t, &err) == 0, "a thousand turns are read");
	struct trained_turn *one = trained_find(t, STR("r99"), 9);
	ok(one && one->count == 2 && one->logprobs[0] == -999 && one->line == 1000,
	   "the last one, without a line feed");
	ok(!trained_find(t, STR("r99"), 10) && !trained_find(t, STR("r100"), 0),
	   "others are not there");
	one->uses = 2;
	trained_find(t, STR("r0"), 0)->uses = 1;
	struct trained_use use = trained_use(t);
	ok(use.turns == 1000 && use.unused == 998 && use.several == 1, "uses are counted");
	trained_free(t);
	buf_release(&text);
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-12;
}

static void sums(void)
{
	struct ratios r = {.tokens = 0}, other = {.tokens = 0}, far = {.tokens = 0};

	ok(ratios_means(&r).k1 == 0 && ratios_means(&r).ess == 0 &&
	           !ratios_means(&r).out_of_range && !ratios_means(&r).shifted,
	   "without values no metric is reported");
	ratios_add(&r, 0, log(0.5), log(0.25)); /* lr = ln 2 */
	ratios_add(&other, 1, log(0.25), log(0.5));
	ratios_merge(&r, &other);
	ok(near(ratios_means(&r).k1, 0), "k1 of one up and one down");
	ok(near(ratios_means(&r).k3, 0.25), "k3: (2 - 1 - ln 2 + 0.5 - 1 + ln 2) / 2");
	ok(near(ratios_means(&r).weight, 1.25), "the mean of 2 and a half");
	ok(near(ratios_means(&r).ess, 1.25 * 1.25 / 2.125), "ess");
	ok(near(ratios_means(&r).distance, 0.25), "the distance of probabilities");
	ok(ratios_means(&r).out_of_range, "k3 is out of range by itself");
	ratios_add(&far, 0, -1e6, -0.1);
	ok(near(ratios_means(&far).k1, 20), "lr is bounded");
}

static void shifts(void)
{
	struct ratios begin = {.tokens = 0}, even = {.tokens = 0}, brief = {.tokens = 0};

	for (size_t i = 0; i < 40; i++) {
		ratios_add(&begin, i, i < RATIOS_FIRST ? -1.4 : -1, -1);
		ratios_add(&even, i, -1.4, -1);
		if (i < RATIOS_FIRST)
			ratios_add(&brief, i, -1.4, -1);
	}
	ok(ratios_means(&begin).shifted, "beginnings that are wrong");
	ok(!ratios_means(&begin).out_of_range, "though the mean is within the band");
	ok(!ratios_means(&even).shifted && ratios_means(&even).out_of_range,
	   "wrong everywhere alike");
	ok(!ratios_means(&brief).shifted, "no tokens after the beginning to compare with");
}

static void check_logprobs(void)
{
	struct logprob_walk w = {.logprobs =
	                                 STR("{\"content\":[{\"logprob\":-1},{},"
	                                     "{\"logprob\":-9999.0}],\"token_logprobs\":[-2]}")};
	double v[3];

	ok(logprob_next(&w, &v[0]) && logprob_next(&w, &v[1]) && logprob_next(&w, &v[2]) &&
	           !logprob_next(&w, &v[0]),
	   "three of them");
	ok(v[0] == -1 && isnan(v[1]) && isnan(v[2]), "one a value, two none");
	w = (struct logprob_walk){.logprobs = STR("{\"token_logprobs\":[-2]}")};
	ok(logprob_next(&w, &v[0]) && v[0] == -2 && !logprob_next(&w, &v[0]), "the older shape");
	w = (struct logprob_walk){.logprobs = STR("null")};
	ok(!logprob_next(&w, &v[0]), "none");
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	refuses();
	reads();
	sums();
	shifts();
	check_logprobs();
	unlink(path);
	return done();
}
