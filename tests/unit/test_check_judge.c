/* The judge itself: interleaved rollouts, reused ids, unknown effects, invalid input, and
   totals. The rules have their own tests. */
#include "tap.h"
#include "verdicts.h"

#define HEADER(id)                                                                                 \
	"{\"type\":\"header\",\"rollout\":\"" id "\",\"format\":\"rolldbg\",\"version\":1,"        \
	"\"state_source\":{\"kind\":\"resource\"},\"policy\":{\"kind\":\"script\"},"               \
	"\"tools\":[{\"name\":\"go\"}]}\n"
#define STEP(id, n, state, more)                                                                   \
	"{\"type\":\"step\",\"rollout\":\"" id "\",\"turn\":" n ",\"step\":" n ","                 \
	"\"state\":" state ",\"tool_call\":{\"name\":\"go\",\"arguments\":{\"n\":" n "}}," more    \
	"}\n"
#define OK(reward) "\"observation\":\"went\",\"outcome\":\"ok\",\"reward\":" reward
#define FAILED     "\"outcome\":\"tool-error\",\"error\":{\"message\":\"no\"}"
#define END(id, state)                                                                             \
	"{\"type\":\"end\",\"rollout\":\"" id "\",\"status\":\"finished\",\"state\":" state "}\n"

static void says(const char *lines, const char *want, const char *name)
{
	struct verdicts v;
	struct error err = {0};

	verdicts_begin(&v, NULL, NULL);
	if (!ok(verdicts_feed(&v, str_from(lines), &err) == 0, "%s: is taken", name))
		tap_note("error   ", err.text);
	judge_finish(v.judge);
	is_str(buf_cstr(&v.text), want, "%s", name);
	verdicts_end(&v);
}

static void refuses(const char *lines, const char *want, const char *name)
{
	struct verdicts v;
	struct error err = {0};

	verdicts_begin(&v, NULL, NULL);
	ok(verdicts_feed(&v, str_from(lines), &err) == -1 && err.kind == FAIL_INPUT,
	   "%s: is refused", name);
	is_str(err.text, want, "%s: why", name);
	verdicts_end(&v);
}

static void test_effects(void)
{
	says(HEADER("a") STEP("a", "0", "\"x\"", OK("1")) STEP("a", "1", "\"y\"", OK("0.5"))
	             STEP("a", "2", "\"y\"", OK("0")) END("a", "\"y\""),
	     "a finished: 3 turns, 3 steps, 1 effective, 0 unknown, 0 failed, run 0, "
	     "reward 1.5\n",
	     "one step of three had an effect");
	says(HEADER("a") STEP("a", "0", "\"x\"", OK("1")) STEP("a", "1", "\"y\"", OK("1"))
	             END("a", "null"),
	     "a finished: 2 turns, 2 steps, 1 effective, 1 unknown, 0 failed, run 0, "
	     "reward 2\n",
	     "the last step's effect is unknown without a state at the end");
	says(HEADER("a") STEP("a", "0", "\"x\"",
	                      OK("1")) "{\"type\":\"event\",\"rollout\":\"a\",\"event\":"
	                               "\"session-replaced\"}\n" STEP("a", "1", "\"y\"", OK("1"))
	                                       END("a", "\"z\""),
	     "a finished: 2 turns, 2 steps, 1 effective, 1 unknown, 0 failed, run 0, "
	     "reward 2\n"
	     "  error session-replaced turns 1..1 steps 1..1 /event: the session was replaced once "
	     "without a reset: 1 of 2 steps ran in another environment\n",
	     "a replaced session in between makes a step unknown");
	says(HEADER("a") "{\"type\":\"event\",\"rollout\":\"a\",\"event\":\"session-"
	                 "replaced\"}\n" STEP("a", "0", "\"x\"", OK("null"))
	                         STEP("a", "1", "\"y\"", OK("null")) END("a", "\"z\""),
	     "a finished: 2 turns, 2 steps, 2 effective, 0 unknown, 0 failed, run 0, "
	     "reward null\n",
	     "one before the first step does not");
	says(HEADER("a") STEP("a", "0", "\"x\"", FAILED ",\"reward\":-5")
	             STEP("a", "1", "\"x\"", OK("2")) END("a", "\"y\""),
	     "a finished: 2 turns, 2 steps, 1 effective, 0 unknown, 1 failed, run 1, "
	     "reward 2\n",
	     "the sum of rewards leaves failed steps out");
}

