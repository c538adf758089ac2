/* Policy files: every key, wrong types, and what is said about them; what a good file
   does. */
#include "policy/file.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#define TOOLS                                                                            \
	"[{\"name\":\"move\",\"inputSchema\":{\"type\":\"object\",\"properties\":"       \
	"{\"way\":{\"type\":\"string\",\"enum\":[\"UP\",\"DOWN\"]}},"                    \
	"\"required\":[\"way\"]}},"                                                      \
	"{\"name\":\"wait\",\"inputSchema\":{\"type\":\"object\",\"properties\":"        \
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

/* What is wrong, and the end of what is said about it. */
static const struct {
	const char *text, *message;
} bad[] = {
	{"", ":1:1: unexpected end of the text"},
	{"{", ":1:2: unexpected end of the text"},
	{"{\"kind\":\"script\",\n \"actions\":[UP]}", ":2:13: expected a value"},
	{"[]", ": a policy is an object, this is array"},
	{"null", ": a policy is an object, this is null"},
	{"{}", ": \"kind\" is \"script\", \"random\" or \"llm\""},
	{"{\"kind\":1}", ": \"kind\" is \"script\", \"random\" or \"llm\""},
	{"{\"kind\":\"llm\"}",
         ": a policy of kind \"llm\" is given by --policy, for all tasks"},
	{"{\"kind\":\"script\"}",
         ": a script has either \"actions\" or \"calls\", an array"},
	{"{\"kind\":\"script\",\"actions\":[],\"calls\":[]}",
         ": a script has either \"actions\" or \"calls\", an array"},
	{"{\"kind\":\"script\",\"actions\":\"UP\"}",
         ": \"actions\" is string, not array"},
	{"{\"kind\":\"script\",\"calls\":{}}", ": \"calls\" is object, not array"},
	{"{\"kind\":\"script\",\"action\":[]}",
         ": unknown key \"action\"; did you mean \"actions\"?"},
	{"{\"kind\":\"script\",\"zzzzzzz\":1}", ": unknown key \"zzzzzzz\""},
	{"{\"kind\":\"script\",\"calls\":[],\"seed\":1}",
         ": a script policy takes no \"seed\""},
	{"{\"calls\":[],\"seed\":1,\"kind\":\"random\"}",
         ": a random policy takes no \"calls\""},
	{"{\"kind\":\"random\",\"actions\":[\"UP\"],\"seed\":1}",
         ": a random policy takes no \"actions\""},
	{"{\"kind\":\"random\",\"on_end\":\"stop\",\"seed\":1}",
         ": a random policy takes no \"on_end\""},
	{"{\"kind\":\"random\",\"on_error\":\"continue\",\"seed\":1}",
         ": a random policy takes no \"on_error\""},
	{"{\"kind\":\"random\",\"tool\":\"move\",\"seed\":1}",
         ": a random policy takes no \"tool\""},
	{"{\"kind\":\"random\"}", ": \"seed\" is a whole number of at least 0"},
	{"{\"kind\":\"random\",\"seed\":-1}",
         ": \"seed\" is a whole number of at least 0"},
	{"{\"kind\":\"random\",\"seed\":1.5}",
         ": \"seed\" is a whole number of at least 0"},
	{"{\"kind\":\"random\",\"seed\":\"1\"}",
         ": \"seed\" is a whole number of at least 0"},
	{"{\"kind\":\"script\",\"name\":7,\"calls\":[]}",
         ": \"name\" is number, not string"},
	{"{\"kind\":\"script\",\"description\":[],\"calls\":[]}",
         ": \"description\" is array, not string"},
	{"{\"kind\":\"script\",\"$schema\":null,\"calls\":[]}",
         ": \"$schema\" is null, not string"},
	{"{\"kind\":\"script\",\"tool\":7,\"actions\":[]}",
         ": \"tool\" is number, not string"},
	{"{\"kind\":\"script\",\"tool\":\"move\",\"calls\":[]}",
         ": each of the \"calls\" names its tool: \"tool\" goes with \"actions\""},
	{"{\"kind\":\"script\",\"calls\":[],\"on_end\":\"never\"}",
         ": \"on_end\" is \"stop\", \"cycle\" or \"repeat\""},
	{"{\"kind\":\"script\",\"calls\":[],\"on_end\":3}",
         ": \"on_end\" is \"stop\", \"cycle\" or \"repeat\""},
#define ON_ERROR                                                                         \
	": \"on_error\" is \"continue\" or {\"stop_after\": K} with K of at least 1"
	{"{\"kind\":\"script\",\"calls\":[],\"on_error\":\"stop\"}", ON_ERROR},
	{"{\"kind\":\"script\",\"calls\":[],\"on_error\":null}", ON_ERROR},
	{"{\"kind\":\"script\",\"calls\":[],\"on_error\":{\"stop_after\":0}}", ON_ERROR},
	{"{\"kind\":\"script\",\"calls\":[],\"on_error\":{\"stop_after\":1.5}}",
         ON_ERROR},
	{"{\"kind\":\"script\",\"calls\":[],\"on_error\":{\"stop_after\":1,\"x\":1}}",
         ON_ERROR},
#define A_CALL ": a call is {\"name\": \"...\", \"arguments\": {...}}"
	{"{\"kind\":\"script\",\"calls\":[\"move\"]}", ": \"calls\"[0]" A_CALL},
	{"{\"kind\":\"script\",\"calls\":[{\"name\":\"wait\"},{}]}",
         ": \"calls\"[1]" A_CALL},
	{"{\"kind\":\"script\",\"calls\":[{\"name\":1}]}", ": \"calls\"[0]" A_CALL},
	{"{\"kind\":\"script\",\"calls\":[{\"name\":\"wait\",\"arguments\":[]}]}",
         ": \"calls\"[0]" A_CALL},
	{"{\"kind\":\"script\",\"calls\":[{\"name\":\"wait\",\"argument\":{}}]}",
         ": \"calls\"[0]: unknown key \"argument\"; did you mean \"arguments\"?"},
	{"{\"kind\":\"script\",\"calls\":[{\"name\":\"mvoe\"}]}",
         ": call 1 (mvoe): the server has no tool 'mvoe'; did you mean 'move'?; the "
         "server's tools: move, wait"},
	{"{\"kind\":\"script\",\"calls\":[{\"name\":\"wait\"},{\"name\":\"move\"}]}",
         ": call 2 (move): the required argument \"way\" is missing"},
	{"{\"kind\":\"script\",\"calls\":[{\"name\":\"wait\",\"arguments\":{\"turns\":0}}"
         "]}",
         ": call 1 (wait): argument 'turns' is 0, below the minimum 1"},
	{"{\"kind\":\"script\",\"actions\":[\"UP\"]}",
         ": name the tool with --tool NAME; the server's tools: move, wait"},
	{"{\"kind\":\"script\",\"tool\":\"move\",\"actions\":[\"UP\",\"DOWM\"]}",
         ": action 'DOWM': argument 'way' does not take 'DOWM'; did you mean 'DOWN'? "
         "(allowed: [\"UP\",\"DOWN\"])"},
	{"{\"kind\":\"script\",\"tool\":\"wait\",\"actions\":[1,\"two\"]}",
         ": action 'two': the argument 'turns' wants a value of type \"integer\""},
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
		if (p) {
			p->ops->close(p);
		}
	}
}

