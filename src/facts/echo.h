/* Texts that name the call they answer: "You go north." They differ with the call, although nothing
   else does. */
#ifndef ROLLDBG_FACTS_ECHO_H
#define ROLLDBG_FACTS_ECHO_H

#include "base/base.h"

/* A value and the arguments of the call before it, both raw. */
struct echo {
	struct str value, arguments;
};

/* Do two texts differ in nothing but words of the arguments, in any case, and is there more in them
   than these? A word is a string of two characters or more; numbers are not words: they may be
   what the call set. */
bool echo_differs_only(const struct echo *before, const struct echo *after);

#endif
