/* From a reply to tool calls: see calls.h. */
#include "policy/llm/calls.h"

#include "json/write.h"
#include "policy/tools.h"

#include <stdio.h>

void call_note(struct call_notes *n, const char *word)
{
	for (size_t i = 0; i < n->count; i++) {
		if (strcmp(n->words[i], word) == 0) {
			return;
		}
	}
	if (n->count < CALL_NOTES_MAX) {
		n->words[n->count++] = word;
	}
}

static struct str quoted(struct arena *a, struct str text)
{
	struct buf b = BUF(2 * CHAT_REPLY_MAX);

	json_quote(&b, text);
	struct str kept = arena_str(a, buf_view(&b));
	buf_release(&b);
	return kept;
}

static void refuse(struct tool_call *c, enum outcome outcome, enum error_class class,
                   struct str message)
{
	c->outcome = outcome;
	c->class = class;
	c->message = message;
}

static void read_arguments(struct arena *a, const struct chat_call *call,
                           struct tool_call *out)
{
	struct json_fault fault;
	struct error why = {0};

	if (json_validate(call->arguments, &fault)) {
		error_set(&why, FAIL_INPUT, "the arguments are not JSON: %s", fault.why);
	} else if (json_type(call->arguments) != JSON_OBJECT) {
		error_set(&why, FAIL_INPUT, "the arguments are %s, not an object",
		          json_type_name(json_type(call->arguments)));
	} else {
		out->arguments = call->arguments;
		return;
	}
	out->arguments = quoted(a, call->arguments);
	refuse(out, OUTCOME_UNPARSED, CLASS_ARGUMENTS, arena_str(a, str_from(why.text)));
}

/* Nine letters and digits, which every template takes. */
static struct str made_id(struct arena *a, int64_t number)
{
	char id[32];

	snprintf(id, sizeof(id), "call%05lld", (long long)(number % 100000));
	return arena_str(a, str_from(id));
}

void calls_read(const struct calls_conf *conf, const struct chat_reply *reply,
                struct arena *arena, struct tool_calls *out)
{
	struct error why = {0};

	*out = (struct tool_calls){.source = reply->call_count ? "native" : "none",
	                           .cause = reply->call_count ? NULL : "prose",
	                           .count = reply->call_count,
	                           .content = reply->content,
	                           .reasoning = reply->reasoning};
	out->items = arena_new(arena, (out->count + 1) * sizeof(*out->items));
	for (size_t i = 0; i < reply->call_count; i++) {
		const struct chat_call *call = &reply->calls[i];
		struct tool_call *c = &out->items[i];

		c->name = call->name;
		c->id = call->id.n ? call->id : made_id(arena, conf->first + (int64_t)i);
		read_arguments(arena, call, c);
		if (tool_require(conf->tools, call->name, &why)) {
			refuse(c, OUTCOME_NOT_SENT, CLASS_UNKNOWN_TOOL,
			       arena_str(arena, str_from(why.text)));
		}
	}
}
