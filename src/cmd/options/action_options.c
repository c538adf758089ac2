/* The options --call, --tool and --argument: see action_options.h. */
#include "cmd/options/action_options.h"

#include "base/file.h"

#include <stdlib.h>

#define FIELD(f) offsetof(struct action_options, f)

static const struct opt rows[] = {
	OPT_LIST('c', "call", OPT_REACH + OPT_COMMON, "'TOOL KEY=VALUE ..'", FIELD(calls),
                 "send this call (repeatable): values of the types that the tool's schema wants, "
                 "KEY:=JSON, KEY=@FILE; TOOL may be left out if the server has one"),
	OPT_STRING(
		't', "tool", OPT_REACH + OPT_COMMON, "NAME", FIELD(tool),
		"the tool that --actions or --policy random calls (default: the only one, or any)"),
	OPT_STRING(0, "argument", OPT_REACH, "NAME", FIELD(argument),
                   "the argument that --actions fills (default: the only, or only required one)"),
};

const struct option_group action_group = {rows, ARRAY_LEN(rows), NULL};

/* Cuts the text into lines, in place. */
static void cut(struct call_list *l)
{
	char *at = l->text.p, *end = at + l->text.n;

	while (at < end) {
		char *feed = memchr(at, '\n', (size_t)(end - at));
		char *stop = feed ? feed : end;

		*stop = '\0'; /* a buffer has room for one */
		const char *first = at + strspn(at, " \t\r");
		if (*first && *first != '#') {
			l->lines = mem_resize(l->lines, l->count + 1, sizeof(*l->lines));
			l->lines[l->count++] = first;
		}
		at = stop + 1;
	}
	l->item = l->lines;
}

int call_list_open(const struct action_options *o, const char **policy, struct call_list *out,
                   struct error *err)
{
	if (!*policy || strcmp(*policy, "-") != 0) {
		out->item = o->calls.item;
		out->count = o->calls.count;
		return 0;
	}
	if (o->calls.count)
		return error_set(err, FAIL_USAGE, "--policy - and --call are mutually exclusive");
	*policy = NULL;
	out->text = BUF(BUF_MAX_MESSAGE);
	if (file_read("policy", "-", &out->text, err))
		return -1;
	if (out->text.n && memchr(out->text.p, '\0', out->text.n))
		return error_set(err, FAIL_INPUT, "policy -: a NUL byte");
	buf_cstr(&out->text);
	cut(out);
	return out->count ? 0
	                  : error_set(err, FAIL_INPUT,
	                              "policy -: no calls: write one a line, TOOL key=value");
}

void call_list_release(struct call_list *l)
{
	free(l->lines);
	buf_release(&l->text);
}

struct policy_conf action_conf(const struct action_options *o, const char *actions,
                               const struct call_list *l)
{
	return (struct policy_conf){.actions = actions,
	                            .tool = o->tool,
	                            .argument = o->argument,
	                            .call_texts = l->item,
	                            .call_text_count = l->count};
}
