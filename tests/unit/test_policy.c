/* Decisions of policies: scripts with their ends and errors, seeded random calls. */
#include "json/schema.h"
#include "policy/policy.h"
#include "policy/script.h"
#include "policy/tool_set.h"
#include "tap.h"

#define WAYS                                                                                       \
	"[{\"name\":\"move\",\"inputSchema\":{\"properties\":{\"way\":"                            \
	"{\"type\":\"string\",\"description\":\"UP or DOWN\"}},\"required\":[\"way\"]}}]"

/* ---- scripts ---- */

static struct policy *script(enum on_end on_end, int64_t stop_after, size_t count)
{
	static struct script_call calls[] = {{STR_INIT("a"), STR_INIT("{}"), NULL},
	                                     {STR_INIT("b"), STR_INIT("{}"), NULL},
	                                     {STR_INIT("c"), STR_INIT("{}"), NULL}};
	struct script_conf conf = {.name = STR("s"),
	                           .calls = calls,
	                           .count = count,
	                           .on_end = on_end,
	                           .stop_after = stop_after,
	                           .params = STR("{}")};

	return script_new(&conf);
}

static char letter(const struct decision *d)
{
	switch (d->kind) {
	case DECIDE_FINISHED:
		return '.';
	case DECIDE_STOPPED:
		return '!';
	case DECIDE_UNSENT:
	case DECIDE_NOTHING:
	case DECIDE_REFUSED:
	case DECIDE_LOST:
		return '?'; /* policies of models only */
	case DECIDE_CALL:
		break;
	}
	return d->name.p[0];
}

/* The environment's replies, selected by a letter in the test: x and X differ in a number.
   */
static const char *error_of(char c)
{
	return c == 'x' ? "no door 12" : c == 'X' ? "no door 7" : "no window";
}

/* One letter per decision: the tool, '.' finished, '!' stopped. */
static void play(struct policy *p, const char *errors, char *got)
{
	struct policy_view view = {.last = OUTCOME_NONE};
	struct decision d = {.kind = DECIDE_CALL};
	struct error err;
	size_t n = 0;

	while (d.kind == DECIDE_CALL && n < 8 && !p->ops->decide(p, &view, &d, &err)) {
		bool failed = n < strlen(errors) && errors[n] != '-';

		view.last = failed ? OUTCOME_TOOL_ERROR : OUTCOME_OK;
		view.last_error = str_from(failed ? error_of(errors[n]) : "");
		got[n++] = letter(&d);
	}
	got[n] = '\0';
	p->ops->close(p);
}

static const struct {
	enum on_end on_end;
	int64_t stop_after;
	size_t count;
	const char *errors, *wanted;
} plays[] = {
	{ON_END_STOP, 0, 3, "", "abc."},
	{ON_END_STOP, 0, 0, "", "."},
	{ON_END_CYCLE, 0, 2, "", "abababab"},
	{ON_END_CYCLE, 0, 0, "", "."},
	{ON_END_REPEAT, 0, 2, "", "abbbbbbb"},
	{ON_END_REPEAT, 0, 0, "", "."},
	{ON_END_STOP, 0, 3, "xxx", "abc."},
	{ON_END_CYCLE, 2, 2, "xx", "ab!"},
	{ON_END_CYCLE, 2, 2, "xX", "ab!"}, /* digits are ignored */
	{ON_END_CYCLE, 2, 2, "xyxyxyxy", "abababab"},
	{ON_END_CYCLE, 2, 2, "x-x-x-x-", "abababab"},
	{ON_END_CYCLE, 1, 2, "-x", "ab!"},
	{ON_END_STOP, 3, 3, "xxx", "abc!"},
};

static void test_scripts(void)
{
	char got[16];

	for (size_t i = 0; i < ARRAY_LEN(plays); i++) {
		struct policy *p = script(plays[i].on_end, plays[i].stop_after, plays[i].count);
		struct policy_facts facts;

		p->ops->facts(p, &facts);
		bool ends = plays[i].on_end == ON_END_STOP || plays[i].count == 0;
		is_int(facts.length, ends ? (int)plays[i].count : -1, "length");
		play(p, plays[i].errors, got);
		is_str(got, plays[i].wanted, "end %d, stop after %d, errors '%s'",
		       (int)plays[i].on_end, (int)plays[i].stop_after, plays[i].errors);
	}
}

