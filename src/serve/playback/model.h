/* A recording as the model: what it answered, as a script of the scripted model. */
#ifndef ROLLDBG_SERVE_PLAYBACK_MODEL_H
#define ROLLDBG_SERVE_PLAYBACK_MODEL_H

#include "base/buf.h"
#include "base/error.h"

#define PLAYBACK_SCRIPT_MAX ((size_t)256 << 20)

/* Appends a script (serve/llm/script.h). The replies of a recording of one rollout are chosen by the
   number of assistant messages in the request, so that a repeated request gets the same one; those of
   several are given out in recorded order. FAIL_INPUT: no recording, or one in which no model
   spoke. */
MUST_USE int playback_model(const char *path, struct buf *out, struct error *err);

#endif
