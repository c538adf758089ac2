/* The trainer's settings as options, under TRL's own names. */
#pragma once

#include "cmd/options/options.h"
#include "rollout/trainer.h"

#define MEMBERS trainer
#include "cmd/options/members.h"

bool trainer_given(const struct trainer_options *o);

/* Computes the plan. FAIL_USAGE for a setting of 0, or one that the
   trainer refuses; FAIL_INPUT for a configuration that cannot be read. `description` receives
   the arithmetic as a sentence. */
MUST_USE int trainer_read(const struct trainer_options *o, struct trainer_plan *plan,
                          struct buf *description, struct error *err);
