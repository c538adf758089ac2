/* Pairs of recordings, and the options that replay proposes for them. */
#include "compare/proposals.h"

#include "cmd/options/compare_options.h"
#include "json_cases.h"
#include "tap.h"

#define STEP(n)                                                                                    \
	"{\"type\":\"step\",\"rollout\":\"r\",\"turn\":" n ",\"step\":" n                          \
	",\"tool_call\":{\"id\":\"c" n "\",\"name\":\"look\",\"arguments\":{}},"

static void take(struct rollout_copy *c, struct strip *strip, const char *text)
{
	struct buf scratch = BUF(BUF_MAX_SMALL);
	struct error err;

	while (*text) {
		size_t n = strcspn(text, "\n"), used;
		struct line l;

		if (line_parse((struct str){text, n}, &scratch, &l, &used, &err) ||
		    rollout_copy_add(c, strip, &l, &err)) {
			fprintf(stderr, "# %s: %s\n", err.text, text);
			abort();
		}
		text += n + 1;
	}
	buf_release(&scratch);
}

/* A rollout of two steps; `members` are added to the second one. */
static struct rollout_copy make(const char *members)
{
	struct rollout_copy c = {.count = 0};
	struct buf text = BUF(BUF_MAX_SMALL);
	struct strip *strip;
	struct error err;

	if (strip_new(NULL, 0, &strip, &err))
		abort();
	buf_printf(&text,
	           "{\"type\":\"header\",\"rollout\":\"r\",\"format\":\"rolldbg\",\"version\":1}\n"
	           "{\"type\":\"reset\",\"rollout\":\"r\",\"outcome\":\"ok\"}\n" STEP(
			   "0") "\"outcome\":\"ok\"}\n" STEP("1") "%s%s}\n",
	           strstr(members, "outcome") ? "" : "\"outcome\":\"ok\",", members);
	take(&c, strip, buf_cstr(&text));
	strip_free(strip);
	buf_release(&text);
	return c;
}

static const struct compare_conf conf = {.replayed = true};

static void put_expected(struct buf *out, const char *proposed)
{
	if (*proposed == '?') {
		buf_printf(out,
		           "unstable or changed: %s (no mask is proposed for numbers and texts; "
		           "mask what differs between two replays of the same environment, too)",
		           proposed + 2);
	} else if (*proposed) {
		buf_printf(out, "if that may differ from run to run: %s", proposed);
	}
}

static void vectors(void)
{
	struct cases c;

	cases_open(&c, "tests/vectors/proposals.test");
	while (cases_next(&c)) {
		struct rollout_copy a = make(buf_cstr(&c.bytes[0])),
				    b = make(buf_cstr(&c.bytes[1]));
		struct buf got = BUF(BUF_MAX_SMALL), want = BUF(BUF_MAX_SMALL);
		struct proposals p = {.count = 0};

		proposals_find(&p, &a, &b, &conf);
		proposals_say(&p, &got);
		put_expected(&want, buf_cstr(&c.bytes[2]));
		is_str(buf_cstr(&got), buf_cstr(&want), "line %d", c.number);
		proposals_release(&p);
		buf_release(&got);
		buf_release(&want);
		rollout_copy_release(&a);
		rollout_copy_release(&b);
	}
	cases_close(&c);
}

static void several_rollouts(void)
{
	struct proposed items[] = {{PROPOSE_MASK, "/state/t", 0}, {PROPOSE_TOLERANCE, "/x", -9}};
	struct proposals more = {.items = items, .count = ARRAY_LEN(items)}, p = {.count = 0};
	struct buf said = BUF(BUF_MAX_SMALL);

	proposals_add(&p, &more);
	items[1].exponent = -8;
	proposals_add(&p, &more);
	proposals_say(&p, &said);
	is_str(buf_cstr(&said),
	       "if that may differ from run to run: --mask /state/t --tolerance /x=1e-8",
	       "each option once, and the larger tolerance");
	proposals_release(&p);
	buf_release(&said);
}

int main(void)
{
	vectors();
	several_rollouts();
	return done();
}
