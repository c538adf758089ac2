/* The effect of each step, and whether the state is informative. */
#include "evidence/verdict.h"

#include "evidence/rollout_facts.h"
#include "observed.h"
#include "tap.h"

#define STEPS_MAX 8

/* Steps: "." answered, "F" failed, "X" failed as expected, "i" answered and read-only, "o" answered
   outside the episode. Wanted: "c" changed, "u" unchanged, "?" unknown, "n" counts or echoes only;
   then " informative" if the state is; `named`: the user chose its source. */
struct row {
	const char *name;
	bool named;
	const char *readings, *steps, *wanted;
};

#define N(n) "{\"n\":" #n "}|"

static const struct row rows[] = {
	{"effects", false, "1 > 5 > 2", "..", "cc informative"},
	{"an effect makes the state informative", false, "1 > 5 > 5", "..", "cu informative"},
	{"also one that comes later", false, "1 > 1 > 5", "..", "uc informative"},
	{"nothing changed", false, "1 > 1 > 1", "..", "??"},
	{"in a source that was named", true, "1 > 1 > 1", "..", "uu informative"},
	{"in a state that names what calls act on", false,
         "{\"lamp\":0} > {\"of\":\"lamp\"}|{\"lamp\":0} > {\"of\":\"door\"}|{\"lamp\":0}", "..",
         "uu informative"},
	{"no reading", true, "? > ? > ?", "..", "??"},
	{"an unknown reading", true, "1 > ? > 5 > 5", "...", "??u informative"},
	{"a count, answered", false, "1 > 2 > 3 > 4", "...", "nnn"},
	{"a count, failed", false, "1 > 2 > 3 > 4", "FFF", "???"},
	{"a count, failed, in a source that was named", true, "1 > 2 > 3 > 4", "FFF",
         "uuu informative"},
	{"a count, failed as expected", true, "1 > 2 > 3 > 4", "..X", "nnu informative"},
	{"a count beside an effect", false,
         "{\"a\":1,\"b\":1} > {\"a\":2,\"b\":1} > {\"a\":3,\"b\":9} > {\"a\":4,\"b\":9}", "...",
         "ncn informative"},
	{"an echo", false, "0 > " N(4) "4 > " N(9) "9", "..", "nn"},
	{"bookkeeping", true, "{\"steps\":0} > {\"steps\":1}", ".", "u informative"},
	{"bookkeeping of a source that was not named", false, "{\"steps\":0} > {\"steps\":1}", ".",
         "?"},
	{"volatile", true, "{\"x\":0} > {\"x\":1} > ={\"x\":2} > {\"x\":2}", "..",
         "?u informative"},
	{"a failed step with an effect", false, "1 > 5", "F", "c informative"},
	{"a read-only one", true, "1 > 1", "i", "u informative"},
	{"an empty object is a state", true, "{} > {}", ".", "u informative"},
};

static size_t put_steps(const char *kinds, struct completed_step steps[STEPS_MAX])
{
	size_t n = 0;

	for (; kinds[n]; n++) {
		steps[n] = (struct completed_step){.trial = (int64_t)n,
		                                   .failed = kinds[n] == 'F',
		                                   .expected = kinds[n] == 'X',
		                                   .idle = kinds[n] == 'i',
		                                   .outside_episode = kinds[n] == 'o'};
	}
	return n;
}

static char effect_letter(const struct completed_step *p)
{
	return p->effect == EFFECT_CHANGED     ? 'c'
	       : p->effect == EFFECT_UNCHANGED ? 'u'
	       : p->counted                    ? 'n'
	                                       : '?';
}

static void decide(const struct row *r, struct verdict *v, char *out, size_t size)
{
	struct series s = {.has_last = false};
	struct completed_step steps[STEPS_MAX];
	size_t n = put_steps(r->steps, steps);
	struct explaining e = {.names = true};

	observe(&s, r->readings);
	ok(s.trial_count == n, "%s: %zu steps", r->name, n);
	verdict_decide(v, &s,
	               &(struct deciding){
			       .explaining = &e, .named = r->named, .steps = steps, .count = n});
	for (size_t i = 0; i < n; i++)
		out[i] = effect_letter(&steps[i]);
	snprintf(out + n, size - n, "%s", v->informative ? " informative" : "");
	series_release(&s);
}

static void test_rows(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct verdict v;
		char out[64];

		decide(&rows[i], &v, out, sizeof(out));
		is_str(out, rows[i].wanted, "%s", rows[i].name);
	}
}

/* Only answered calls that act within the episode are counted. */
static void test_sums(void)
{
	const struct row r = {"sums", true, "1 > 5 > 5 > ? > 5 > 5 > 7", ".i.Fo.", ""};
	struct verdict v;
	char out[64];

	decide(&r, &v, out, sizeof(out));
	is_str(out, "cu??uc informative", "their effects");
	is_int(v.acting, 3, "acting");
	is_int(v.moved, 2, "moved");
	is_int(v.unknown, 1, "unknown");
	is_int(v.still + v.counted, 0, "none stood still");
}

/* What seemed a change while the rollout ran turned out to be a count. */
static void test_revised(void)
{
	struct series s = {.has_last = false};
	struct completed_step steps[STEPS_MAX];
	struct explaining e = {.names = true};
	struct verdict v;

	observe(&s, "1 > 2 > 3");
	ok(explain_newest(&s, &e), "a change, as far as is known");
	put_steps("...", steps);
	observe(&s, "3 > 4");
	steps[0].effect = steps[1].effect = EFFECT_CHANGED;
	verdict_decide(&v, &s, &(struct deciding){.explaining = &e, .steps = steps, .count = 3});
	is_int(v.revised, 2, "two of three were revised");
	const struct member *m = verdict_aside(&s);
	ok(m && m->explanation == MEMBER_COUNT, "the member is a count");
	series_release(&s);
}

int main(void)
{
	test_rows();
	test_sums();
	test_revised();
	return done();
}