static void test_parallel_calls(void)
{
	says(HEADER("a") STEP("a", "0", "\"x\"",
	                      OK("1")) "{\"type\":\"step\",\"rollout\":\"a\",\"turn\":0,\"step\":"
	                               "1,\"state\":\"y\","
	                               "\"tool_call\":{\"name\":\"go\",\"arguments\":{}},"
	                               "\"outcome\":\"ok\",\"reward\":0}\n"
	                               "{\"type\":\"step\",\"rollout\":\"a\",\"turn\":1,\"step\":"
	                               "null,\"state\":\"z\"}\n" END("a", "\"z\""),
	     "a finished: 2 turns, 2 steps, 2 effective, 0 unknown, 0 failed, run 0, "
	     "reward 1\n",
	     "two calls of one turn, then a turn without a call");
}

static void test_rollouts(void)
{
	says(HEADER("a") HEADER("b") STEP("a", "0", "\"x\"", OK("1"))
	             STEP("b", "0", "\"p\"", OK("1")) STEP("a", "1", "\"y\"", OK("1"))
	                     END("b", "\"q\"") END("a", "\"z\""),
	     "b finished: 1 turns, 1 steps, 1 effective, 0 unknown, 0 failed, run 0, "
	     "reward 1\n"
	     "a finished: 2 turns, 2 steps, 2 effective, 0 unknown, 0 failed, run 0, "
	     "reward 2\n",
	     "interleaved rollouts are kept apart");
	says(HEADER("a") END("a", "null") HEADER("a") END("a", "null") HEADER("b") END("b", "null")
	             HEADER("a") END("a", "null"),
	     "a finished: 0 turns, 0 steps, -1 effective, 0 unknown, 0 failed, run 0, "
	     "reward null\n"
	     "a#2 finished: 0 turns, 0 steps, -1 effective, 0 unknown, 0 failed, run 0, "
	     "reward null\n"
	     "b finished: 0 turns, 0 steps, -1 effective, 0 unknown, 0 failed, run 0, "
	     "reward null\n"
	     "a#3 finished: 0 turns, 0 steps, -1 effective, 0 unknown, 0 failed, run 0, "
	     "reward null\n",
	     "an id that ended is another instance");
	says(HEADER("a") HEADER("a") END("a", "null"),
	     "a incomplete: 0 turns, 0 steps, -1 effective, 0 unknown, 0 failed, run 0, "
	     "reward null\n"
	     "  error incomplete turns -1..-1 steps -1..-1 -: no end line: the recording stops "
	     "after 1 line and 0 steps\n"
	     "a#2 finished: 0 turns, 0 steps, -1 effective, 0 unknown, 0 failed, run 0, "
	     "reward null\n",
	     "a header before the end: the first one has none");
	refuses(STEP("a", "0", "null", OK("1")),
	        "a \"step\" line of rollout \"a\", which has no header", "a line without a header");
	refuses(HEADER("a") END("a", "null") STEP("a", "0", "null", OK("1")),
	        "a \"step\" line of rollout \"a\" after its end", "a line after the end");
	says("{\"type\":\"remark\",\"rollout\":\"a\"}\n{\"type\":\"remark\"}\n", "",
	     "lines of unknown type may be anywhere");
}