/* ---- options ---- */

static const struct {
	struct policy_conf conf;
	const char *message; /* the beginning of the error; NULL: it opens */
} options[] = {
	{{.actions = "UP,DOWN"}, NULL},
	{{.actions = "UP,,DOWN"}, "\1actions\2: action 2 is empty in 'UP,,DOWN'"},
	{{.actions = "[1,2],\"a,b\",[x"}, "\1actions\2: '[1,2],\"a,b\",[x' may be one value or 3"},
	{{.spec = "random:7", .actions = "a b,c"}, "\1actions\2: 'a b,c' may be one value or 2"},
	{{.actions = "[1,2],,3"}, "\1actions\2: action 2 is empty in '[1,2],,3'"},
	{{.actions = ""}, "\1actions\2: action 1 is empty in ''"},
	{{.actions = "UP", .tool = "mvoe"}, "the server has no tool 'mvoe'; did you mean 'move'?"},
	{{.actions = "UP", .tool = "mvoe", .force_call = true}, NULL},
	{{.spec = "random:7"}, NULL},
	{{.spec = "random:7", .actions = "UP,DOWN"}, NULL},
	{{.spec = "random:7", .actions = "UP", .tool = "x"}, "the server has no tool 'x'"},
	{{.spec = "random:7", .tool = "move"}, NULL},
	{{.spec = "random:7", .tool = "mvoe"},
         "the server has no tool 'mvoe'; did you mean 'move'?"},
	{{.spec = "random:7", .argument = "way"}, "\1argument\2 needs \1actions\2"},
	{{.spec = "random"}, "\1policy\2 random needs an integer seed"},
	{{.spec = "random:-1"}, "\1policy\2 random needs an integer seed"},
	{{.spec = "random:"}, "\1policy\2 random needs an integer seed"},
	{{.spec = "script"}, "\1policy\2 script needs \1actions\2 A,B,C"},
	{{.spec = "script", .actions = "UP"}, NULL},
	{{.spec = "script:UP"}, "\1policy\2 script has no argument, not 'script:UP'"},
	{{.spec = "x.json", .actions = "UP"},
         "\1actions\2 and \1policy\2 FILE are mutually exclusive"},
	{{.spec = NULL},
         "no policy: use \1call\2 'TOOL key=value', \1actions\2 A,B,C or \1policy\2 FILE (or random:SEED); available tools: move"},
};

static void test_options(void)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		struct policy_conf conf = options[i].conf;
		struct policy *p = NULL;
		struct error err = {0};

		conf.tools = STR(WAYS);
		bool opened = policy_check(&conf, &err) == 0 && policy_open(&conf, &p, &err) == 0;
		if (!options[i].message) {
			ok(opened, "opens: %s", err.text);
		} else {
			ok(!opened && err.kind == FAIL_USAGE &&
			           str_starts(str_from(err.text), str_from(options[i].message)),
			   "refused: %s", err.text);
		}
		if (opened)
			p->ops->close(p);
	}
}

/* ---- where --actions are split ---- */

#define TEXT  "{\"type\":\"string\"}"
#define PLACE "{\"type\":\"string\",\"enum\":[\"go north\",\"up, then down\",\"wait\"]}"
#define LIST  "{\"type\":\"array\"}"
#define NAMED "{\"type\":\"string\",\"description\":\"UP, a_b, or a reported finals.txt2\"}"