static void test_unreadable(void)
{
	struct policy_conf conf = {.spec = "no-such-policy.json"};
	struct policy *p = NULL;
	struct error err;

	ok(policy_open(&conf, &p, &err) < 0 && err.kind == FAIL_INPUT, "no such file");
	is_str(err.text,
	       "policy 'no-such-policy.json': there is no such file, and it is "
	       "neither random:SEED nor llm",
	       "and why");
	conf.spec = "randm:7";
	ok(policy_open(&conf, &p, &err) < 0 && err.kind == FAIL_INPUT, "a misspelt kind");
	is_str(err.text,
	       "policy 'randm:7': there is no such file; did you mean the kind 'random'?",
	       "and the nearest");
	conf.spec = "/tmp";
	ok(policy_open(&conf, &p, &err) < 0 && err.kind == FAIL_INPUT, "a folder");
	conf.spec = "/nowhere/x.json";
	ok(policy_open(&conf, &p, &err) < 0 && err.kind == FAIL_INPUT, "no such folder");
	ok(strstr(err.text, "No such file or directory") != NULL, "and why: %s",
	   err.text);
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
	struct policy *p = open_text(
		"{\"on_end\":\"repeat\",\"calls\":[{\"name\":\"wait\"},"
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
	p = open_text("{\"kind\":\"script\",\"tool\":\"wait\",\"actions\":[1,2.0,\"3\"]}",
	              NULL, &err);
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
	p = open_text("{\"kind\":\"random\",\"seed\":7,\"name\":\"r\"}", NULL, &err);
	ok(p != NULL, "random: %s", err.text);
	if (p) {
		p->ops->facts(p, &facts);
		ok(str_is(facts.name, "r") && str_is(facts.params, "{\"seed\":7}"),
		   "its facts");
		p->ops->close(p);
	}
}

static void test_conf(void)
{
	struct policy_conf force = {.force_call = true}, tool = {.tool = "move"};
	struct error err;
	struct policy *p = open_text(
		"{\"kind\":\"script\",\"calls\":[{\"name\":\"mvoe\"}]}", &force, &err);

	ok(p != NULL, "--force-call sends what does not fit");
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
	p = open_text("{\"kind\":\"script\",\"calls\":[{\"name\":\"wait\"}]}", &tool,
	              &err);
	ok(!p && strstr(err.text, "--tool goes with"), "--tool beside calls: %s",
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
