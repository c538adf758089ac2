/* Any bytes as a policy file, on a server with tools of every kind: an accepted policy
   decides, and its calls are JSON objects that match the tools' schemas. A second text,
   after a NUL byte, is the server's list of tools. The first one is also an error text. */
#include "policy/policy_file.h"
#include "policy/tool_set.h"

#include <stdint.h>
#include <stdlib.h>

#define TOOLS                                                                                      \
	"[{\"name\":\"move\",\"inputSchema\":{\"type\":\"object\",\"properties\":"                 \
	"{\"way\":{\"type\":\"string\",\"enum\":[\"UP\",\"DOWN\"]},\"n\":{\"anyOf\":"              \
	"[{\"type\":\"integer\",\"minimum\":1,\"maximum\":3},{\"type\":\"null\"}]}},"              \
	"\"required\":[\"way\"]}}]"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decide(struct policy *p, struct str text, struct str tools, bool checked)
{
	struct policy_view view = {.last = OUTCOME_NONE};
	struct json_fault fault;
	struct decision d;
	struct error err;

	for (int turn = 0; turn < 8; turn++) {
		if (p->ops->decide(p, &view, &d, &err) != 0 || d.kind != DECIDE_CALL)
			return;
		if (json_validate(d.arguments, &fault) != 0 ||
		    json_type(d.arguments) != JSON_OBJECT) {
			abort();
		}
		struct str tool = tool_find(tools, d.name);
		if (checked && (!tool.p || tool_check_arguments(tool, d.arguments, &err)))
			abort();
		view.last = turn % 2 ? OUTCOME_OK : OUTCOME_TOOL_ERROR;
		/* an error may list values */
		view.last_error = turn % 4 < 2 ? d.arguments : text;
	}
}

static void open_with(struct str text, struct str tools, bool force, bool checked)
{
	struct policy_conf conf = {.spec = "fuzz", .tools = tools, .force_call = force};
	struct policy_facts facts;
	struct policy *p = NULL;
	struct json_fault fault;
	struct error err;

	if (policy_text_open(&conf, text, &p, &err) != 0)
		return;
	p->ops->facts(p, &facts);
	if (json_validate(facts.params, &fault) != 0)
		abort();
	decide(p, text, tools, checked);
	p->ops->close(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size}, tools = STR(TOOLS);
	struct json_fault fault;
	const char *nul = size ? memchr(data, '\0', size) : NULL;

	if (nul) {
		text.n = (size_t)(nul - text.p);
		tools = (struct str){nul + 1, size - text.n - 1};
		if (json_validate(tools, &fault) != 0)
			return 0;
	}
	open_with(text, tools, false, !nul);
	open_with(text, tools, true, false);
	return 0;
}
