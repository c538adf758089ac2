/* Alignment against a reference implementation, and the differences between two rollouts.
   */
#include "compare/compare.h"

#include "base/rng.h"
#include "compare/align.h"
#include "tap.h"

#include <stdlib.h>

#define LONGEST 24

/* The length of the longest common subsequence, by the textbook algorithm. */
static size_t common(const uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
	size_t table[LONGEST + 1][LONGEST + 1] = {{0}};

	for (size_t i = 1; i <= n; i++) {
		for (size_t j = 1; j <= m; j++) {
			size_t left = table[i - 1][j], up = table[i][j - 1];

			table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1
			              : left > up          ? left
			                                   : up;
		}
	}
	return table[n][m];
}

/* Checks that every element occurs once, in order; returns the number of pairs, or LONGEST
   + 1 on an error. */
static size_t pairs_of(const uint64_t *a, size_t n, const uint64_t *b, size_t m,
                       const struct aligned *list, size_t count)
{
	size_t x = 0, y = 0, pairs = 0;

	for (size_t i = 0; i < count; i++) {
		bool first = list[i].kind != ALIGN_SECOND, second = list[i].kind != ALIGN_FIRST;

		if (list[i].first != x || list[i].second != y || (first && second && a[x] != b[y]))
			return LONGEST + 1;
		x += first;
		y += second;
		pairs += first && second;
	}
	return x == n && y == m ? pairs : LONGEST + 1;
}

static void random_sequences(void)
{
	struct rng rng;
	int wrong = 0;

	rng_seed(&rng, 11, 1);
	for (int round = 0; round < 3000; round++) {
		uint64_t a[LONGEST], b[LONGEST];
		struct aligned list[2 * LONGEST];
		size_t n = rng_below(&rng, LONGEST + 1), m = rng_below(&rng, LONGEST + 1);
		uint32_t letters = 1 + rng_below(&rng, 6);

		for (size_t i = 0; i < LONGEST; i++) {
			a[i] = rng_below(&rng, letters);
			b[i] = rng_below(&rng, letters);
		}
		size_t count = align(a, n, b, m, list);
		wrong += pairs_of(a, n, b, m, list, count) != common(a, n, b, m);
	}
	is_int(wrong, 0, "3000 alignments are valid and as long as any can be");
}

static void too_different(void)
{
	size_t n = ALIGN_MAX + 10;
	uint64_t *a = mem_array(2 * n, sizeof(*a)), *b = a + n;
	struct aligned *list = mem_array(2 * n, sizeof(*list));

	for (size_t i = 0; i < n; i++) {
		a[i] = i;
		b[i] = i + (i > 2 && i < n - 3 ? n : 0);
	}
	size_t count = align(a, n, b, n, list);
	is_int(count, 2 * n - 6, "beyond the cap only the equal beginning and end are pairs");
	ok(list[2].kind == ALIGN_BOTH && list[3].kind == ALIGN_FIRST &&
	           list[count - 4].kind == ALIGN_SECOND && list[count - 3].kind == ALIGN_BOTH,
	   "and all between them is different");
	free(list);
	free(a);
}

/* ---- rollouts ---- */

#define HEADER                                                                                     \
	"{\"type\":\"header\",\"rollout\":\"r\",\"format\":\"rolldbg\",\"version\":1,\"seed\":1,"  \
	"\"masks\":[\"/observation/when\"]}"
#define STEP(n, action, state, observation, reward)                                                \
	"{\"type\":\"step\",\"rollout\":\"r\",\"turn\":" n ",\"step\":" n ",\"state\":" state      \
	",\"tool_call\":{\"id\":\"c" n "\",\"name\":\"move\",\"arguments\":{\"a\":\"" action       \
	"\"}},"                                                                                    \
	"\"observation\":" observation ",\"outcome\":\"ok\",\"reward\":" reward "}"
#define END                                                                                        \
	"{\"type\":\"end\",\"rollout\":\"r\",\"status\":\"finished\",\"total_reward\":1,"          \
	"\"state\":{\"p\":2}}"

static void make(struct rollout_copy *c, const char *text)
{
	struct strip *strip;
	struct buf scratch = BUF(BUF_MAX_SMALL);
	struct error err;

	if (strip_new(NULL, 0, &strip, &err))
		abort();
	while (*text) {
		size_t n = strcspn(text, "\n"), used;
		struct line l;

		if (line_parse((struct str){text, n}, &scratch, &l, &used, &err) ||
		    rollout_copy_add(c, strip, &l, &err)) {
			fprintf(stderr, "# %s\n", err.text);
			abort();
		}
		text += n + (text[n] == '\n');
	}
	buf_release(&scratch);
	strip_free(strip);
}

