/* What every command that talks to an environment shares: the options that say where it
   is and how to speak to it, the built-in server, headers, secrets, and what a session
   is opened with. */
#ifndef ROLLDBG_CMD_TARGET_H
#define ROLLDBG_CMD_TARGET_H

#include "cmd/cmd.h"
#include "cmd/headers.h"
#include "env/env.h"
#include "trajectory/redact.h"

/* Embedded in a command's options struct. */
struct target_options {
	const char *env, *protocol, *era, *state, *ca_file;
	struct opt_list ignore, secrets;
	struct header_options headers;
	struct opt_i64 seed;
	struct opt_u64 timeout;
	bool insecure;
};

/* Rows of a command's table. The first belong at its top, the others among what is
   rarely wanted. */
#define TARGET_FIRST_OPTIONS(base)                                                       \
	{'e',                                                                            \
	 "env",                                                                          \
	 "TARGET",                                                                       \
	 OPT_STR,                                                                        \
	 (base) + OPT(struct target_options, env),                                       \
	 "the environment: an MCP server, http(s)://HOST/mcp or stdio:COMMAND (run by "  \
	 "sh -c); an OpenEnv server, ws(s)://HOST or http(s)://HOST; or "                \
	 "builtin:frozen_lake[?map=8x8&fault=NAME..] or builtin:desk",                   \
	 NULL},                                                                          \
	{                                                                                \
		's', "seed", "N", OPT_I64, (base) + OPT(struct target_options, seed),    \
			"start the episode with this seed", NULL                         \
	}

#define TARGET_OPTIONS(base)                                                             \
	{0,                                                                              \
	 "state",                                                                        \
	 "SOURCE",                                                                       \
	 OPT_STR,                                                                        \
	 (base) + OPT(struct target_options, state),                                     \
	 "where to read the environment's state: auto (default), control-plane, "        \
	 "openenv, resource:URI, tool:NAME[:JSON], observation[:POINTER] or none",       \
	 NULL},                                                                          \
		{0,                                                                      \
	         "ignore",                                                               \
	         "POINTER",                                                              \
	         OPT_LIST,                                                               \
	         (base) + OPT(struct target_options, ignore),                            \
	         "JSON Pointer to a part of the state that does not count as change (a " \
	         "clock, a counter); may be given several times",                        \
	         NULL},                                                                  \
		{0,                                                                      \
	         "timeout",                                                              \
	         "DURATION",                                                             \
	         OPT_MS,                                                                 \
	         (base) + OPT(struct target_options, timeout),                           \
	         "give up a call after this long (default 60s)",                         \
	         NULL},                                                                  \
		{0,                                                                      \
	         "protocol",                                                             \
	         "NAME",                                                                 \
	         OPT_STR,                                                                \
	         (base) + OPT(struct target_options, protocol),                          \
	         "speak this protocol (default: detect it): mcp, as a plain MCP client " \
	         "that sends no environment session; mcp-gym, which must have a "        \
	         "control plane; openenv, over its WebSocket; openenv-http, over plain " \
	         "HTTP, which has no sessions",                                          \
	         NULL},                                                                  \
		{0,                                                                      \
	         "era",                                                                  \
	         "NAME",                                                                 \
	         OPT_CHOICE,                                                             \
	         (base) + OPT(struct target_options, era),                               \
	         "MCP revisions to speak: legacy, those with sessions (default); "       \
	         "modern, 2026-07-28, which has none; auto, ask the server first",       \
	         "legacy|modern|auto"},                                                  \
		HEADER_OPTIONS((base) + OPT(struct target_options, headers)),            \
		{0,                                                                      \
	         "secret",                                                               \
	         "VALUE",                                                                \
	         OPT_LIST,                                                               \
	         (base) + OPT(struct target_options, secrets),                           \
	         "redact this value in recordings and output; may be given several "     \
	         "times",                                                                \
	         NULL},                                                                  \
		{0,                                                                      \
	         "ca-file",                                                              \
	         "FILE",                                                                 \
	         OPT_STR,                                                                \
	         (base) + OPT(struct target_options, ca_file),                           \
	         "trust the CA certificates in FILE",                                    \
	         NULL},                                                                  \
	{                                                                                \
		0, "insecure", NULL, OPT_FLAG,                                           \
			(base) + OPT(struct target_options, insecure),                   \
			"accept any TLS certificate", NULL                               \
	}

#define TARGET_SESSION_DIGITS 32

/* Zeroed is fine for env_target_release. Everything is borrowed until then. */
struct env_target {
	const struct context *context;
	const struct target_options *options;
	const char *name;      /* as the user gave it, or the built-in lake's */
	struct buf url;        /* where it is, once started */
	struct server *server; /* ours; NULL: somebody else's */
	struct header_list headers;
	struct secrets *secrets; /* for recorders; the log hides them from now on */
};

/* Reads headers and secrets: nothing is started or sent. FAIL_USAGE, FAIL_INPUT. Before
   threads start. */
MUST_USE int env_target_prepare(struct env_target *t, const struct context *c,
                                const struct target_options *o, struct error *err);
/* Then: starts the built-in server where it is the target. FAIL_USAGE, FAIL_SYSTEM. */
MUST_USE int env_target_start(struct env_target *t, struct error *err);
/* Stops the server: after the last session and io is closed, and the last thread has
   ended. */
void env_target_release(struct env_target *t);

/* The built-in lake, which needs no policy to be shown. */
bool env_target_is_lake(const struct env_target *t);

/* What a session is opened with, all but env_session. Any thread, once started. */
struct env_conf env_target_conf(const struct env_target *t);
/* env_session of one session: another one at each call. FAIL_SYSTEM. Any thread. */
MUST_USE int env_target_new_session(char out[TARGET_SESSION_DIGITS + 1],
                                    struct error *err);
/* For the calling thread alone; io_free() it before env_target_release. */
MUST_USE int env_target_new_io(const struct env_target *t, struct io **out,
                               struct error *err);

/* Takes secrets out of a sentence that is about to be printed. */
void env_target_hide(const struct env_target *t, struct error *err);

#endif
