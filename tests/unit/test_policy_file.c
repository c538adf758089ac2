/* Policy files: every key, wrong types and their messages; the effect of a valid file. */
#include "policy/policy.h"
#include "policy/policy_file.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#define TOOLS                                                                                      \
	"[{\"name\":\"move\",\"inputSchema\":{\"type\":\"object\",\"properties\":"                 \
	"{\"way\":{\"type\":\"string\",\"enum\":[\"UP\",\"DOWN\"]}},"                              \
	"\"required\":[\"way\"]}},"                                                                \
	"{\"name\":\"wait\",\"inputSchema\":{\"type\":\"object\",\"properties\":"                  \
	"{\"turns\":{\"type\":\"integer\",\"minimum\":1}}}}]"

static char path[] = "/tmp/rolldbg-policy-XXXXXX";

static struct policy *open_text(const char *text, const struct policy_conf *given,
                                struct error *err)
{
	struct policy_conf conf = given ? *given : (struct policy_conf){0};
	struct policy *p = NULL;
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
	conf.spec = path;
	conf.tools = str_from(TOOLS);
	*err = (struct error){0};
	return policy_file_open(&conf, &p, err) == 0 ? p : NULL;
}

/* A defect and the end of its message. */
static const struct {
	const char *text, *message;
} bad[] = {
	{"", ":1:1: unexpected end of input"},
	{"{", ":1:2: unexpected end of input"},
	{"{\"kind\":\"script\",\n \"actions\":[UP]}", ":2:13: expected a value"},
	{"[7]", ":1: calls[0]: must be an object, not a number"},
	{"null", ":1: must be an object, not null"},
	{"{}", ":1: \"kind\" must be \"script\" or \"llm\""},
	{"{\"kind\":1}", ":1: \"kind\" must be \"script\" or \"llm\", not 1"},
	{"{\"kind\":\"llm\"}",
         ":1: a policy of kind \"llm\" applies to all tasks, it cannot be used for a single task"},
	{"{\"kind\":\"script\"}", ": a script needs either \"actions\" or \"calls\", an array"},
	{"{\"kind\":\"script\",\"actions\":[],\"calls\":[]}",
         ": a script needs either \"actions\" or \"calls\", an array"},
	{"{\"kind\":\"script\",\"actions\":\"UP\"}",
         ":1: \"actions\" must be an array, not \"UP\""},
	{"{\"kind\":\"script\",\"calls\":{}}", ":1: \"calls\" must be an array, not an object"},
	{"{\"kind\":\"script\",\"action\":[]}",
         ":1: unknown key \"action\"; did you mean 'actions'?"},
	{"{\"kind\":\"script\",\"zzzzzzz\":1}",
         ":1: unknown key \"zzzzzzz\"; available: kind, $schema, description, name, error_text, tool, "
         "actions, calls, on_end, on_error"},
	{"{\"kind\":\"script\",\"calls\":[],\"seed\":1}",
         ":1: unknown key \"seed\"; available: kind, $schema, description, name, error_text, tool, actions, "
         "calls, on_end, on_error"},
	{"{\"kind\":\"random\",\"seed\":1}",
         ":1: a policy of kind \"random\" needs no file: use \1policy\2 random:SEED"},
	{"{\"kind\":\"script\",\"name\":7,\"calls\":[]}", ":1: \"name\" must be a string, not 7"},
	{"{\"kind\":\"script\",\"description\":[],\"calls\":[]}",
         ":1: \"description\" must be a string, not an array"},
	{"{\"kind\":\"script\",\"tool\":7,\"actions\":[]}", ":1: \"tool\" must be a string, not 7"},
	{"{\"kind\":\"script\",\"tool\":\"move\",\"calls\":[]}",
         ": each of the \"calls\" has its own tool: \"tool\" is only valid with \"actions\""},
	{"{\"kind\":\"script\",\"calls\":[],\"on_end\":\"never\"}",
         ":1: \"on_end\" does not accept \"never\"; available: stop, cycle, repeat"},
	{"{\"kind\":\"script\",\"calls\":[],\"on_end\":3}",
         ":1: \"on_end\" must be a string, not 3"},
#define ON_ERROR ":1: \"on_error\" must be \"continue\" or {\"stop_after\": K} with K >= 1, not "
	{"{\"kind\":\"script\",\"calls\":[],\"on_error\":\"stop\"}", ON_ERROR "\"stop\""},
	{"{\"kind\":\"script\",\"calls\":[],\"on_error\":{\"stop_after\":0}}",
         ON_ERROR "an object"},
	{"{\"kind\":\"script\",\"calls\":[],\"on_error\":{\"stop_after\":1.5}}",
         ON_ERROR "an object"},
	{"{\"kind\":\"script\",\"calls\":[],\"on_error\":{\"stop_after\":1,\"x\":1}}",
         ON_ERROR "an object"},
	{"{\"kind\":\"script\",\"calls\":[7]}", ":1: calls[0]: must be an object, not a number"},
	{"{\"kind\":\"script\",\"calls\":[\"move\"]}",
         ": calls[0]: call 'move': the required argument \"way\" is missing"},
	{"{\"kind\":\"script\",\"calls\":[{\"name\":\"wait\"},{}]}",
         ":1: calls[1]: \"name\" is missing"},
	{"{\"kind\":\"script\",\"calls\":[{\"name\":1}]}",
         ":1: calls[0]: \"name\" must be a string, not 1"},
	{"{\"kind\":\"script\",\"calls\":[{\"name\":\"wait\",\"arguments\":[]}]}",
         ":1: calls[0]: \"arguments\" must be an object, not an array"},
	{"{\"kind\":\"script\",\"calls\":[{\"name\":\"wait\",\"argument\":{}}]}",
         ":1: calls[0]: unknown key \"argument\"; did you mean 'arguments'?"},
	{"{\"kind\":\"script\",\"calls\":[{\"name\":\"mvoe\"}]}",
         ": call 1 (mvoe): the server has no tool 'mvoe'; did you mean 'move'?"},
	{"{\"kind\":\"script\",\"calls\":[{\"name\":\"wait\"},{\"name\":\"move\"}]}",
         ": call 2 (move): the required argument \"way\" is missing"},
	{"{\"kind\":\"script\",\"calls\":[{\"name\":\"wait\",\"arguments\":{\"turns\":0}}"
         "]}",
         ": call 1 (wait): argument 'turns' is 0, below the minimum 1"},
	{"{\"kind\":\"script\",\"actions\":[\"UP\"]}",
         ": the server has several tools: choose one with \1tool\2 NAME; available: move, wait"},
	{"{\"kind\":\"script\",\"tool\":\"move\",\"actions\":[\"UP\",\"DOWM\"]}",
         ": action 'DOWM': argument 'way' does not accept 'DOWM'; did you mean 'DOWN'?"},
	{"{\"kind\":\"script\",\"tool\":\"wait\",\"actions\":[1,\"two\"]}",
         ": action 'two': the argument 'turns' must be of type \"integer\""},
};

