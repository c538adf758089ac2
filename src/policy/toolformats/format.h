/* What a text format of tool calls is: a row in toolformats.def, marks that show it, one
   function that finds the calls. A format only finds; whether a call can be sent is for
   llm/calls.c. */
#ifndef ROLLDBG_POLICY_TOOLFORMATS_FORMAT_H
#define ROLLDBG_POLICY_TOOLFORMATS_FORMAT_H

#include "policy/llm/calls.h"

enum found_how {
	FOUND_WHOLE,
	FOUND_CUT, /* the text ends inside of it */
	FOUND_BAD, /* it is there and cannot be read */
};

struct found_call {
	enum found_how how;
	struct str id, name;  /* text; id: where the format has one */
	struct str arguments; /* as found: should be a JSON object */
	const char *why;      /* of BAD: constant */
};

/* What is being read, and what was found. Slices point into the text or the arena. */
struct finder {
	struct str tools; /* as advertised: the types of untyped values */
	bool repair;
	struct arena *arena;
	struct found_call *calls;
	size_t count;    /* at most CHAT_CALLS_MAX are kept */
	struct buf rest; /* text beside the calls */
	struct call_notes *notes, *repairs;
};

struct tool_format {
	const char *name, *help;
	const char *marks[4]; /* any one shows it; none: the whole text must be calls */
	/* Where other formats have the first mark, too: is what follows it (blanks
	   skipped) ours? NULL: yes. */
	bool (*is_ours)(struct str after_mark);
	void (*find)(struct finder *f, struct str text);
};

extern const struct tool_format *const tool_formats[];
extern const size_t tool_formats_count;

/* ---- for formats ---- */

void found_add(struct finder *f, struct found_call call);
void found_bad(struct finder *f, struct str name, struct str text, const char *why);
/* Text that is no call. */
void found_text(struct finder *f, struct str text);

/* Offset of the mark; s.n: it is not there. */
size_t mark_at(struct str s, const char *mark);
/* Splits at the first mark: what is before it, and *rest behind it. Without the mark all
   is before it, *rest is empty, and false is returned. */
bool cut_at(struct str s, const char *mark, struct str *before, struct str *rest);
struct str trimmed(struct str s);
/* A tool's name at the start: letters, digits, _ - . and colons. */
struct str leading_name(struct str s);

/* The JSON value at the start of s (blanks skipped). FOUND_WHOLE: *value and *used are
   set; it may have been mended into the arena. closed: an end mark stands behind s, so
   that a missing bracket is a slip and not the end of the text. */
enum found_how json_at(struct finder *f, struct str s, bool closed, struct str *value,
                       size_t *used);
/* The same where the value must fill all of s. */
enum found_how json_all(struct finder *f, struct str s, bool closed, struct str *value);
/* Adds the call of that name with the JSON at the start of s, whatever it is worth. */
void found_named(struct finder *f, struct str id, struct str name, struct str s,
                 bool closed);

/* {"name":..,"arguments":{..}} in its spellings ("parameters", "function":{..}). False:
   it is no such object. */
bool found_object(struct finder *f, struct str object);
/* An object, or an array of them. False: none of it is a call. */
bool found_objects(struct finder *f, struct str value);

/* One untyped value of a parameter as JSON, by the type its schema names: what is no
   value of that type is a string. Appends {"key":value, .. pieces. */
struct typed {
	struct str schema; /* of the tool; absent: unknown */
	struct buf object; /* begun with '{' */
};
void typed_begin(struct finder *f, struct str tool_name, struct typed *t);
void typed_add(struct typed *t, struct str key, struct str text, bool is_text);
struct str typed_end(struct finder *f, struct typed *t); /* raw JSON object */

/* Rewrites what is nearly JSON (Python's literals and quotes, trailing commas, raw line
   feeds, bad escapes, typographic quotes, missing ends) as JSON; false: it is not even
   nearly. Each thing that was mended is named. *used: bytes taken of the text. */
bool json_mend(struct str text, struct buf *out, size_t *used, struct call_notes *mended);

#endif