static void test_many_rollouts(void)
{
	struct verdicts v;
	struct error err = {0};
	struct judge_summary sum;
	struct buf text = BUF(BUF_MAX_MESSAGE);

	verdicts_begin(&v, NULL, NULL);
	for (int i = 0; i < 3000; i++) {
		buf_printf(&text,
		           "{\"type\":\"header\",\"rollout\":\"r%d\",\"format\":"
		           "\"rolldbg\",\"version\":1}\n",
		           i);
	}
	for (int i = 0; i < 3000; i++) {
		buf_printf(&text,
		           "{\"type\":\"end\",\"rollout\":\"r%d\",\"status\":\"finished\","
		           "\"total_reward\":0.1}\n",
		           i);
	}
	for (int i = 0; i < 3000; i++) {
		buf_printf(&text,
		           "{\"type\":\"header\",\"rollout\":\"r%d\",\"format\":"
		           "\"rolldbg\",\"version\":1}\n",
		           i);
	}
	ok(verdicts_feed(&v, buf_view(&text), &err) == 0, "three thousand open rollouts");
	judge_finish(v.judge);
	judge_summary(v.judge, &sum);
	is_int(sum.rollouts, 6000, "all are counted");
	is_int(sum.errors, 3000, "those without an end are incomplete");
	ok(strstr(buf_cstr(&v.text), "\nr2999#2 incomplete") != NULL,
	   "the second of an id is named so");
	buf_release(&text);
	verdicts_end(&v);
}

static void test_files(void)
{
	struct verdicts v;
	struct error err = {0};
	struct judge_summary sum;

	verdicts_begin(&v, NULL, NULL);
	judge_file(v.judge, "one");
	ok(verdicts_feed(&v, STR(HEADER("a") STEP("a", "0", "\"x\"", OK("1"))), &err) == 0,
	   "one file");
	judge_file(v.judge, "two");
	ok(verdicts_feed(&v, STR(HEADER("a") STEP("a", "0", "\"x\"", OK("2")) END("a", "\"y\"")),
	                 &err) == 0,
	   "another file may use the same id");
	judge_finish(v.judge);
	is_str(buf_cstr(&v.text),
	       "a incomplete: 1 turns, 1 steps, -1 effective, 1 unknown, 0 failed, run "
	       "0, reward 1\n"
	       "  error incomplete turns 0..0 steps -1..-1 -: no end line: the recording "
	       "stops after 2 "
	       "lines and 1 step\n"
	       "a finished: 1 turns, 1 steps, 1 effective, 0 unknown, 0 failed, run 0, "
	       "reward 2\n",
	       "a new file ends the open rollouts of the last one");
	judge_summary(v.judge, &sum);
	is_int(sum.rollouts, 2, "sum of rollouts");
	is_int(sum.turns, 2, "sum of turns");
	is_int(sum.steps, 2, "sum of steps");
	is_int(sum.effective, 1, "sum of effective steps");
	is_int(sum.unknown, 1, "sum of unknown ones");
	is_int(sum.errors, 1, "sum of errors");
	is_int(sum.warnings + sum.infos + sum.failed, 0, "no warnings, infos, failures");
	is_str(sum.reward, "3", "sum of rewards");
	verdicts_end(&v);
}

static void test_empty(void)
{
	struct verdicts v;
	struct judge_summary sum;

	verdicts_begin(&v, NULL, NULL);
	judge_finish(v.judge);
	judge_summary(v.judge, &sum);
	is_int(sum.rollouts, 0, "no lines: no rollouts");
	is_int(sum.effective, -1, "no lines: effective unknown");
	is_str(sum.reward, "null", "no lines: no reward");
	is_str(judge_not_checked(v.judge), "", "no lines: every rule could judge");
	verdicts_end(&v);
	judge_free(NULL);
}

#define TWO_FAILED HEADER("a") STEP("a", "0", "\"x\"", FAILED) STEP("a", "1", "\"x\"", FAILED)

static void speak(const char *only, const char *without, const char *want, const char *name)
{
	struct verdicts v;
	struct error err = {0};

	verdicts_begin(&v, only, without);
	ok(verdicts_feed(&v, STR(TWO_FAILED), &err) == 0, "%s: is accepted", name);
	judge_finish(v.judge);
	is_str(buf_cstr(&v.rules), want, "%s", name);
	verdicts_end(&v);
}

static void refuse_rules(const char *only, const char *without, const char *want)
{
	struct judge_conf conf = {.only = only, .without = without};
	struct judge *j = NULL;
	struct error err = {0};

	ok(judge_new(&conf, &j, &err) == -1 && err.kind == FAIL_USAGE && !j, "%s: usage", want);
	ok(strstr(err.text, want) == err.text, "%s: why", want);
}

