/* What the files of rules/ include: the interface of a rule, the facts of peers in a form for
   messages, and what messages are made with. */
#ifndef ROLLDBG_CHECK_RULE_H
#define ROLLDBG_CHECK_RULE_H

#include "check/check.h"
#include "evidence/limits.h"
#include "evidence/peer.h"

#include <inttypes.h>
#include <stdio.h>

/* "1 step", "2 steps" */
static inline const char *plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

#endif
