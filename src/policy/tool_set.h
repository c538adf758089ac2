/* Choice among advertised tools, and checks of calls against their schemas (json/arguments.h). */
#pragma once

#include "base/error.h"
#include "json/scan.h"
#include "json/schema.h"
#include "protocol/tool_list.h"

/* Reduces functions.NAME and NAME.NAME to NAME (forms used in some prompts); returns other names
   unchanged. */
struct str tool_bare_name(struct str name);

/* FAIL_USAGE: no such tool; the message has the nearest name and the list. */
MUST_USE int tool_require(struct str tools, struct str name, struct error *err);
/* Appends the decoded name of the only tool. FAIL_USAGE: several; the message has the list. */
MUST_USE int tool_only(struct str tools, struct buf *name, struct error *err);
/* Appends "a, b, c", shortened for a message. */
void tool_names(struct str tools, struct buf *out);

/* Checks arguments against the tool's schema. FAIL_USAGE: the problem, with the nearest name. */
MUST_USE int tool_check_arguments(struct str tool, struct str arguments, struct error *err);

/* The property set by an action: the named one, else the only required one, else the only one.
   name: NULL if not given; *key is still escaped. FAIL_USAGE: there is no such property. */
MUST_USE int tool_action_property(struct str tool, const char *name, struct str *key,
                                  struct str *schema, struct error *err);
/* Appends a text as a value of the schema's type. key: for messages. FAIL_USAGE: cannot be converted. */
MUST_USE int tool_value(struct str tool, struct str key, struct str schema, struct str text,
                        struct buf *out, struct error *err);
/* Appends the arguments {"key": action}, converting the action to the schema's type. tool:
   absent if not advertised. FAIL_USAGE: cannot be converted. */
MUST_USE int tool_action_arguments(struct str tool, struct str key, struct str schema,
                                   struct str action, struct buf *out, struct error *err);

/* ---- what a tool says about itself ---- */

/* Why the tool could serve as state; NULL: it could not, or nothing says so. */
const char *tool_why_state(const char *protocol, struct str tool, struct str name);

struct tool_argument {
	struct str key, schema, description, fallback; /* raw JSON, except the key, as spelled */
	bool required;
};

/* The next property of a tool's schema. */
bool tool_next_argument(struct str schema, size_t *cursor, struct tool_argument *out);

/* Appends "string", "integer 1..10", "up|down", "array of string", "string or null". */
void tool_put_type(struct references *r, struct str schema, struct buf *out);
