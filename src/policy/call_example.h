/* An example of a call of a tool, in the form of call_text.h. */
#ifndef ROLLDBG_POLICY_CALL_EXAMPLE_H
#define ROLLDBG_POLICY_CALL_EXAMPLE_H

#include "json/scan.h"

/* Appends "NAME key=value .." with the required arguments, or, where their text would need quotes, the
   same call as a JSON object. tool: raw JSON, as advertised. Nothing if it has no name. */
void call_example(struct str tool, struct buf *out);

/* Appends the arguments alone, a JSON object. */
void call_example_arguments(struct str tool, struct buf *out);

/* Appends a call with these arguments (raw JSON object) in the same form. */
void call_spell(struct str tool, struct str name, struct str arguments, struct buf *out);

#endif