static void test_choice(void)
{
	speak(NULL, NULL, "|multi-step-illusion|incomplete|", "all rules");
	speak("multi-step-illusion,capacity", NULL, "|multi-step-illusion|", "only some");
	speak(NULL, "incomplete", "|multi-step-illusion|", "without one");
	speak("incomplete,capacity", "incomplete", "", "without wins over only");
	refuse_rules("capacty", NULL, "\1only\2: unknown rule 'capacty'; did you mean 'capacity'?");
	refuse_rules(NULL, "capacity,xyzzy",
	             "\1without\2: unknown rule 'xyzzy'; available: multi-step-illusion,");
	refuse_rules("", NULL, "\1only\2: unknown rule ''; available: multi-step-illusion,");
	refuse_rules("capacity,", NULL,
	             "\1only\2: unknown rule ''; available: multi-step-illusion,");
}

static void test_not_checked(void)
{
	struct buf stripped = BUF(BUF_MAX_SMALL);
	struct verdicts v;
	struct error err = {0};

	verdicts_begin(&v, NULL, NULL);
	ok(verdicts_feed(&v, STR(HEADER("a") END("a", "null")), &err) == 0, "no step");
	is_str(judge_not_checked(v.judge), "", "without steps no rule had to judge");
	ok(verdicts_feed(&v, STR(HEADER("b") STEP("b", "0", "null", OK("1") ",\"meta\":{}")),
	                 &err) == 0,
	   "with meta");
	judge_finish(v.judge);
	is_str(judge_not_checked(v.judge), "", "with meta all rules could judge");
	ok(verdicts_feed(&v, STR(HEADER("c") STEP("c", "0", "null", OK("1"))), &err) == 0,
	   "stripped");
	judge_finish(v.judge);
	for (size_t i = 0; i < checks_count; i++) {
		buf_text(&stripped, checks[i]->needs_meta && stripped.n ? "," : "");
		buf_text(&stripped, checks[i]->needs_meta ? checks[i]->id : "");
	}
	ok(stripped.n > 0, "some rules need meta");
	is_str(judge_not_checked(v.judge), buf_cstr(&stripped), "without meta they could not");
	buf_release(&stripped);
	verdicts_end(&v);
	verdicts_begin(&v, "capacity,fallback-session", NULL);
	ok(verdicts_feed(&v, STR(HEADER("c") STEP("c", "0", "null", OK("1"))), &err) == 0,
	   "stripped");
	judge_finish(v.judge);
	is_str(judge_not_checked(v.judge), "fallback-session", "only selected rules are listed");
	verdicts_end(&v);
}

/* A header with that many tools, "t0" first. */
static void put_header(struct buf *out, size_t tools, size_t schema_bytes)
{
	struct str header = STR(HEADER("big")), end = STR("{\"name\":\"go\"}]}\n");
	struct buf schema = BUF(BUF_MAX_MESSAGE);

	while (schema.n < schema_bytes)
		buf_char(&schema, 's');
	buf_add(out, header.p, header.n - end.n);
	for (size_t i = 0; i < tools; i++) {
		buf_printf(out, "%s{\"name\":\"t%zu\",\"inputSchema\":{\"description\":\"",
		           i ? "," : "", i);
		buf_str(out, buf_view(&schema));
		buf_text(out, "\"}}");
	}
	buf_text(out, "]}\n");
	buf_release(&schema);
}

