/* The environment protocols, and how one is chosen. */
#pragma once

#include "env/env.h"

extern const struct env_ops *const environments[];
extern const size_t environments_count;

/* The adapter for conf's URL and protocol; asks the server if the URL is ambiguous. NULL with
   FAIL_USAGE. */
const struct env_ops *env_find(const struct env_conf *conf, struct io *io, struct error *err);
/* Appends "openenv, ors or nemo-gym": those that asked and did not recognize the server. */
void env_put_unrecognized(const struct env_conf *conf, struct buf *out);
/* Opens a session. Takes at most conf's open_timeout_ms, then -1 with FAIL_TIMEOUT. */
MUST_USE int env_open(const struct env_ops *ops, const struct env_conf *conf, struct io *io,
                      struct env **out, struct env_reply *refusal, struct error *err);