static const struct {
	const char *actions, *schema;
	const char *calls; /* the arguments; NULL: refused */
	bool forced;
} splits[] = {
	{"3,-1.5e+2", TEXT, "3|-1.5e+2", false},
	{"UP,3,a_b", NAMED, "UP|3|a_b", false},
	{"UP,sideways", TEXT, "UP|sideways", false},
	{"v1.5,finals.txt2", NAMED, NULL, false},
	{"UP,finals.txt2", NAMED, NULL, false},
	{"report,final.txt", TEXT, NULL, false},
	{"report,final.txt", NAMED, NULL, false}, /* words within words */
	{"SET role='admin', name='Bob'", TEXT, NULL, false},
	{"SET role='admin', name='Bob'", TEXT, NULL, true},
	{"SET role='admin' name='Bob'", TEXT, "SET role='admin' name='Bob'", false},
	{"hello, world", TEXT, NULL, false},
	{"hello, world", "{}", NULL, false},
	{"x=1,y=2", TEXT, NULL, false},
	{"f(1,2)", TEXT, NULL, false},
	{"\xe4\xbd\xa0,\xe5\xa5\xbd", TEXT, NULL, false},
	{"\"hello, world\",UP", NAMED, "hello, world|UP", false},
	{"[\"hello, world\",\"UP\"]", TEXT, "hello, world|UP", false},
	{"[\"hello, world\"]", TEXT, "hello, world", false},
	{"[\"hello, world\"]", TEXT, "hello, world", true},
	{"[\"\"]", TEXT, "", false},
	{"[\"\\\"a\\\"\",\"[1]\"]", TEXT, "\"a\"|[1]", false},
	{"[1,2]", TEXT, "[1,2]", false},
	{"[]", TEXT, "[]", false},
	{"{\"a\":1},[1,2]", TEXT, "{\"a\":1}|[1,2]", false},
	{"[\"a\",\"b\"]", LIST, "[\"a\",\"b\"]", false},
	{"[\"a\",\"b\"],[1,0]", LIST, "[\"a\",\"b\"]|[1,0]", false},
	{"[\"a\",\"b\"]", "{}", "[\"a\",\"b\"]", false},
	{"\"a, b\"", "{}", "a, b", false},
	{"1,2", "{\"type\":\"integer\"}", "1|2", false},
	{"1, 2", "{\"type\":\"integer\"}", NULL, false},
	{"true,false", "{\"type\":\"boolean\"}", "true|false", false},
	{"go north,wait", PLACE, "go north|wait", false},
	{"go north,wait", PLACE, "go north|wait", true},
	{"up, then down", PLACE, NULL, false},
	{"[\"up, then down\"]", PLACE, "up, then down", false},
	{"go north,go south", PLACE, NULL, false},
	{"go north,go south", PLACE, NULL, true},
	{"go,south", PLACE, NULL, false},
};

static void put_values(struct policy *p, struct buf *out)
{
	struct policy_view view = {.last = OUTCOME_NONE};
	struct decision d;
	struct error err;

	while (!p->ops->decide(p, &view, &d, &err) && d.kind == DECIDE_CALL) {
		struct str value = JSON_GET(d.arguments, "way");

		buf_text(out, out->n ? "|" : "");
		if (json_type(value) == JSON_STRING)
			json_decode(value, out);
		else
			buf_str(out, value);
	}
}

static void test_splits(void)
{
	for (size_t i = 0; i < ARRAY_LEN(splits); i++) {
		struct buf tools = BUF(BUF_MAX_SMALL), got = BUF(BUF_MAX_SMALL);
		struct policy_conf conf = {.actions = splits[i].actions,
		                           .force_call = splits[i].forced};
		struct policy *p = NULL;
		struct error err = {0};

		buf_printf(&tools,
		           "[{\"name\":\"move\",\"inputSchema\":{\"properties\":{\"way\":%s},"
		           "\"required\":[\"way\"]}}]",
		           splits[i].schema);
		conf.tools = buf_view(&tools);
		bool opened = policy_check(&conf, &err) == 0 && policy_open(&conf, &p, &err) == 0;
		if (opened) {
			put_values(p, &got);
			p->ops->close(p);
		}
		ok(opened || err.kind == FAIL_USAGE, "%s", err.text);
		is_str(opened ? buf_cstr(&got) : NULL, splits[i].calls, "'%s' for %s%s",
		       splits[i].actions, splits[i].schema, splits[i].forced ? ", forced" : "");
		buf_release(&tools);
		buf_release(&got);
	}
}

static void test_facts(void)
{
	struct policy_conf conf = {.actions = "UP,DOWN", .tools = STR(WAYS)};
	struct policy_facts facts;
	struct policy *p = NULL;
	struct error err;

	if (ok(policy_open(&conf, &p, &err) == 0, "a script")) {
		p->ops->facts(p, &facts);
		ok(str_is(facts.params, "{\"tool\":\"move\",\"actions\":[\"UP\",\"DOWN\"]}"),
		   "params has the script");
		p->ops->close(p);
	}
	conf.spec = "random:18446744073709551615";
	if (ok(policy_open(&conf, &p, &err) == 0, "random actions")) {
		p->ops->facts(p, &facts);
		ok(str_is(facts.params, "{\"seed\":18446744073709551615,\"tool\":\"move\","
		                        "\"actions\":[\"UP\",\"DOWN\"]}"),
		   "params has the seed and the actions");
		p->ops->close(p);
	}
}

