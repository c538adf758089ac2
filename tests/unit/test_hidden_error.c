/* env/hidden_error.h: which replies hide an error, judged by their structure only. */
#include "env/hidden_error.h"
#include "tap.h"

static const struct {
	const char *body;
	enum hidden_error_strength strength;
	const char *message; /* its decoded part; NULL: none */
} bodies[] = {
	/* errors */
	{"{\"error\":\"nope\"}", HIDDEN_ERROR_CERTAIN, "nope"},
	{"{\"result\":{\"error\":\"wrapped\"}}", HIDDEN_ERROR_CERTAIN, "wrapped"},
	{"{\"error\":\"full\",\"position\":3}", HIDDEN_ERROR_CERTAIN, "full"},
	{"{\"error\":true,\"message\":\"no\"}", HIDDEN_ERROR_CERTAIN, "no"},
	{"{\"error\":true}", HIDDEN_ERROR_CERTAIN, "{"},
	{"{\"error\":{\"code\":-32000,\"message\":\"full\"}}", HIDDEN_ERROR_CERTAIN, "full"},
	{"{\"error\":[\"a\",\"b\"]}", HIDDEN_ERROR_CERTAIN, "a"},
	{"{\"error\":\"404 Not Found\"}", HIDDEN_ERROR_CERTAIN, "404"},
	{"{\"exception\":\"ValueError\"}", HIDDEN_ERROR_CERTAIN, "ValueError"},
	{"{\"last_action_error\":true}", HIDDEN_ERROR_CERTAIN, "{"},
	{"{\"error_message\":\"no calendar\"}", HIDDEN_ERROR_CERTAIN, "no calendar"},
	{"{\"isError\":true,\"content\":\"x\"}", HIDDEN_ERROR_CERTAIN, "{"},
	{"{\"is_error\":true,\"message\":\"m\"}", HIDDEN_ERROR_CERTAIN, "m"},
	{"{\"errors\":[{\"message\":\"field\"}],\"data\":null}", HIDDEN_ERROR_LIKELY, "field"},
	{"{\"errors\":[\"one\"]}", HIDDEN_ERROR_LIKELY, "one"},
	{"{\"detail\":\"Not Found\"}", HIDDEN_ERROR_LIKELY, "Not Found"},
	{"{\"detail\":[{\"loc\":[\"body\"],\"msg\":\"Field required\"}]}", HIDDEN_ERROR_LIKELY,
         "Field required"},
	{"{\"exit_code\":125,\"output\":\"docker: no\"}", HIDDEN_ERROR_LIKELY, "docker: no"},
	{"{\"success\":false}", HIDDEN_ERROR_LIKELY, "{"},
	{"{\"success\":false,\"message\":\"no backend\"}", HIDDEN_ERROR_LIKELY, "no backend"},
	{"{\"ok\":false,\"reason\":\"shut\",\"item\":null}", HIDDEN_ERROR_LIKELY, "shut"},
	{"{\"status\":\"error\",\"message\":\"shut\"}", HIDDEN_ERROR_LIKELY, "shut"},
	{"{\"success\":false,\"guess\":\"crane\"}", HIDDEN_ERROR_POSSIBLE, "{"},
	{"{\"metadata\":{},\"result\":{\"ok\":false,\"error\":{\"code\":\"25006\",\"message\":\"shut\"}}}",
         HIDDEN_ERROR_CERTAIN, "shut"},
	{"{\"metadata\":{},\"reply\":{\"error\":\"wrapped\"},\"headers\":{\"x\":1}}",
         HIDDEN_ERROR_CERTAIN, "wrapped"},
	{"{\"object\":\"error\",\"status\":400,\"message\":\"bad body\"}", HIDDEN_ERROR_CERTAIN,
         "bad body"},
	{"{\"status\":503,\"detail\":\"unavailable\"}", HIDDEN_ERROR_CERTAIN, "unavailable"},
	{"{\"type\":\"about:blank\",\"title\":\"Forbidden\",\"status\":403}", HIDDEN_ERROR_LIKELY,
         "Forbidden"},
	{"{\"statusCode\":404,\"message\":\"no cat\",\"error\":\"Not Found\"}",
         HIDDEN_ERROR_CERTAIN, "Not Found"},
	/* data */
	{"{\"error\":null}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":false}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":0}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":1}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":0.02,\"reading\":7}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":\"\"}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":\"None\"}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":\"none.\"}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":\"<none>\"}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":\"No error\"}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":\"OK\"}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":\"0.02\"}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":\"-\"}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":[]}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":[0.1,-0.2]}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":{}}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":{\"code\":0,\"message\":\"\"}}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":{\"code\":0,\"message\":\"all good\"}}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":{\"code\":\"OK\",\"message\":\"done\"}}", HIDDEN_ERROR_NONE, NULL},
	{"{\"error\":{\"x\":0.1,\"y\":2}}", HIDDEN_ERROR_NONE, NULL},
	{"{\"errors\":3}", HIDDEN_ERROR_NONE, NULL},
	{"{\"errors\":[]}", HIDDEN_ERROR_NONE, NULL},
	{"{\"errors\":[0,2]}", HIDDEN_ERROR_NONE, NULL},
	{"{\"detail\":\"a door\",\"room\":\"hall\"}", HIDDEN_ERROR_NONE, NULL},
	{"{\"status\":404,\"title\":\"Not here\",\"url\":\"http://mart/\"}", HIDDEN_ERROR_NONE,
         NULL},
	{"{\"status\":200,\"message\":\"fine day\"}", HIDDEN_ERROR_NONE, NULL},
	{"{\"status\":503}", HIDDEN_ERROR_NONE, NULL},
	{"{\"object\":\"list\",\"results\":[]}", HIDDEN_ERROR_NONE, NULL},
	{"{\"room\":{\"error\":\"a trap\"},\"exits\":[\"north\"]}", HIDDEN_ERROR_NONE, NULL},
	{"{\"ok\":true,\"room\":{\"error\":\"a trap\"}}", HIDDEN_ERROR_NONE, NULL},
	{"{\"exit_code\":1,\"stderr\":\"no such file\"}", HIDDEN_ERROR_NONE, NULL},
	{"{\"exit_code\":127}", HIDDEN_ERROR_NONE, NULL},
	{"{\"success\":true,\"ok\":true,\"status\":\"fine\",\"isError\":false}", HIDDEN_ERROR_NONE,
         NULL},
	{"{\"stderr\":\"Error: x\",\"message\":\"Error: x\"}", HIDDEN_ERROR_NONE, NULL},
	{"[{\"error\":\"in a list\"}]", HIDDEN_ERROR_NONE, NULL},
	{"\"error\"", HIDDEN_ERROR_NONE, NULL},
	{"null", HIDDEN_ERROR_NONE, NULL},
	{"\"\"", HIDDEN_ERROR_NONE, NULL},
};