/* If there are more than are kept, the rest must not count as clean. */
static void test_too_large(void)
{
	static const struct {
		size_t tools, schema_bytes;
		const char *call, *said, *not_checked;
	} rows[] = {
		{3000, 300, "t2999", "", ""},
		{3000, 300, "t3000", "|unknown-tool|", ""},
		{60000, 10, "t59999", "", ""},
		{60000, 10, "t60000", "|unknown-tool|", ""},
		{70000, 10, "t69999", "", "unknown-tool,tool-drift,arguments-schema"},
		{3000, 3000, "t2", "", ""},
		{3000, 3000, "t2999", "", "arguments-schema"},
		{3000, 3000, "t3000", "|unknown-tool|", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf lines = BUF(BUF_MAX_MESSAGE);
		struct error err = {0};
		struct verdicts v;

		put_header(&lines, rows[i].tools, rows[i].schema_bytes);
		buf_printf(
			&lines,
			"{\"type\":\"step\",\"rollout\":\"big\",\"turn\":0,\"step\":0,\"state\":null,\"tool_call\":"
			"{\"name\":\"%s\",\"arguments\":{}}," OK("1") ",\"meta\":{}}\n",
			rows[i].call);
		verdicts_begin(&v, "unknown-tool,arguments-schema,tool-drift,no-tools", NULL);
		ok(verdicts_feed(&v, buf_view(&lines), &err) == 0, "%zu tools %s", rows[i].tools,
		   err.text);
		judge_finish(v.judge);
		is_str(buf_cstr(&v.rules), rows[i].said,
		       "%s of them, with schemas of %zu: the findings", rows[i].call,
		       rows[i].schema_bytes);
		is_str(judge_not_checked(v.judge), rows[i].not_checked,
		       "and the rules that could not judge");
		verdicts_end(&v);
		buf_release(&lines);
	}
}

/* The user's declarations about calls and errors. */
static void tell(const char *lines, struct hints hints, const char *want, const char *name)
{
	struct verdicts v;
	struct error err = {0};

	verdicts_begin(&v, NULL, NULL);
	judge_free(v.judge);
	struct judge_conf conf = {.verdict = verdicts_take, .ctx = &v, .hints = hints};
	ok(judge_new(&conf, &v.judge, &err) == 0 && verdicts_feed(&v, str_from(lines), &err) == 0,
	   "%s: is accepted", name);
	judge_finish(v.judge);
	is_str(buf_cstr(&v.rules), want, "%s", name);
	verdicts_end(&v);
}

/* clang-format never settles on a layout for these */
/* clang-format off */
#define FROZEN                                                                           \
	HEADER("a")                                                                      \
	STEP("a", "0", "\"x\"", OK("0"))                                                 \
	STEP("a", "1", "\"x\"", OK("0"))                                                 \
	STEP("a", "2", "\"x\"", OK("0"))                                                 \
	END("a", "\"x\"")
#define FAILING                                                                          \
	HEADER("a")                                                                      \
	STEP("a", "0", "\"x\"", FAILED)                                                  \
	STEP("a", "1", "\"x\"", FAILED)                                                  \
	END("a", "\"x\"")
/* clang-format on */

static void test_user_declarations(void)
{
	static const char *const turns[] = {"0", "1"}, *const first[] = {"0"},
				 *const message[] = {"n*"}, *const other[] = {"n", "7"};

	tell(FROZEN, (struct hints){0}, "|frozen-state|", "nothing else is reported");
	tell(FROZEN, (struct hints){.read_only = "look,g*"}, "", "the tool only reads");
	tell(FROZEN, (struct hints){.read_only = "look"}, "|frozen-state|", "another one does");
	tell(FROZEN, (struct hints){.noop = "go"}, "", "the tool is to do nothing");
	tell(FROZEN, (struct hints){.noop = "0,1"}, "", "so are two of three calls");
	tell(FROZEN, (struct hints){.noop = "7"}, "|frozen-state|", "or none of them");
	tell(FAILING, (struct hints){0}, "|multi-step-illusion|", "both steps failed");
	tell(FAILING, (struct hints){.errors = turns, .error_count = 2}, "",
	     "as was expected of these turns");
	tell(FAILING, (struct hints){.errors = message, .error_count = 1}, "",
	     "as was expected of that message");
	tell(FAILING, (struct hints){.errors = first, .error_count = 1}, "",
	     "one of two was not expected: no illusion");
	tell(FAILING, (struct hints){.errors = other, .error_count = 2},
	     "|expected-error-missing|multi-step-illusion|", "neither turn nor message");
}

static void take_group(void *ctx, const struct rollout_verdict *v)
{
	struct buf *text = ctx;

	for (size_t i = 0; i < v->finding_count; i++) {
		buf_printf(text, "%s: %.*s: %s\n", v->file ? v->file : "-", STR_ARG(v->task),
		           v->findings[i].message);
	}
}

#define MEMBER(n, reward)                                                                          \
	"{\"type\":\"header\",\"rollout\":\"t." n "\",\"format\":\"rolldbg\",\"version\":1,"       \
	"\"task\":{\"id\":\"t\"},\"sample\":" n ",\"policy\":{\"kind\":\"script\"},"               \
	"\"limits\":{\"group_size\":3}}\n"                                                         \
	"{\"type\":\"step\",\"rollout\":\"t." n "\",\"turn\":0,\"step\":0,\"tool_call\":"          \
	"{\"name\":\"go\",\"arguments\":{}},\"observation\":\"went\",\"outcome\":\"ok\"}\n"        \
	"{\"type\":\"end\",\"rollout\":\"t." n "\",\"status\":\"finished\","                       \
	"\"total_reward\":" reward "}\n"

/* Rollouts of a group may be in several files. */
static void groups(const char *one, const char *two, const char *want, const char *name)
{
	struct buf text = BUF(BUF_MAX_SMALL);
	struct verdicts v = {0};
	struct judge_conf conf = {.verdict = take_group, .ctx = &text};
	struct error err = {0};

	ok(judge_new(&conf, &v.judge, &err) == 0, "%s: a judge", name);
	judge_file(v.judge, "one");
	ok(verdicts_feed(&v, str_from(one), &err) == 0, "%s: the first file", name);
	judge_file(v.judge, "two");
	ok(verdicts_feed(&v, str_from(two), &err) == 0, "%s: the second file", name);
	judge_finish(v.judge);
	is_str(buf_cstr(&text), want, "%s", name);
	judge_free(v.judge);
	buf_release(&text);
}

static void test_groups(void)
{
	groups(MEMBER("0", "1") MEMBER("1", "0"), MEMBER("2", "1"), "",
	       "the third is in the second file");
	groups(MEMBER("0", "1"), MEMBER("1", "0"),
	       "-: t: task t has 2 of the 3 rollouts of its group\n", "one is missing in both");
	groups(MEMBER("0", "1") MEMBER("1", "1") MEMBER("2", "1"), "",
	       "one: t: all 3 rollouts of task t earned 1, so every "
	       "advantage is zero\n",
	       "a whole group is judged with its file");
}

/* Very many warnings, then an error, which must not be lost among them. */
static void test_flood(void)
{
	struct verdicts v;
	struct error err = {0};
	struct judge_summary sum;
	struct buf text = BUF(BUF_MAX_MESSAGE);

	buf_text(&text, HEADER("a"));
	for (int i = 0; i < 2000; i++) {
		buf_printf(&text,
		           "{\"type\":\"step\",\"rollout\":\"a\",\"turn\":%d,\"step\":%d,"
		           "\"state\":1,"
		           "\"tool_call\":{\"name\":\"go\",\"arguments\":{\"n\":%d}},%s}\n",
		           i, i, i / 2, i % 4 < 2 || i > 1990 ? FAILED : OK("0"));
	}
	verdicts_begin(&v, NULL, NULL);
	ok(verdicts_feed(&v, buf_view(&text), &err) == 0, "a flood of findings");
	judge_finish(v.judge);
	judge_summary(v.judge, &sum);
	ok(sum.warnings + sum.errors <= 256, "they are bounded");
	ok(strstr(buf_cstr(&v.rules), "|multi-step-illusion|") != NULL, "the error is among them");
	ok(strstr(buf_cstr(&v.text), "more findings, not listed)") != NULL,
	   "and the number of findings not listed");
	buf_release(&text);
	verdicts_end(&v);
}

int main(void)
{
	test_effects();
	test_parallel_calls();
	test_rollouts();
	test_many_rollouts();
	test_files();
	test_empty();
	test_choice();
	test_not_checked();
	test_too_large();
	test_user_declarations();
	test_groups();
	test_flood();
	return done();
}
