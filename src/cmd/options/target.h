/* Shared by all commands with an environment: options for the target and its protocol, the built-in
   server, headers, secrets, and the configuration of sessions. */
#ifndef ROLLDBG_CMD_OPTIONS_TARGET_H
#define ROLLDBG_CMD_OPTIONS_TARGET_H

#include "cmd/cmd.h"
#include "cmd/options/own_server.h"
#include "cmd/options/passed.h"
#include "env/env.h"
#include "recording/redact/redact.h"

/* Embedded in a command's options struct. */
struct target_options {
	const char *env, *protocol, *era, *state, *reset_json, *ca_file;
	struct opt_list ignore, secrets, secret_variables, passed_variables, error_texts;
	struct header_options headers;
	struct opt_i64 seed;
	struct opt_u64 timeout, open_timeout, wait;
	const char *serve;
	bool insecure;
};

extern const struct option_group target_first_group;

extern const struct option_group target_group;

#define TARGET_SESSION_DIGITS 32

/* Borrows the options until env_target_release, which accepts a zeroed one. */
struct env_target {
	const struct context *context;
	const struct target_options *options;
	const char *name;      /* as given, or the built-in lake's */
	struct buf url;        /* its URL, once started */
	struct server *server; /* NULL: the target is an external server */
	struct own_server own; /* of --serve */
	struct io *io;         /* to wait for a server; NULL: none was waited for */
	struct header_list headers;
	struct child_variables variables; /* of a stdio: server */
	struct secrets *secrets;          /* for recorders; the log redacts them from now on */
};

/* Reads headers and secrets; starts and sends nothing. FAIL_USAGE, FAIL_INPUT. Call it before
   threads start. */
MUST_USE int env_target_prepare(struct env_target *t, const struct context *c,
                                const struct target_options *o, struct error *err);
/* Call it after env_target_prepare: starts the built-in server if it is the target, or that of --serve, and
   waits for it. FAIL_USAGE, FAIL_SYSTEM, FAIL_TRANSPORT. */
MUST_USE int env_target_start(struct env_target *t, struct error *err);
/* Stops the server. Call it after the last session and io are closed and the last thread has
   ended. */
void env_target_release(struct env_target *t);

/* The time between two reads of the state that find clocks, in ms; 0 for a built-in target, which has
   none. */
uint64_t env_target_reads_apart_ms(const struct env_target *t);

/* True if the target is the built-in lake, which has a demonstration policy. */
bool env_target_is_lake(const struct env_target *t);

/* FAIL_USAGE: no environment was named, and `env`, that of a header of `file`, is not the built-in
   lake. */
MUST_USE int env_target_check_recorded(const struct target_options *o, const char *file,
                                       struct str env, struct error *err);

/* The configuration of a session, except env_session. Any thread, once started. */
struct env_conf env_target_conf(const struct env_target *t);
/* Makes a new env_session. FAIL_SYSTEM. Any thread. */
MUST_USE int env_target_new_session(char out[TARGET_SESSION_DIGITS + 1], struct error *err);
/* An io for the calling thread; io_free() it before env_target_release. */
MUST_USE int env_target_new_io(const struct env_target *t, struct io **out, struct error *err);

/* Removes the variable of another peer's key from a stdio: server's environment. FAIL_USAGE. */
MUST_USE int env_target_withhold(struct env_target *t, const char *variable, struct error *err);

/* --secret and --secret-env. FAIL_USAGE: a variable is not set. */
MUST_USE int target_add_secrets(struct secrets *secrets, const struct opt_list *values,
                                const struct opt_list *names, const struct context *c,
                                struct error *err);
/* Redacts secrets in a message before it is printed. */
void env_target_hide(const struct env_target *t, struct error *err);

/* Prints why a peer was not reached or was lost: "PLACE: why", or only `why` if it begins with a
   URL of the same server. */
void target_say_lost(const char *place, const char *why);

#endif
