/* The directory serve/fault/: what a healthy server does otherwise with a fault. */

/* The faults of the built-in servers: a row of the table in faults.c each, which sets traits or
   has hooks. A hook that is NULL leaves the healthy behavior unchanged. */
#pragma once

#include "base/base.h"

struct call;
struct gym;
struct reply;
struct request;
struct serve_conf;
struct openenv_message;

#define WAIT_FOREVER UINT64_MAX

/* As bits. */
enum fault_trait {
	FAULT_KEEPS_SLOTS = 1,     /* slots are never freed */
	FAULT_OPENS_ALL = 2,       /* beyond the limit, sessions open but never change */
	FAULT_HAS_NO_LIMIT = 4,    /* MCP: sessions use no slots */
	FAULT_SHARES_ENV = 8,      /* OpenEnv: all sessions act in one environment */
	FAULT_IGNORES_SEEDS = 16,  /* OpenEnv: each episode uses its own seed */
	FAULT_HIDES_METADATA = 32, /* OpenEnv: no metadata in replies */
	FAULT_IS_OLD = 256,        /* OpenEnv: plain HTTP of core 0.1, one environment for all */
	FAULT_MOVES_COST = 64,     /* MCP: each move costs 1 */
	FAULT_HAS_NO_TOOLS = 128,  /* MCP */
};

struct fault {
	const char *name, *help;
	unsigned protocols; /* bits by enum serve_protocol */
	unsigned traits;    /* of enum fault_trait */
	uint64_t wait_ms;   /* before a call is executed, if no delay is configured */
	/* MCP. request: called before the request is processed. True: *r is the reply. before_call:
	   before the arguments are checked. */
	bool (*request)(const struct request *q, struct reply *r);
	void (*before_call)(struct gym *g, struct call *c);
	void (*after_call)(struct gym *g, struct call *c);
	/* OpenEnv. The hooks of messages are called for each valid one, before it is executed (a
	   step: before its delay too) and after. */
	void (*before_message)(struct openenv_message *t);
	void (*after_message)(struct openenv_message *t);
};

extern const struct fault serve_faults[]; /* applied in this order */
extern const size_t serve_faults_count;

/* How long a call waits before it is executed. */
uint64_t fault_wait_ms(const struct serve_conf *c);
/* The traits of the active faults. */
unsigned fault_traits(const struct serve_conf *c);
/* Iterates over the active faults: start with *cursor = 0; NULL at the end. */
const struct fault *fault_of(const struct serve_conf *c, size_t *cursor);
