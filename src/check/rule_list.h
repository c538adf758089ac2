/* Rules by name, as users list them. */
#ifndef ROLLDBG_CHECK_RULE_LIST_H
#define ROLLDBG_CHECK_RULE_LIST_H

#include "check/check.h"

/* Marks the rules that a comma-separated list names, by their place in the table. FAIL_USAGE with
   the nearest name for an unknown one. */
MUST_USE int rule_list_read(const char *list, bool named[CHECKS_MAX], struct error *err);

#endif
