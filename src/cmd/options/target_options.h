/* Shared by all commands with an environment: options for the target and its protocol, the built-in
   server, headers, secrets, and the configuration of sessions. */
#pragma once

#include "cmd/cmd.h"
#include "env/env.h"
#include "net/child.h"
#include "recording/redact/redact.h"

/* ---- passed.c ---- */

/* What a peer is given: the variables of a stdio: server, and HTTP headers: --header 'Name: value', --header @FILE (one per line), and
   --header-env for credentials, which keeps them out of the shell's history. */
#define MEMBERS header
#include "cmd/options/members.h"

struct header_list {
	char **items; /* "Name: value" */
	size_t count;
	size_t given; /* the first `given` come from --header, the rest from --header-env */
};

/* FAIL_USAGE for an invalid header or an unset variable; FAIL_INPUT for the file. */
MUST_USE int headers_read(const struct context *c, const struct header_options *o,
                          struct header_list *out, struct error *err);
void headers_release(struct header_list *l);

/* ---- the variables of a stdio: server ---- */

struct child_variables {
	char **items; /* "NAME=value", NULL-terminated; items is NULL if there are none */
	size_t count;
};

/* FAIL_USAGE if a variable is not set, or contains a credential for another peer (variables used
   for headers are never passed on). */
MUST_USE int child_variables_read(const struct context *c, const struct opt_list *names,
                                  const struct header_options *headers, struct child_variables *out,
                                  struct error *err);

/* Removes the variable of another peer's key; FAIL_USAGE if it is among the names. */
MUST_USE int child_variables_withhold(struct child_variables *v, const struct opt_list *names,
                                      const char *name, struct error *err);
void child_variables_release(struct child_variables *v);

/* ---- own_server.c ---- */

/* Waits for a server that is starting, and starts one with --serve. */
/* Zeroed: none was started. */
struct own_server {
	struct io *io; /* borrowed */
	struct child *child;
	struct buf log; /* path of the file with its output */
};

/* Repeats a request, traced in the log, until the URL's server replies with something else than 502, 503
   or 504; other targets than http(s) and ws(s) are not waited for. s: the server that was started, or
   NULL. FAIL_TRANSPORT: not within the time, or the started server has ended. */
MUST_USE int own_server_wait(struct io *io, const char *url, uint64_t wait_ms, struct own_server *s,
                             struct error *err);

/* Starts the command, whose output goes to a new file in the directory, and waits until the URL's port is
   served. FAIL_USAGE: no URL with a port; FAIL_SYSTEM: the port is taken. Set s->io before; call own_server_stop in any case. */
MUST_USE int own_server_start(struct own_server *s, const char *command, char *const *variables,
                              const char *directory, const char *url, uint64_t wait_ms,
                              struct error *err);

/* Ends its process group; removes the file, unless the server had ended by itself. */
void own_server_stop(struct own_server *s);

/* ---- target_options.c ---- */

#define MEMBERS target
#include "cmd/options/members.h"

extern const struct option_group target_first_group;

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

/* --secret and --secret-env. FAIL_USAGE: a variable is not set. */
MUST_USE int target_add_secrets(struct secrets *secrets, const struct opt_list *values,
                                const struct opt_list *names, const struct context *c,
                                struct error *err);
/* Redacts secrets in a message before it is printed. */
void env_target_hide(const struct env_target *t, struct error *err);

/* Prints why a peer was not reached or was lost: "PLACE: why", or only `why` if it begins with a
   URL of the same server. */
void target_say_lost(const char *place, const char *why);
