/* The decoder of models' servers, for a flow to one. */
#ifndef ROLLDBG_TAP_MODEL_H
#define ROLLDBG_TAP_MODEL_H

#include "tap/message.h"

extern const struct tap_decoder *const tap_model_decoder[]; /* the only one */

#endif
