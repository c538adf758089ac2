/* What an OpenEnv server says about itself without a session: asked once, before the first client
   comes, because few clients ask. */
#ifndef ROLLDBG_TAP_LEARN_H
#define ROLLDBG_TAP_LEARN_H

#include "net/io.h"

struct tap_reader;

/* Tells the decoders about the pages of the server at url; nothing if it does not answer, or is no
   OpenEnv server. Takes LEARN_MS at most. */
#define LEARN_MS 5000
void tap_learn(struct tap_reader *r, struct io *io, const char *url);

#endif