/* ---- random calls ---- */

#define ONE(schema)                                                                                \
	"[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"                   \
	"\"x\":" schema "},\"required\":[\"x\"],\"$defs\":{\"D\":{\"enum\":[1,2]}}}}]"

static const char *const drawn[] = {
	ONE("{}"),
	ONE("{\"type\":\"string\"}"),
	ONE("{\"type\":\"string\",\"minLength\":9,\"maxLength\":12}"),
	ONE("{\"type\":\"string\",\"maxLength\":0}"),
	ONE("{\"enum\":[\"a\",2,null]}"),
	ONE("{\"const\":[1]}"),
	ONE("{\"type\":\"boolean\"}"),
	ONE("{\"type\":\"null\"}"),
	ONE("{\"type\":\"integer\"}"),
	ONE("{\"type\":\"integer\",\"minimum\":-3,\"maximum\":-1}"),
	ONE("{\"type\":\"integer\",\"exclusiveMinimum\":4,\"exclusiveMaximum\":6}"),
	ONE("{\"type\":\"integer\",\"maximum\":-100}"),
	ONE("{\"type\":\"integer\",\"minimum\":1.5,\"maximum\":2.5}"),
	ONE("{\"type\":\"integer\",\"minimum\":0,\"maximum\":9007199254740992}"),
	ONE("{\"type\":\"number\",\"minimum\":0.25,\"maximum\":0.5}"),
	ONE("{\"type\":\"number\",\"exclusiveMinimum\":0,\"exclusiveMaximum\":1}"),
	ONE("{\"type\":[\"integer\",\"null\"]}"),
	ONE("{\"anyOf\":[{\"type\":\"integer\",\"minimum\":7},{\"type\":\"null\"}]}"),
	ONE("{\"$ref\":\"#/$defs/D\"}"),
	ONE("{\"anyOf\":[{\"$ref\":\"#/$defs/D\"}]}"),
	ONE("{\"type\":\"array\"}"),
	ONE("{\"type\":\"object\"}"),
	"[{\"name\":\"no schema\"},{\"name\":7},{\"inputSchema\":{}}]",
	"[{\"name\":\"a\"},{\"name\":\"b\",\"inputSchema\":{\"properties\":{\"k\":{}}}}]",
};

static void draw(const char *tools, const char *spec, struct buf *out)
{
	struct policy_conf conf = {.spec = spec, .tools = str_from(tools)};
	struct policy_view view = {.last = OUTCOME_OK};
	struct policy *p = NULL;
	struct decision d;
	struct error err = {0};
	bool good = policy_open(&conf, &p, &err) == 0;

	for (int i = 0; good && i < 50; i++) {
		struct json_fault fault;

		good = p->ops->decide(p, &view, &d, &err) == 0 &&
		       json_validate(d.arguments, &fault) == 0;
		struct str tool = tool_find(conf.tools, d.name);
		good = good && tool.p && tool_check_arguments(tool, d.arguments, &err) == 0;
		buf_printf(out, "%.*s%.*s\n", STR_ARG(d.name), STR_ARG(d.arguments));
	}
	ok(good, "draws valid arguments for %s: %s", tools, err.text);
	if (p)
		p->ops->close(p);
}

