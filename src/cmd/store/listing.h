/* The lists that a command prints about itself: check --list and --explain, convert --list. */
#pragma once

#include "cmd/cmd.h"

/* check --list: every rule; one line each, or as JSON lines. */
MUST_USE int listing_rules(struct style style, bool json, struct error *err);
/* check --explain: one rule in full, or the same JSON line as in the list. FAIL_USAGE if there is
   none of that name. */
MUST_USE int listing_rule(const char *name, bool json, struct error *err);
/* convert --list: every format; one line each, or as JSON lines. */
MUST_USE int listing_formats(struct style style, bool json, struct error *err);
