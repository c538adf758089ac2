/* The Debug Adapter Protocol (microsoft.github.io/debug-adapter-protocol) over standard input and
   output: what editors speak. One thread; the steps of the rollout up to here are its frames, the
   facts of a step are scopes, and JSON values unfold. Breakpoints are function breakpoints, whose
   names are expressions, and data breakpoints, which watch a member of the state. */
#ifndef ROLLDBG_DEBUG_DAP_H
#define ROLLDBG_DEBUG_DAP_H

#include "debug/debugger.h"

/* Answers requests until the client disconnects. FAIL_INPUT: what came was no protocol. */
MUST_USE int dap_serve(struct debugger *d, struct error *err);

#endif
