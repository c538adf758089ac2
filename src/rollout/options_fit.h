/* Do the user's options fit the server? A session that they fit settles it for the run: from
   then on a session that offers something else, and that they do not fit, is a server's doing
   (a replica with other tools) and ends its own rollout alone. Safe to use from many threads. */
#ifndef ROLLDBG_ROLLOUT_OPTIONS_FIT_H
#define ROLLDBG_ROLLOUT_OPTIONS_FIT_H

#include "base/error.h"
#include "net/io.h"

struct options_fit;

struct options_fit *options_fit_new(void);
void options_fit_free(struct options_fit *f); /* NULL is fine */

/* Around the opening of a session, and of the policy for its tools. fits: both are open, and
   `offer` is a fingerprint of what the server offers. f NULL: there is one rollout alone. */
void options_fit_begin(struct options_fit *f);
void options_fit_end(struct options_fit *f, bool fits, uint64_t offer);

/* After options_fit_end(f, false, offer): do the options fit a session with another offer?
   Waits for those that are being opened. */
MUST_USE int options_fit_another(struct options_fit *f, uint64_t offer, struct io *io,
                                 bool *another, struct error *err);

#endif
