/* Texts that repeat words of the call: "You go north." They differ with the call, although nothing
   else does. */
#ifndef ROLLDBG_FACTS_ECHO_H
#define ROLLDBG_FACTS_ECHO_H

#include "base/base.h"

/* A value and the arguments of the call before it, both raw. */
struct echo {
	struct str value, arguments;
};

/* Do two texts differ only in words of the arguments, ignoring case, and do they contain more than
   these? A word is a short string of at least two characters; numbers are not words, because they
   may be what the call set. */
bool echo_differs_only(const struct echo *before, const struct echo *after);

#endif