static void note(void *ctx, const struct difference *d)
{
	struct buf *out = ctx;

	buf_printf(out, "%s", difference_kind_name(d->kind));
	if (d->line && d->line->type == LINE_STEP)
		buf_printf(out, " %lld", (long long)d->line->step);
	buf_printf(out, " %.*s", STR_ARG(d->pointer));
	if (d->expected.n < 40 && d->got.n < 40)
		buf_printf(out, " %.*s -> %.*s", STR_ARG(d->expected), STR_ARG(d->got));
	buf_char(out, '\n');
}

static const struct tolerance near[] = {{"/observation/x", 0.1}, {"/state/*/y", 1}};

static const struct {
	const char *name, *first, *second, *want;
} cases[] = {
	{"the same", HEADER "\n" STEP("0", "L", "{\"p\":1}", "1", "0") "\n" END,
         HEADER "\n" STEP("0", "L", "{\"p\":1}", "1", "0") "\n" END, ""},
	{"members by pointer, in JSON that a string holds too",
         STEP("0", "L", "{\"p\":1,\"q\":[1,2]}", "\"{\\\"a\\\":1}\"", "0"),
         STEP("0", "L", "{\"p\":2,\"q\":[1,3]}", "\"{\\\"a\\\":2}\"", "1"),
         "changed 0 /state/p 1 -> 2\nchanged 0 /state/q/1 2 -> 3\n"
         "changed 0 /observation/a 1 -> 2\nchanged 0 /reward 0 -> 1\n"},
	{"added and removed", STEP("0", "L", "{\"p\":1}", "1", "0"),
         STEP("0", "L", "{\"q\":1}", "1", "0"),
         "removed 0 /state/p 1 -> \nadded 0 /state/q  -> 1\n"},
	{"a number spelled differently", STEP("0", "L", "1.0", "100", "0"),
         STEP("0", "L", "1", "1e2", "0.0"), ""},
	{"integers that no double tells apart", STEP("0", "L", "9007199254740993", "1", "0"),
         STEP("0", "L", "9007199254740992", "1", "0"),
         "changed 0 /state 9007199254740993 -> 9007199254740992\n"},
	{"within the tolerance, and beyond it",
         STEP("0", "L", "{\"a\":{\"y\":1},\"b\":{\"y\":1}}", "{\"x\":1.0}", "0"),
         STEP("0", "L", "{\"a\":{\"y\":2},\"b\":{\"y\":3}}", "{\"x\":1.05}", "0"),
         "changed 0 /state/b/y 1 -> 3\n"},
	{"a step put in is one difference",
         STEP("0", "L", "1", "1", "0") "\n" STEP("1", "R", "2", "1", "0"),
         STEP("0", "L", "1", "1", "0") "\n" STEP("1", "U", "2", "1", "0") "\n" STEP("2", "R", "2",
                                                                                    "1", "0"),
         "extra-step 1 \n"},
	{"a step left out",
         STEP("0", "L", "1", "1", "0") "\n" STEP("1", "U", "1", "1", "0") "\n" STEP("2", "R", "2",
                                                                                    "1", "0"),
         STEP("0", "L", "1", "1", "0") "\n" STEP("1", "R", "2", "1", "0"), "missing-step 1 \n"},
	{"what the header masks is equal", HEADER "\n" STEP("0", "L", "1", "{\"when\":1}", "0"),
         HEADER "\n" STEP("0", "L", "1", "{\"when\":2}", "0"), ""},
	{"a missing end", HEADER "\n" END, HEADER, "removed \n"},
};

static void rollouts(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rollout_copy a = {.count = 0}, b = {.count = 0};
		struct buf got = BUF(BUF_MAX_MESSAGE);
		struct compare_count count = {.rollouts = 0};
		const struct compare_conf conf = {.header = true,
		                                  .tolerances = near,
		                                  .tolerance_count = ARRAY_LEN(near),
		                                  .take = note,
		                                  .ctx = &got};

		make(&a, cases[i].first);
		make(&b, cases[i].second);
		compare_rollouts(&a, &b, &conf, &count);
		/* values of a whole line are not repeated here */
		is_str(buf_cstr(&got), cases[i].want, "%s", cases[i].name);
		is_int(count.different, *cases[i].want != '\0', "%s: counted", cases[i].name);
		rollout_copy_release(&a);
		rollout_copy_release(&b);
		buf_release(&got);
	}
}

int main(void)
{
	random_sequences();
	too_different();
	rollouts();
	return done();
}
