/* The gate --max-environment-failures of run, check and stats. */
#ifndef ROLLDBG_CMD_FAILURE_GATE_H
#define ROLLDBG_CMD_FAILURE_GATE_H

#include "base/error.h"
#include "cmd/options/options.h"

#define OPT_FAILURE_GATE(field)                                                                    \
	OPT_STRING(0, "max-environment-failures", OPT_HARMLESS, "RATE", field,                     \
	           "exit 1 if more than this share of the rollouts (5%, 0.05) failed by the "      \
	           "environment, transport, capacity or verifier")

/* text: "5%" or "0.05"; NULL: *limit is 1, which nothing exceeds. FAIL_USAGE: anything else. */
MUST_USE int failure_gate_read(const char *text, double *limit, struct error *err);

/* Is the limit exceeded? Then says so on standard error. */
bool failure_gate_exceeded(double limit, int64_t failures, int64_t rollouts);

#endif
