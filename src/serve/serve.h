/* The built-in environment servers: a faithful MCP-Gym lake with injectable faults, on
   libmicrohttpd, for demos, tests and `rolldbg run` without --env. */
#ifndef ROLLDBG_SERVE_SERVE_H
#define ROLLDBG_SERVE_SERVE_H

#include "base/clock.h"
#include "base/error.h"

struct server;

struct serve_conf {
	struct str world;    /* "frozen_lake" */
	const char *bind;    /* NULL: 127.0.0.1 */
	uint16_t port;       /* 0: any free one */
	bool map_8x8;
	bool slippery;
	uint64_t max_envs;   /* at least 1; DEFAULT_MAX_ENVS unless told */
	uint64_t delay_ms;   /* of fault `slow` and `hang`; each has its default when 0 */
	uint64_t faults;     /* bits, by row of faults.def */
	struct clock clock;
};

#define DEFAULT_MAX_ENVS 8

/* One row of faults.def. */
struct fault {
	const char *name, *help;
};
extern const struct fault serve_faults[];
extern const size_t serve_faults_count;

void serve_conf_init(struct serve_conf *c);
/* "frozen_lake?map=8x8&fault=capacity&max_envs=3": what stands behind builtin:. FAIL_USAGE with the nearest
   name for an unknown world, key or fault, or a value that does not fit. */
MUST_USE int serve_conf_target(struct serve_conf *c, struct str target, struct error *err);
MUST_USE int serve_conf_fault(struct serve_conf *c, struct str fault, struct error *err);
/* MAX_CONCURRENT_ENVS as the environment has it (NULL: not set). Not a whole number of at least 1: FAIL_USAGE,
   naming the variable and quoting the value. */
MUST_USE int serve_conf_max_envs(struct serve_conf *c, const char *value, struct error *err);

/* Listens and serves on threads of its own until server_stop. FAIL_SYSTEM: the port is taken ... */
MUST_USE int server_start(const struct serve_conf *c, struct server **out, struct error *err);
uint16_t server_port(const struct server *s);
/* How many environment steps were executed, over all sessions: what `at most once` is counted by. */
uint64_t server_steps(const struct server *s);
void server_stop(struct server *s); /* ends all connections; NULL is fine */

#endif
