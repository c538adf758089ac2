/* A progress line on a terminal, rewritten in place and cleared for other output. Thread-safe. All
   functions accept NULL, which means no line. */
#pragma once

#include "cmd/cmd.h"
#include "rollout/batch.h"

struct progress;

/* Returns NULL if standard error is not a terminal, or with --quiet. While it exists, log messages
   clear the line. */
struct progress *progress_new(const struct context *c);
void progress_free(struct progress *p); /* clears the line */

/* Truncated to the terminal's width. */
void progress_show(struct progress *p, struct str text);

/* Shows the progress of a batch after took_ms; suffix: text for the end of the line, or NULL. */
void progress_of_batch(struct progress *p, const struct batch_count *now, int64_t steps,
                       uint64_t took_ms, const char *suffix);

/* Appends how many of its rollouts got an environment; nothing if all did. */
void progress_say_environments(const struct batch_count *count, struct buf *out);

/* Clears the line until progress_go_on, so that the caller can write to the terminal. */
void progress_give_way(struct progress *p);
void progress_go_on(struct progress *p);
