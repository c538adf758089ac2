/* Reads a trainer's settings by name from its configuration: a JSON object, or the part of YAML that
   TRL's and accelerate's configurations use, lines `key: value`. */
#ifndef ROLLDBG_ROLLOUT_TRAINER_CONFIG_H
#define ROLLDBG_ROLLOUT_TRAINER_CONFIG_H

#include "rollout/trainer.h"

/* Sets the settings that the text names; others are the trainer's business. Calls `skipped` for
   each line that is not understood and might have held a setting: a nested one that bears the name of
   a setting, or one that is no `key: value`. FAIL_INPUT, "NAME:LINE: ..": a setting whose value is no
   whole number from 1, or invalid JSON. */
MUST_USE int trainer_config_read(struct str text, const char *name, struct trainer_settings *s,
                                 void (*skipped)(void *ctx, int64_t line, struct str text),
                                 void *ctx, struct error *err);

#endif
