/* Reads tool calls from a model's reply: native calls first, then calls in text, in one of the
   formats that models were trained on (toolformats/). Text is only a call if it names an offered
   tool. Each repair that was needed is recorded, because a repaired call is not what the model
   sampled. */
#pragma once

#include "policy/llm/completion.h"
#include "policy/llm/conf.h"
#include "policy/toolformats/repair.h"
#include "recording/words.h"

struct tool_call {
	struct str id, name; /* decoded; id: from the server, or made by us */
	/* raw JSON object; if outcome is unparsed: the text as a JSON string, or absent */
	struct str arguments;
	/* OUTCOME_NONE: can be sent. OUTCOME_UNPARSED: cannot be parsed. OUTCOME_NOT_SENT: the
	   tool is not offered, or the call was truncated. */
	enum outcome outcome;
	enum error_class class;
	struct str message; /* the message for the recording and the model */
};

/* All memory is in the arena passed to calls_read. */
struct tool_calls {
	struct tool_call *items;
	size_t count;
	const char *source; /* "native", "text", "none" */
	const char *format; /* of "text": the row of toolformats.def; else NULL */
	/* of "none": the cause reported by no-tool-call: "finish-length", "content-filter",
	   "finish-error", "calls-not-a-list", "markup", "refusal", "in-reasoning",
	   "calls-missing", "only-reasoning", "empty", "names-a-tool", "prose" */
	const char *cause;
	bool stopped;              /* by the caller, while the text was read */
	struct call_notes notes;   /* flags such as "finish-reason-disagrees" */
	struct call_notes repairs; /* repairs such as "double-encoded" */
	struct str content;        /* text outside the calls, without reasoning */
	struct str reasoning;      /* given in the reply, or found in its text */
};

struct calls_conf {
	struct str tools; /* as advertised, raw */
	enum tool_mode mode;
	const char *format; /* for calls in text: the only format to read; NULL: all */
	bool repair;
	int64_t first;                    /* number of the first call, for generated ids */
	bool (*stopped)(const void *ctx); /* of struct reading_conf */
	const void *ctx;
};

void calls_read(const struct calls_conf *conf, const struct chat_reply *reply, struct arena *arena,
                struct tool_calls *out);

/* Replaces the contents of out with the recording's `llm` member of a turn: the reply and how its
   calls were read. seed: of the request, raw; absent: none. */
void about_reply(const struct chat_reply *r, const struct tool_calls *calls, struct str seed,
                 const char *prompt_hash, struct buf *out);
