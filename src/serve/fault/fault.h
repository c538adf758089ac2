/* The directory serve/fault/: one file per fault, which changes what a healthy server does. */

/* The hooks of faults. A fault is one file of this directory, which includes hooks.h and defines
   its hooks, and one row of faults.def. A hook that is NULL leaves the healthy behavior
   unchanged. The servers include only this file. */
#ifndef ROLLDBG_SERVE_FAULT_FAULT_H
#define ROLLDBG_SERVE_FAULT_FAULT_H

#include "serve/serve.h"

struct call;
struct gym;
struct openenv;
struct reply;
struct request;
struct openenv_message;

struct fault_hooks {
	/* Sets how long a call waits before it is executed; both protocols. */
	void (*wait)(uint64_t *wait_ms);

	/* MCP. */
	void (*start)(struct gym *g);
	/* Called before the request is processed. True: *r is the reply. */
	bool (*request)(const struct request *q, struct reply *r);
	bool no_tools;
	/* Called before the arguments are checked. */
	void (*before_call)(struct gym *g, struct call *c);
	void (*after_call)(struct gym *g, struct call *c);

	/* OpenEnv. */
	void (*openenv_start)(struct openenv *o);
	/* Called before the request is processed. True: *r is the reply. */
	bool (*openenv_request)(struct openenv *o, const struct request *q, struct reply *r);
	/* Called for each valid message, before it is executed (a step: before its delay too)
	   and after. */
	void (*before_message)(struct openenv_message *t);
	void (*after_message)(struct openenv_message *t);
};

#define FAULT(ident, name, protocols, help) extern const struct fault_hooks fault_##ident;
#include "serve/fault/faults.def"
#undef FAULT

/* How long a call waits before it is executed: the delay, as modified by the active faults. */
uint64_t fault_wait_ms(const struct serve_conf *c);

/* Iterates over the hooks of the active faults: start with *cursor = 0; NULL at the end. */
const struct fault_hooks *fault_next(const struct gym *g, size_t *cursor);
const struct fault_hooks *fault_of(const struct serve_conf *c, size_t *cursor);

#endif