static const struct {
	const char *body, *start, *last;
	enum hidden_error_strength strength;
	const char *name;
} contexts[] = {
	{"{\"success\":false,\"n\":2}", "{\"success\":false,\"n\":1}", "{\"n\":1}",
         HIDDEN_ERROR_NONE, "not solved yet, as at the start"},
	{"{\"success\":false}", "{\"success\":true}", NULL, HIDDEN_ERROR_LIKELY,
         "a success at the start"},
	{"{\"success\":false,\"n\":1}", "{\"success\":true,\"n\":0}", "{\"success\":true,\"n\":1}",
         HIDDEN_ERROR_LIKELY, "nothing but the flag has changed"},
	{"{\"success\":false,\"n\":2}", NULL, "{\"success\":true,\"n\":1}", HIDDEN_ERROR_POSSIBLE,
         "not successful, and something changed"},
	{"{\"error\":\"cold\",\"n\":2}", "{\"error\":\"cold\",\"n\":1}", NULL, HIDDEN_ERROR_NONE,
         "the same error as at the start"},
	{"{\"error\":\"hot\",\"n\":2}", "{\"error\":\"cold\",\"n\":1}", NULL, HIDDEN_ERROR_CERTAIN,
         "another error than at the start"},
	{"{\"detail\":\"a hall\"}", "{\"detail\":\"a door\"}", NULL, HIDDEN_ERROR_NONE,
         "details are how it talks"},
	{"{\"exit_code\":125}", "{\"exit_code\":125}", NULL, HIDDEN_ERROR_NONE, "it began so"},
};

static const struct {
	const char *text; /* without the quotes */
	enum hidden_error_strength strength;
} texts[] = {
	{"Error executing tool add: x", HIDDEN_ERROR_CERTAIN},
	{"Error calling tool 'add': x", HIDDEN_ERROR_CERTAIN},
	{"Unknown tool: add", HIDDEN_ERROR_CERTAIN},
	{"Input validation error: 'by' is a required property", HIDDEN_ERROR_CERTAIN},
	{"MCP error -32602: x", HIDDEN_ERROR_CERTAIN},
	{"Error: engine refused", HIDDEN_ERROR_LIKELY},
	{"Error: 'x'", HIDDEN_ERROR_LIKELY},
	{"Database error: no such table", HIDDEN_ERROR_LIKELY},
	{"Maximum concurrent environments (3) reached", HIDDEN_ERROR_LIKELY},
	{"Server at capacity: 1/1 sessions active. Cannot accept new connections.",
         HIDDEN_ERROR_LIKELY},
	{"Traceback (most recent call last):\\n", HIDDEN_ERROR_POSSIBLE},
	{"Unknown action JUMP", HIDDEN_ERROR_POSSIBLE},
	{"", HIDDEN_ERROR_NONE},
	{"Error Street number 1", HIDDEN_ERROR_NONE},
	{"Error: 0.02", HIDDEN_ERROR_NONE},
	{"Errors are human", HIDDEN_ERROR_NONE},
	{"The lift is at its maximum capacity", HIDDEN_ERROR_NONE},
	{"The sign says Error: keep out", HIDDEN_ERROR_NONE},
	{"Error rate: 0.1", HIDDEN_ERROR_NONE},
	{"Invalid move, try again", HIDDEN_ERROR_NONE},
	{"None", HIDDEN_ERROR_NONE},
};

