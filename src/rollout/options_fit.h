/* Do the user's options match the server? One session that matches settles it for the run: a
   later one that offers something else (a replica with other tools) is the server's fault and
   ends only its own rollout. Thread-safe. */
#pragma once

#include "base/error.h"
#include "net/io.h"

struct options_fit;

struct options_fit *options_fit_new(void);
void options_fit_free(struct options_fit *f); /* NULL is fine */

/* Call before and after opening a session and the policy for its tools. fits: both were opened,
   and `offer` is a fingerprint of the session's tools. f NULL: this is the only rollout. */
void options_fit_begin(struct options_fit *f);
void options_fit_end(struct options_fit *f, bool fits, uint64_t offer);

/* After options_fit_end(f, false, offer): did the options match a session with a different
   offer? Waits for sessions that are being opened. */
MUST_USE int options_fit_another(struct options_fit *f, uint64_t offer, struct io *io,
                                 bool *another, struct error *err);
