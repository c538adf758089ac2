/* Converts the model's side of a recording to a script for the scripted model. */
#ifndef ROLLDBG_SERVE_PLAYBACK_MODEL_H
#define ROLLDBG_SERVE_PLAYBACK_MODEL_H

#include "base/buf.h"
#include "base/error.h"

#define PLAYBACK_SCRIPT_MAX ((size_t)256 << 20)

/* Appends a script (serve/llm/script.h). For a recording of one rollout, replies are chosen by
   the number of assistant messages in the request, so that a repeated request gets the same
   reply; for several rollouts they are used in recorded order. FAIL_INPUT: not a recording, or
   it has no model replies. */
MUST_USE int playback_model(const char *path, struct buf *out, struct error *err);

#endif