static const struct hidden_error_context nothing_before = {{NULL, 0}, {NULL, 0}};

static struct str absent_or(const char *text)
{
	return text ? str_from(text) : STR_NONE;
}

static void test_bodies(void)
{
	struct buf text = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		struct hidden_error r =
			hidden_error_in_body(str_from(bodies[i].body), nothing_before);

		is_int(r.strength, bodies[i].strength, "%s", bodies[i].body);
		buf_clear(&text);
		buf_str(&text, r.message);
		ok(bodies[i].message ? strstr(buf_cstr(&text), bodies[i].message) != NULL
		                     : r.strength == HIDDEN_ERROR_NONE,
		   "the message: %s", buf_cstr(&text));
	}
	buf_release(&text);
}

static void test_contexts(void)
{
	for (size_t i = 0; i < ARRAY_LEN(contexts); i++) {
		struct hidden_error_context before = {absent_or(contexts[i].start),
		                                      absent_or(contexts[i].last)};
		struct hidden_error r = hidden_error_in_body(str_from(contexts[i].body), before);

		is_int(r.strength, contexts[i].strength, "%s", contexts[i].name);
	}
	ok(hidden_error_in_body(STR("{\"error\":\"x\",\"tool\":\"t\",\"grid\":null}"),
	                        nothing_before)
	           .bare,
	   "an error and whose it is");
	ok(!hidden_error_in_body(STR("{\"error\":\"x\",\"position\":0}"), nothing_before).bare,
	   "an error and an observation");
}

static void test_texts(void)
{
	struct buf quoted = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		buf_clear(&quoted);
		buf_printf(&quoted, "\"%s\"", texts[i].text);
		is_int(hidden_error_in_text(buf_view(&quoted)).strength, texts[i].strength, "'%s'",
		       texts[i].text);
	}
	is_int(hidden_error_in_text(STR("{\"a\":\"Error: x\"}")).strength, HIDDEN_ERROR_NONE,
	       "no text");
	is_int(hidden_error_in_text(STR_NONE).strength, HIDDEN_ERROR_NONE, "nothing");
	buf_release(&quoted);
}

static void test_patterns(void)
{
	static const char *const patterns[] = {"out of range", "^Invalid*again"};
	struct str answer =
		STR("{\"invalid again\":1,\"a\":[{\"b\":\"Invalid move, try \\u0061gain\"}]}");
	struct hidden_error r = hidden_error_by_pattern(answer, patterns, 2);

	is_int(r.strength, HIDDEN_ERROR_CERTAIN, "a string inside");
	is_int(r.layer, LAYER_TEXT, "by its text");
	ok(json_is(r.message, STR("Invalid move, try again")), "that string is the message");
	is_int(hidden_error_by_pattern(answer, patterns, 1).strength, HIDDEN_ERROR_NONE,
	       "no such text");
	is_int(hidden_error_by_pattern(STR("{\"out of range\":1}"), patterns, 1).strength,
	       HIDDEN_ERROR_NONE, "keys are not searched");
	is_int(hidden_error_by_pattern(STR_NONE, patterns, 2).strength, HIDDEN_ERROR_NONE,
	       "no answer");
}

static void test_evidence(void)
{
	static const struct {
		enum hidden_error_strength strength;
		bool counted, uncounted, unknown;
	} rows[] = {{HIDDEN_ERROR_NONE, false, false, false},
	            {HIDDEN_ERROR_POSSIBLE, false, true, false},
	            {HIDDEN_ERROR_LIKELY, false, true, true},
	            {HIDDEN_ERROR_CERTAIN, true, true, true}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct hidden_error r = {.strength = rows[i].strength};

		ok(hidden_error_holds(&r, 1) == rows[i].counted, "%d: counted", rows[i].strength);
		ok(hidden_error_holds(&r, 0) == rows[i].uncounted, "%d: not counted",
		   rows[i].strength);
		ok(hidden_error_holds(&r, -1) == rows[i].unknown, "%d: no count", rows[i].strength);
	}
}

int main(void)
{
	test_bodies();
	test_contexts();
	test_texts();
	test_patterns();
	test_evidence();
	return done();
}
