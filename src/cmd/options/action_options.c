/* The options --call, --tool and --argument: see action_options.h. */
#include "cmd/options/action_options.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>

#define ROWS action
#include "cmd/options/rows.h"

const struct option_group action_group = {action_opts, ARRAY_LEN(action_opts), NULL};

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
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	*policy = NULL;
	if (file_read("policy", "-", &text, err))
		return -1;
	struct str rest = buf_view(&text);
	if (memchr(rest.p, '\0', rest.n))
		return error_set(err, FAIL_INPUT, "policy -: a NUL byte");
	while (rest.n) {
		struct str line = text_trim(str_cut(&rest, '\n'));

		if (line.n && line.p[0] != '#') {
			out->lines = mem_grow(out->lines, out->count, sizeof(*out->lines));
			out->lines[out->count++] = arena_str(&out->arena, line).p;
		}
	}
	out->item = out->lines;
	return out->count ? 0
	                  : error_set(err, FAIL_INPUT,
	                              "policy -: no calls: write one a line, TOOL key=value");
}

void call_list_release(struct call_list *l)
{
	free(l->lines);
	arena_release(&l->arena);
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
