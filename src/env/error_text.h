/* Classifies an error by its text. Only used for replies already known to be errors: a text
   never turns a success into a failure here. */
#ifndef ROLLDBG_ENV_ERROR_TEXT_H
#define ROLLDBG_ENV_ERROR_TEXT_H

#include "recording/words.h"

/* The class of an error message, or `otherwise`. `layer` is the origin of the message: a tool
   may mention the capacity of an elevator, so in tool results only the exact messages of known
   servers count as capacity errors. */
enum error_class error_text_class(struct str message, enum error_layer layer,
                                  enum error_class fallback);

/* Does the text contain the pattern, ignoring case? '*' matches any text; a leading '^' anchors
   the pattern. */
bool error_text_matches(struct str text, const char *pattern);

/* The `code` of an error object: a number or a string, raw; absent otherwise. */
struct str error_code_of(struct str object);

#endif
