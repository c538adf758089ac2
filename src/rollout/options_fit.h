/* Do the user's options fit the server? One session that they fit settles it for the run: a
   later session that offers something else, which they do not fit, is the server's doing (a
   replica with other tools) and ends only its own rollout. Thread-safe. */
#ifndef ROLLDBG_ROLLOUT_OPTIONS_FIT_H
#define ROLLDBG_ROLLOUT_OPTIONS_FIT_H

#include "base/error.h"
#include "net/io.h"

struct options_fit;

struct options_fit *options_fit_new(void);
void options_fit_free(struct options_fit *f); /* NULL is fine */

/* Call before and after opening a session and the policy for its tools. fits: both were opened,
   and `offer` is a fingerprint of what the server offers. f NULL: this is the only rollout. */
void options_fit_begin(struct options_fit *f);
void options_fit_end(struct options_fit *f, bool fits, uint64_t offer);

/* After options_fit_end(f, false, offer): do the options fit a session with a different offer?
   Waits for sessions that are being opened. */
MUST_USE int options_fit_another(struct options_fit *f, uint64_t offer, struct io *io,
                                 bool *another, struct error *err);

#endif
