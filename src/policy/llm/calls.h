/* Tool calls out of a model's reply, however they come: native first, then as text in one
   of the formats that models were trained on (toolformats/). Only names that the
   environment offers make text a call, so prose stays prose. What was done to read a
   call is named, for a repaired call is not what the model sampled. */
#ifndef ROLLDBG_POLICY_LLM_CALLS_H
#define ROLLDBG_POLICY_LLM_CALLS_H

#include "policy/llm/conf.h"
#include "policy/llm/reply.h"
#include "policy/toolformats/notes.h"
#include "trajectory/words.h"

struct tool_call {
	struct str id, name; /* decoded; id: the server's, or made by us */
	/* raw JSON object; where outcome says unparsed: the text as a JSON string, or absent */
	struct str arguments;
	/* OUTCOME_NONE: it can be sent. Else why not: OUTCOME_UNPARSED, or
	   OUTCOME_NOT_SENT for a name that is not offered or a call that was cut off. */
	enum outcome outcome;
	enum error_class class;
	struct str message; /* the sentence for the record and for the model */
};

/* Everything lives in the arena given to calls_read. */
struct tool_calls {
	struct tool_call *items;
	size_t count;
	const char *source; /* "native", "text", "none" */
	const char *format; /* of text: the row of toolformats.def; else NULL */
	/* of "none": the cause for no-tool-call: "finish-length",
	   "content-filter", "finish-error", "markup", "refusal", "in-reasoning", "empty", "names-a-tool", "prose" */
	const char *cause;
	struct call_notes notes;   /* flags: "finish-reason-disagrees", .. */
	struct call_notes repairs; /* what was mended: "double-encoded", .. */
	struct str content;        /* text beside the calls, reasoning taken out */
	struct str reasoning;      /* of the reply, or found in the text */
};

struct calls_conf {
	struct str tools; /* as advertised, raw */
	enum tool_mode mode;
	const char *format; /* of text: the only one to read; NULL: all */
	bool repair;
	int64_t first; /* number of the first call, for the ids we make */
};

void calls_read(const struct calls_conf *conf, const struct chat_reply *reply, struct arena *arena,
                struct tool_calls *out);

#endif
