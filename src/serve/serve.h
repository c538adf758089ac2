/* The directory serve/: every server this program runs: host/ (HTTP, sockets), gym/ and openenv/
   (the protocols), llm/ (the scripted model), world/ (the built-in environments), fault/ (one
   file per fault), playback/. It shares no code with env/, so that a mistake in one is not
   hidden by the same mistake in the other. */

/* The built-in environment servers, with injectable faults, for demos, tests and `rolldbg run`
   without a target. */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "serve/host/origin.h"
#include "serve/world/world.h"

struct playback_source;
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
	/* Not NULL: plays back this recording instead of a world, without faults, one session
	   per rollout. Borrowed. */
	struct playback_source *playback;
	uint64_t max_envs; /* at least 1 */
	/* How long each tool call takes; 0: no delay, or the default of fault `slow`. */
	uint64_t delay_ms;
	struct allowed_origins origins; /* allowed web pages; empty: those of this host */
	uint64_t faults;                /* bit set by index in serve_faults */
	/* A WebSocket idle for ping_ms is sent a ping, and closed if no pong arrives within
	   ping_timeout_ms. */
	uint64_t ping_ms, ping_timeout_ms;
	struct clock clock;
};

extern const char *const serve_protocols[]; /* by enum serve_protocol */
extern const size_t serve_protocols_count;

/* Default: the standard 4x4 lake, not slippery, on any free port of 127.0.0.1. */
void serve_conf_init(struct serve_conf *c, struct clock clock);

/* Parses "frozen_lake?map=8x8&fault=capacity&max_envs=3": the part after `builtin:`, or the
   operand of `serve`. Keys: protocol (mcp, openenv), max_envs, delay (a duration), fault (may
   repeat); for frozen_lake also map (4x4, 8x8, random, random8x8) and slippery (0, 1).
   FAIL_USAGE: an unknown world, key or value, with the nearest name. */
MUST_USE int serve_conf_target(struct serve_conf *c, struct str target, struct error *err);
/* Sets one key, as above. */
MUST_USE int serve_conf_set(struct serve_conf *c, struct str key, struct str value,
                            struct error *err);
/* Sets the key `fault`. */
MUST_USE int serve_conf_fault(struct serve_conf *c, struct str fault, struct error *err);
/* The value of the variable MAX_CONCURRENT_ENVS; NULL: not set. FAIL_USAGE: not a positive
   integer. */
MUST_USE int serve_conf_max_envs(struct serve_conf *c, const char *value, struct error *err);

/* Checks the combination. FAIL_USAGE: a fault that the protocol does not support, or an invalid
   origin. Also called by server_start. */
MUST_USE int serve_conf_check(const struct serve_conf *c, struct error *err);

/* Listens and serves on its own threads until server_stop. FAIL_SYSTEM: for example, the port is
   in use; FAIL_USAGE: see serve_conf_check. */
MUST_USE int server_start(const struct serve_conf *c, struct server **out, struct error *err);
uint16_t server_port(const struct server *s);
/* Appends the URL of its environments: http://127.0.0.1:PORT/mcp, ws://... */
void server_url(const struct server *s, struct buf *out);
/* The number of environment steps executed, in all sessions. Tests check with it that each call
   is executed at most once. */
uint64_t server_steps(const struct server *s);
void server_stop(struct server *s); /* closes all connections; NULL is fine */
