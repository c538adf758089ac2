/* What a fault may do, and where. A fault is one file of this folder that includes hooks.h and
   defines its hooks, and one row of faults.def; hooks that are NULL leave the healthy behaviour
   as it is. The servers include this file alone. */
#ifndef ROLLDBG_SERVE_FAULT_FAULT_H
#define ROLLDBG_SERVE_FAULT_FAULT_H

#include "serve/serve.h"

struct call;
struct gym;
struct openenv;
struct reply;
struct request;
struct turn;

struct fault_hooks {
	/* How long this call waits before anything is done; over both protocols. */
	void (*wait)(uint64_t *wait_ms);

	/* Over MCP. */
	void (*start)(struct gym *g);
	/* Before anything else looks at the request; true: it is answered. */
	bool (*request)(const struct request *q, struct reply *r);
	bool no_tools;
	/* Before the arguments are looked at. */
	void (*before_call)(struct gym *g, struct call *c);
	void (*after_call)(struct gym *g, struct call *c);

	/* Over OpenEnv. */
	void (*openenv_start)(struct openenv *o);
	/* Before anything else looks at the request; true: it is answered. */
	bool (*openenv_request)(struct openenv *o, const struct request *q, struct reply *r);
	/* A message that makes sense: before it does anything, a step also before its
	   wait; and after. */
	void (*before_turn)(struct turn *t);
	void (*after_turn)(struct turn *t);
};

#define FAULT(ident, name, protocols, help) extern const struct fault_hooks fault_##ident;
#include "serve/fault/faults.def"
#undef FAULT

/* How long a call waits before it acts: the delay, and what faults make of it. */
uint64_t fault_wait_ms(const struct serve_conf *c);

/* The hooks of the active faults, one after the other: start with *cursor = 0; NULL at
 * the end. */
const struct fault_hooks *fault_next(const struct gym *g, size_t *cursor);
const struct fault_hooks *fault_of(const struct serve_conf *c, size_t *cursor);

#endif
