/* The folder serve/: every server we run: host/ (HTTP, sockets), gym/ and openenv/ (the
   protocols), llm/ (the scripted model), world/ (what is played), fault/ (one file a fault).
   Shares no code with env/, so that one mistake cannot hide another. */

/* The built-in environment servers: a faithful MCP-Gym lake with injectable faults, on
   libmicrohttpd, for demos, tests and `rolldbg run` without a target. */
#ifndef ROLLDBG_SERVE_SERVE_H
#define ROLLDBG_SERVE_SERVE_H

#include "base/clock.h"
#include "base/error.h"
#include "serve/host/strangers.h"
#include "serve/world/world.h"

struct playback;
struct server;

#define DEFAULT_MAX_ENVS   8
#define DEFAULT_SERVE_PORT 8000

enum serve_protocol { SERVE_MCP, SERVE_OPENENV };

struct serve_conf {
	const char *bind; /* an IPv4 address; NULL: 127.0.0.1 */
	uint16_t port;    /* 0: any free one */
	enum serve_protocol protocol;
	const struct world *world;
	struct world_conf world_conf;
	/* Not NULL: plays this recording instead of the world, without faults and with a session
	   for each rollout. Borrowed. */
	struct playback *playback;
	uint64_t max_envs; /* at least 1 */
	/* how long each tool call takes; 0: no time, or the default of fault `slow` */
	uint64_t delay_ms;
	struct allowed_origins origins; /* of pages; none: those of this host */
	uint64_t faults;                /* bits, by row of faults.def */
	/* A WebSocket is pinged after this idle time, and closed if the pong takes longer than
	   that. */
	uint64_t ping_ms, ping_timeout_ms;
	struct clock clock;
};

/* One row of faults.def. */
struct fault {
	const char *name, *help;
	unsigned protocols; /* bits by enum serve_protocol */
};
extern const struct fault serve_faults[];
extern const size_t serve_faults_count;
extern const char *const serve_protocols[]; /* by enum serve_protocol */
extern const size_t serve_protocols_count;

/* The standard 4x4 lake, not slippery, on any free port of 127.0.0.1. */
void serve_conf_init(struct serve_conf *c, struct clock clock);

/* "frozen_lake?map=8x8&fault=capacity&max_envs=3", what stands behind builtin: or is
   typed after `serve`. Keys: protocol (mcp, openenv), max_envs, delay (a duration), fault
   (may repeat); of frozen_lake also map (4x4, 8x8, random, random8x8) and slippery (0,
   1). FAIL_USAGE with the nearest name for an unknown world, key or value. */
MUST_USE int serve_conf_target(struct serve_conf *c, struct str target, struct error *err);
/* One key and its value, as above: for the options of `serve`. */
MUST_USE int serve_conf_set(struct serve_conf *c, struct str key, struct str value,
                            struct error *err);
/* The same as the key `fault`. */
MUST_USE int serve_conf_fault(struct serve_conf *c, struct str fault, struct error *err);
/* MAX_CONCURRENT_ENVS as the environment has it (NULL: not set). Not a whole number of at
   least 1: FAIL_USAGE, naming the variable and quoting the value. */
MUST_USE int serve_conf_max_envs(struct serve_conf *c, const char *value, struct error *err);

/* Does it go together? FAIL_USAGE for a fault that the protocol does not have, and what is no origin.
   server_start asks, too. */
MUST_USE int serve_conf_check(const struct serve_conf *c, struct error *err);

/* Listens and serves on threads of its own until server_stop. FAIL_SYSTEM: the port is
 * taken, ..; FAIL_USAGE: serve_conf_check. */
MUST_USE int server_start(const struct serve_conf *c, struct server **out, struct error *err);
uint16_t server_port(const struct server *s);
/* Appends where its environments are reached: http://127.0.0.1:PORT/mcp, ws://... */
void server_url(const struct server *s, struct buf *out);
/* How many environment steps were executed, over all sessions: what `at most once` is
 * counted by. */
uint64_t server_steps(const struct server *s);
void server_stop(struct server *s); /* ends all connections, waiting ones too; NULL is fine */

#endif
