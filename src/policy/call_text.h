/* A call as one line of text: TOOL key=value .. Words are separated by blanks and quoted as in a shell:
   '..' as it stands, ".." and outside of quotes with \\ before a character that is meant itself.

     key=TEXT     a value of the type that the tool's schema wants
     key=@FILE    the content of a file, as text
     key:=JSON    JSON, whatever the schema wants; [..] and {..} have quotes of their own, up to the bracket
                  that closes them, unless the first one is a ' or after a \

   The tool may be left out if the server has only one. A JSON object {"name":..,"arguments":{..}}, as in a
   recording, is a call, too. */
#pragma once

#include "json/scan.h"
#include "policy/policy.h"

/* Checks what does not depend on the tools: the quotes, and that there are words. FAIL_USAGE. */
MUST_USE int call_text_check(const char *text, struct error *err);

/* Allocates in the arena. Checked against the tool's schema, unless conf->force_call. FAIL_USAGE: what is
   wrong, with the nearest name; FAIL_INPUT: a file that cannot be read. */
MUST_USE int call_text_read(const struct policy_conf *conf, const char *text, struct arena *arena,
                            struct script_call *out, struct error *err);

/* ---- writing calls ---- */

/* Appends "NAME key=value .." with the required arguments, or, where their text would need quotes, the
   same call as a JSON object. tool: raw JSON, as advertised. Nothing if it has no name. */
void call_example(struct str tool, struct buf *out);

/* Appends the arguments alone, a JSON object. */
void call_example_arguments(struct str tool, struct buf *out);

/* Appends a call with these arguments (raw JSON object) in the same form. */
void call_spell(struct str tool, struct str name, struct str arguments, struct buf *out);
