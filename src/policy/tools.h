/* The tools a server advertises, as policies need them: found by name, and calls checked
   against their schemas (json/arguments.h). */
#ifndef ROLLDBG_POLICY_TOOLS_H
#define ROLLDBG_POLICY_TOOLS_H

#include "base/error.h"
#include "json/scan.h"

/* The tool's raw JSON, absent when there is none of that name. */
struct str tool_find(struct str tools, struct str name);
/* functions.NAME and NAME.NAME as NAME: what some models were shown; others as they are. */
struct str tool_bare_name(struct str name);
struct str tool_schema(struct str tool); /* inputSchema or input_schema; may be absent */

/* FAIL_USAGE: no such tool, with the nearest name and the list. */
MUST_USE int tool_require(struct str tools, struct str name, struct error *err);
/* Appends the decoded name of the only tool, or FAIL_USAGE with the list. */
MUST_USE int tool_only(struct str tools, struct buf *name, struct error *err);
/* "a, b, c" cut to a sentence. */
void tool_names(struct str tools, struct buf *out);

/* Does the call fit? FAIL_USAGE with what is wrong and the nearest name; otherwise 0. */
MUST_USE int tool_check_arguments(struct str tool, struct str arguments, struct error *err);

/* The one property that an action fills: the named one, else the only required one, else
   the only one. FAIL_USAGE when there is no such property. name: NULL for none; `key` is
   still escaped. */
MUST_USE int tool_action_property(struct str tool, const char *name, struct str *key,
                                  struct str *schema, struct error *err);
/* Appends the argument object {"key": action} with the action in the schema's type. FAIL_USAGE
   if that is impossible. tool: absent if it is not advertised. */
MUST_USE int tool_action_arguments(struct str tool, struct str key, struct str schema,
                                   struct str action, struct buf *out, struct error *err);

#endif