static void test_bad(void)
{
	struct error err;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct policy *p = open_text(bad[i].text, NULL, &err);
		char wanted[600];
		size_t prefix = strncmp(err.text, "policy ", 7) == 0 ? 7 : 0;

		snprintf(wanted, sizeof(wanted), "%s%s", path, bad[i].message);
		ok(!p && err.kind == FAIL_INPUT, "refused: %s", bad[i].text);
		is_str(err.text + prefix, wanted, "and why");
		if (p)
			p->ops->close(p);
	}
}

static void test_unreadable(void)
{
	struct policy_conf conf = {.spec = "no-such-policy.json"};
	struct policy *p = NULL;
	struct error err;

	ok(policy_open(&conf, &p, &err) < 0 && err.kind == FAIL_INPUT, "no such file");
	is_str(err.text,
	       "policy 'no-such-policy.json': no such file or ready-made policy; other policies are random:SEED and llm",
	       "and why");
	conf.spec = "randm:7";
	ok(policy_open(&conf, &p, &err) < 0 && err.kind == FAIL_INPUT, "a misspelt kind");
	is_str(err.text, "policy 'randm:7': no such file; did you mean 'random'?",
	       "and the nearest");
	conf.spec = "/tmp";
	ok(policy_open(&conf, &p, &err) < 0 && err.kind == FAIL_INPUT, "a directory");
	conf.spec = "/nowhere/x.json";
	ok(policy_open(&conf, &p, &err) < 0 && err.kind == FAIL_INPUT, "no such directory");
	ok(strstr(err.text, "No such file or directory") != NULL, "and why: %s", err.text);
}

