/* What recordings of healthy runs showed of tools: one that was called without ever changing the state
   is read-only. */
#pragma once

#include "base/base.h"

struct baseline;

struct baseline *baseline_new(void);
void baseline_free(struct baseline *b); /* NULL is fine */

/* Adds a step of the tool with that (decoded) name. */
struct completed_step;
void baseline_note(struct baseline *b, struct str name, const struct completed_step *p);

/* Did the tool's calls succeed without ever changing the state? The name is decoded; false if b is
   NULL. */
bool baseline_is_read_only(const struct baseline *b, struct str name);
