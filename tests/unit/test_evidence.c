/* Facts of lines: effects and counters come from one place and agree; steps are reported in
   order, one line later, whatever lines are between them. */
#include "tap.h"

#include "evidence/evidence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define HEADER(id)                                                                                 \
	"{\"type\":\"header\",\"rollout\":\"" id "\",\"format\":\"rolldbg\",\"version\":1,"        \
	"\"tools\":[{\"name\":\"go\"}]}\n"
#define STEP(id, n, state)                                                                         \
	"{\"type\":\"step\",\"rollout\":\"" id "\",\"turn\":" n ",\"step\":" n ","                 \
	"\"state\":" state ",\"tool_call\":{\"name\":\"go\",\"arguments\":{}},\"outcome\":"        \
	"\"ok\",\"reward\":1}\n"
#define TURN(id, n, state)                                                                         \
	"{\"type\":\"step\",\"rollout\":\"" id "\",\"turn\":" n ",\"state\":"                      \
	"" state "}\n"
#define EVENT(id, name) "{\"type\":\"event\",\"rollout\":\"" id "\",\"event\":\"" name "\"}\n"
#define RESET(id)       "{\"type\":\"reset\",\"rollout\":\"" id "\",\"outcome\":\"ok\"}\n"
#define END(id, state)                                                                             \
	"{\"type\":\"end\",\"rollout\":\"" id "\",\"status\":\"finished\",\"state\":" state "}\n"

/* The facts as text: "a0 changed; a1 unknown; a: 1 effective, 1 unknown of 2". */
struct told {
	struct evidence *facts;
	struct buf text;
};

static void tell(struct told *t, const struct evidence_update *u)
{
	const struct completed_step *p = u->completed;

	if (p) {
		buf_printf(&t->text, "%.*s%" PRId64 " %s; ", STR_ARG(u->rollout->id), p->step,
		           effect_name(p->effect));
	}
	if (u->end) {
		const struct counters *c = &u->end->counters;

		buf_printf(&t->text,
		           "%.*s: %" PRId64 " effective, %" PRId64 " unknown of %" PRId64 "; ",
		           STR_ARG(u->end->id), c->effective, c->unknown, c->steps);
	}
}

static int take(void *ctx, const struct line *l, const struct reader_note *note, struct error *err)
{
	struct told *t = ctx;
	struct evidence_update u;

	if (evidence_line(t->facts, l, note, &u, err))
		return -1;
	if (u.rollout)
		tell(t, &u);
	return 0;
}

static void finish(struct told *t)
{
	struct evidence_update u;

	while (evidence_end_next(t->facts, &u))
		tell(t, &u);
}

static int feed(struct told *t, struct str text, struct error *err)
{
	struct buf scratch = BUF(BUF_MAX_SMALL);
	int failed = 0;

	while (text.n > 0 && !failed) {
		const char *lf = memchr(text.p, '\n', text.n);
		struct str one = {text.p, lf ? (size_t)(lf - text.p) : text.n};
		struct line l;
		size_t used;

		failed = line_parse(one, &scratch, &l, &used, err) || take(t, &l, NULL, err);
		text = str_skip(text, one.n + 1);
	}
	buf_release(&scratch);
	return failed ? -1 : 0;
}

static void check_facts(bool lenient, const char *lines, const char *want, const char *name)
{
	struct told t = {.facts = evidence_new(&(struct evidence_conf){.lenient = lenient}),
	                 .text = BUF(BUF_MAX_MESSAGE)};
	struct error err = {0};

	ok(feed(&t, str_from(lines), &err) == 0, "%s: lines are accepted %s", name, err.text);
	finish(&t);
	is_str(buf_cstr(&t.text), want, "%s", name);
	evidence_free(t.facts);
	buf_release(&t.text);
}

static void test_effects(void)
{
	check_facts(false,
	            HEADER("a") STEP("a", "0", "\"x\"") STEP("a", "1", "\"y\"")
	                    STEP("a", "2", "\"y\"") END("a", "null"),
	            "a0 changed; a1 unchanged; a2 unknown; a: 1 effective, 1 unknown of 3; ",
	            "an effect is known with the next state");
	check_facts(false,
	            HEADER("a") STEP("a", "0", "\"p\"") STEP("a", "1", "\"q\"")
	                    STEP("a", "2", "\"r\"") EVENT("a", "session-replaced")
	                            STEP("a", "3", "\"s\"") STEP("a", "4", "\"t\"")
	                                    STEP("a", "5", "\"u\"") END("a", "\"v\""),
	            "a0 changed; a1 changed; a2 unknown; a3 changed; a4 changed; a5 changed; "
	            "a: 5 effective, 1 unknown of 6; ",
	            "the state of a replaced session is another environment's");
	check_facts(false,
	            HEADER("a") STEP("a", "0", "\"x\"") EVENT("a", "retry") STEP("a", "1", "\"y\"")
	                    RESET("a") STEP("a", "2", "\"z\"") END("a", "\"z\""),
	            "a0 changed; a1 unknown; a2 unchanged; a: 1 effective, 1 unknown of 3; ",
	            "other events change nothing, a reset does");
	check_facts(false,
	            HEADER("a") STEP("a", "0", "\"x\"") TURN("a", "1", "\"y\"")
	                    TURN("a", "2", "\"y\"") STEP("a", "3", "\"y\"") END("a", "\"y\""),
	            "a0 changed; a3 unchanged; a: 1 effective, 0 unknown of 2; ",
	            "a turn without a call has no effect to tell");
}

static void test_interleaved(void)
{
	check_facts(false,
	            HEADER("b") HEADER("a") STEP("a", "0", "\"x\"") STEP("b", "0", "\"x\"")
	                    STEP("a", "1", "\"y\"") STEP("b", "1", "\"x\"") END("b", "\"y\""),
	            "a0 changed; b0 unknown; b1 changed; b: 1 effective, 0 unknown of 2; "
	            "a1 unknown; a: 1 effective, 1 unknown of 2; ",
	            "rollouts do not disturb each other");
	check_facts(false, HEADER("b") HEADER("a") HEADER("c"),
	            "a: -1 effective, 0 unknown of 0; b: -1 effective, 0 unknown of 0; "
	            "c: -1 effective, 0 unknown of 0; ",
	            "what is left ends in the order of ids");
	check_facts(false, HEADER("a") END("a", "\"x\"") HEADER("a") END("a", "null"),
	            "a: 0 effective, 0 unknown of 0; a#2: -1 effective, 0 unknown of 0; ",
	            "an id may be used again");
}

static void test_lenient(void)
{
	struct told t = {.facts = evidence_new(&(struct evidence_conf){.lenient = false}),
	                 .text = BUF(BUF_MAX_MESSAGE)};
	struct error err = {0};

	ok(feed(&t, STR(STEP("a", "0", "\"x\"")), &err) && err.kind == FAIL_INPUT,
	   "a line without its header is refused: %s", err.text);
	evidence_free(t.facts);
	buf_release(&t.text);
	check_facts(true, STEP("a", "4", "\"x\"") STEP("a", "5", "\"y\"") END("a", "\"y\""),
	            "a4 changed; a5 unchanged; a: 1 effective, 0 unknown of 2; ",
	            "but where that is allowed, the rest is evaluated");
	check_facts(true, HEADER("a") STEP("a", "0", "\"x\"") HEADER("a") STEP("a", "0", "\"y\""),
	            "a0 unknown; a0 unknown; a: -1 effective, 2 unknown of 2; ",
	            "a second header separates states");
}

int main(void)
{
	test_effects();
	test_interleaved();
	test_lenient();
	return done();
}