static void is_next(struct policy *p, const char *name, const char *arguments)
{
	struct policy_view view = {.last = OUTCOME_OK};
	struct decision d;
	struct error err;
	char got[256];

	ok(p->ops->decide(p, &view, &d, &err) == 0 && d.kind == DECIDE_CALL, "a call");
	snprintf(got, sizeof(got), "%.*s %.*s", STR_ARG(d.name), STR_ARG(d.arguments));
	char wanted[256];
	snprintf(wanted, sizeof(wanted), "%s %s", name, arguments);
	is_str(got, wanted, "which one");
}

static void test_good(void)
{
	struct policy_facts facts;
	struct error err;
	struct policy *p =
		open_text("{\"on_end\":\"repeat\",\"calls\":[{\"name\":\"wait\"},"
	                  "{\"arguments\":{\"turns\" : 9007199254740993},\"name\":\"wait\"}],"
	                  "\"name\":\"slow \\u00e9\",\"on_error\":\"continue\",\"kind\":\"script\","
	                  "\"description\":\"d\",\"$schema\":\"s\"}",
	                  NULL, &err);

	ok(p != NULL, "calls: %s", err.text);
	if (p) {
		p->ops->facts(p, &facts);
		ok(str_eq(facts.name, STR("slow \xc3\xa9")), "its name");
		is_int(facts.length, -1, "it has no end");
		is_next(p, "wait", "{}");
		is_next(p, "wait", "{\"turns\":9007199254740993}");
		is_next(p, "wait", "{\"turns\":9007199254740993}");
		p->ops->close(p);
	}
	p = open_text("{\"kind\":\"script\",\"tool\":\"wait\",\"actions\":[1,2.0,\"3\"]}", NULL,
	              &err);
	ok(p != NULL, "actions: %s", err.text);
	if (p) {
		p->ops->facts(p, &facts);
		ok(str_ends(str_from(path), facts.name), "named after its file");
		is_int(facts.length, 3, "three turns");
		is_next(p, "wait", "{\"turns\":1}");
		is_next(p, "wait", "{\"turns\":2.0}");
		is_next(p, "wait", "{\"turns\":3}");
		p->ops->close(p);
	}
}

static void test_conf(void)
{
	struct policy_conf force = {.force_call = true}, tool = {.tool = "move"};
	struct error err;
	struct policy *p =
		open_text("{\"kind\":\"script\",\"calls\":[{\"name\":\"mvoe\"}]}", &force, &err);

	ok(p != NULL, "--force-call sends invalid arguments");
	if (p) {
		is_next(p, "mvoe", "{}");
		p->ops->close(p);
	}
	p = open_text("{\"kind\":\"script\",\"actions\":[\"UP\"]}", &tool, &err);
	ok(p != NULL, "--tool names the tool of a file: %s", err.text);
	if (p) {
		is_next(p, "move", "{\"way\":\"UP\"}");
		p->ops->close(p);
	}
	p = open_text("{\"kind\":\"script\",\"calls\":[{\"name\":\"wait\"}]}", &tool, &err);
	ok(!p && strstr(err.text, "\1tool\2 is only valid with"), "--tool next to calls: %s",
	   err.text);
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0) {
		perror(path);
		return 1;
	}
	close(fd);
	test_bad();
	test_unreadable();
	test_good();
	test_conf();
	unlink(path);
	return done();
}
