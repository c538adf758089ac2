/* Reads tool calls in the text of a reply, in any format that models were trained on. One reader
   for all formats: it makes one pass over the text, and a row of toolformats.def describes how
   to read what follows each mark. Reasoning is removed, and calls within it are ignored. Whether
   a call can be sent is decided in llm/calls.c. */
#pragma once

#include "base/buf.h"
#include "base/mem.h"
#include "policy/toolformats/repair.h"

#define FOUND_CALLS_MAX 128 /* per reply; further ones are noted, not kept */

enum found_how {
	FOUND_WHOLE,
	FOUND_CUT, /* the text ends inside the call */
	FOUND_BAD, /* it cannot be parsed unambiguously */
};

struct found_call {
	enum found_how how;
	struct str id, name;  /* decoded; id: if the format has one */
	struct str arguments; /* raw: should be a JSON object; absent: none */
	const char *why;      /* of FOUND_BAD: the reason */
	bool begun;           /* of FOUND_CUT: more than the name is there, even if not kept */
};

struct reading_conf {
	struct str tools;    /* as advertised: names and types */
	const char *format;  /* the only one to read; NULL: all of them */
	bool repair;         /* also read calls that need a repair, and note it */
	bool asked_for_json; /* the prompt asked for JSON: incomplete JSON is a truncated call */
	bool limited;        /* the reply ended at its token limit */
	/* Asked now and then; true stops the reading. NULL: never */
	bool (*stopped)(const void *ctx);
	const void *ctx;
};

/* Slices of the text or the arena. */
struct reading {
	struct found_call *calls;
	size_t count;
	const char *format; /* of the first call; NULL: no calls */
	struct str content; /* the text other than calls and reasoning */
	struct str reasoning;
	bool marked;  /* the text contains marks of some format */
	bool stopped; /* by the caller: there are no calls */
	struct call_notes notes, repairs;
};

void reading_text(const struct reading_conf *conf, struct str text, struct arena *arena,
                  struct reading *out);

/* Does the text contain marks of some format? */
bool reading_marked(struct str text);

/* Do the chat templates of that format's models take results only in messages of role tool, and
   render such a message even if the call before it was text? False for NULL. */
bool tool_format_has_role(const char *format);

/* Appends a call's result as text, in the form that models of that format were trained on; NULL:
   <tool_response>. id: of the call. */
void tool_format_result(const char *format, struct str id, struct str name, struct str text,
                        struct buf *out);

/* "auto" and the formats' names, ending with NULL; and the same joined by "|". */
extern const char *const tool_format_names[];
extern const char tool_format_choices[];
