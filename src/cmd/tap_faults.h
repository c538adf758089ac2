/* --fault NAME[@CONDITION] of the tap. */
#pragma once

#include "cmd/options/options.h"
#include "tap/fault.h"

/* FAIL_USAGE: an unknown fault, or a condition that cannot be decided when a call is sent. *out: NULL without
   faults; free it in any case. */
MUST_USE int faults_new(const struct opt_list *texts, uint64_t delay_ms, uint64_t max_sessions,
                        struct tap_engine **out, struct error *err);