/* "Invalid action 'a1'. Use 'up' or 'down'": the next calls use these words. */
static void test_words_of_errors(void)
{
	struct policy_conf conf = {.spec = "random:3",
	                           .tools = STR("[{\"name\":\"a\",\"inputSchema\":{\"properties\":{"
	                                        "\"x\":{\"type\":\"string\"}},\"required\":["
	                                        "\"x\"]}}]")};
	struct policy_view view = {.last = OUTCOME_NONE};
	struct policy *p = NULL;
	struct decision d = {.more = false};
	struct error err = {0};
	struct buf text = BUF(BUF_MAX_SMALL);
	int named = 0;

	ok(policy_open(&conf, &p, &err) == 0, "random calls: %s", err.text);
	for (int i = 0; p && i < 20 && p->ops->decide(p, &view, &d, &err) == 0; i++) {
		named += str_is(d.arguments, "{\"x\":\"up\"}") ||
		         str_is(d.arguments, "{\"x\":\"down\"}");
		buf_clear(&text);
		buf_text(&text, "Invalid action '");
		buf_str(&text, json_inner(JSON_GET(d.arguments, "x")));
		buf_text(&text, "'. Use 'up' or 'down'");
		view.last = i ? OUTCOME_OK : OUTCOME_TOOL_ERROR;
		view.last_error = buf_view(&text);
	}
	is_int(named, 19, "the calls after the error use its values");
	buf_release(&text);
	if (p)
		p->ops->close(p);
}

static void test_random(void)
{
	struct buf first = BUF(BUF_MAX_SMALL), again = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(drawn); i++) {
		buf_clear(&first);
		buf_clear(&again);
		draw(drawn[i], "random:1", &first);
		draw(drawn[i], "random:1", &again);
		is_str(buf_cstr(&again), buf_cstr(&first), "the same seed draws the same");
	}
	buf_clear(&again);
	draw(drawn[ARRAY_LEN(drawn) - 1], "random:2", &again);
	ok(!str_eq(buf_view(&first), buf_view(&again)), "a different seed draws different calls");
	buf_clear(&first);
	draw(ONE("{\"type\":\"array\",\"minItems\":2,\"items\":{\"type\":\"boolean\"}}"),
	     "random:1", &first);
	ok(strstr(buf_cstr(&first), "[true,false") != NULL, "arrays have the required items");
	buf_clear(&first);
	draw(ONE("{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"a\":{\"const\":"
	         "7}}}}"),
	     "random:1", &first);
	ok(!strstr(buf_cstr(&first), "[]") && strstr(buf_cstr(&first), "{\"a\":7}") &&
	           strstr(buf_cstr(&first), "{}"),
	   "arrays are not empty, optional members occur sometimes");
	buf_clear(&first);
	draw(ONE("{\"type\":\"string\",\"description\":\"One of up or DOWN\"}"), "random:1",
	     &first);
	ok(strstr(buf_cstr(&first), "\"up\"") && strstr(buf_cstr(&first), "\"DOWN\""),
	   "values of the description");
	buf_clear(&first);
	draw("[{\"name\":\"a\",\"inputSchema\":{\"properties\":{\"x\":{\"type\":\"string\",\"default\":"
	     "\"usual\"}}}}]",
	     "random:1", &first);
	ok(strstr(buf_cstr(&first), "\"usual\"") && strstr(buf_cstr(&first), "a{}"),
	   "the default, and its absence");
	buf_clear(&first);
	draw("[{\"name\":\"a\",\"inputSchema\":{\"$defs\":{\"T\":{\"type\":\"array\",\"items\":{\"$ref\":"
	     "\"#/$defs/T\"}}},\"properties\":{\"x\":{\"$ref\":\"#/$defs/T\"}}}}]",
	     "random:1", &first);
	ok(strstr(buf_cstr(&first), "[[[[[[[") == NULL, "recursive schemas end");
	test_words_of_errors();
	buf_clear(&first);
	draw(ONE("{\"type\":\"object\",\"properties\":{\"a\":{\"const\":1},\"b\":{"
	         "\"const\":"
	         "2}},\"required\":[\"a\",\"b\"]}"),
	     "random:1", &first);
	ok(strstr(buf_cstr(&first), "{\"a\":1,\"b\":2}") != NULL, "objects, too");
	buf_release(&first);
	buf_release(&again);
}

static void test_no_tools(void)
{
	struct policy_conf conf = {.spec = "random:1", .tools = STR("[]")};
	struct policy_view view = {.last = OUTCOME_NONE};
	struct policy *p = NULL;
	struct decision d;
	struct error err;

	ok(policy_open(&conf, &p, &err) == 0, "random calls without tools");
	ok(p && p->ops->decide(p, &view, &d, &err) < 0, "cannot be drawn: %s", err.text);
	if (p)
		p->ops->close(p);
}

int main(void)
{
	test_scripts();
	test_options();
	test_splits();
	test_facts();
	test_random();
	test_no_tools();
	return done();
}
