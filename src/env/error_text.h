/* From the words of an error to its class. Only ever asked about replies that are known
   to be errors: no word of a peer makes a success a failure here. */
#ifndef ROLLDBG_ENV_ERROR_TEXT_H
#define ROLLDBG_ENV_ERROR_TEXT_H

#include "trajectory/outcome.h"

/* The class that the message of an error tells, or `otherwise`. `layer` is whose words
   they are: a tool may speak of a lift's capacity, so there only the forms of known
   servers count as their lack of room. */
enum error_class error_text_class(struct str message, enum error_layer layer,
                                  enum error_class otherwise);

/* Does a text that nobody marked as an error start like one (Python, MCP SDKs)? The
   weakest evidence: only for replies whose layers say nothing themselves. */
bool error_text_suspected(struct str text);

/* The outcome a class stands for: capacity, session-lost; else `otherwise`. "Timed out"
   is none: that is an outcome only when nobody answered, and words are an answer. */
enum outcome error_class_outcome(enum error_class c, enum outcome otherwise);

#endif
