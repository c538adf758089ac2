/* The open rollouts, and how often each id was used. */
#pragma once

#include "base/map.h"
#include "evidence/effects.h"
#include "evidence/hints.h"
#include "evidence/rollout_facts.h"

/* One open rollout: its facts, private data of the fold, and the caller's memory. */
struct open_rollout {
	struct map_item item;
	int64_t instance; /* 1, 2, ..: of this id */
	int64_t number;   /* order in which the rollouts of the file started: 1, 2, .. */

	struct rollout_facts facts;
	struct arena arena;
	const struct hints *hints;

	/* Its steps; the effect of the last one is unknown while it is pending. */
	struct completed_step *steps;
	bool pending;
	bool moved;    /* a call seemed to change the state */
	bool started;  /* its first state was read */
	bool terminal; /* some line reported terminated or truncated */

	const struct effect_list *effects; /* final ones, from a first pass; NULL: none */
	struct series series;
	struct explaining explaining;
	struct buf reread;  /* a second reading of the state, until the line with the first one */
	bool reread_busy;   /* others acted between the two */
	uint64_t end_state; /* a hash of the newest state */
	struct trace trace;
	struct previous_steps so_far; /* including the current line */
	int64_t last_line;            /* its time, by the clock of struct sharing */
	int64_t effective, unknown_effect, failed, longest_failed_run; /* steps */
	struct attribution attribution;
	struct rollout_end end;

	_Alignas(max_align_t) unsigned char user[];
};

struct rollout_table {
	struct map open;  /* struct open_rollout by id */
	struct map ended; /* ids that ended in this file */
	struct arena arena;
	void (*user_release)(void *user); /* may be NULL */
};

void rollout_table_init(struct rollout_table *t, void (*user_release)(void *user));

/* hash: map_hash of the id. */
struct open_rollout *rollout_table_find(const struct rollout_table *t, struct str id,
                                        uint64_t hash);
/* The open rollout with that hash, whatever its id. */
struct open_rollout *rollout_table_find_hash(const struct rollout_table *t, uint64_t hash);

/* Adds a zeroed rollout with user_size bytes for the caller; copies the id and sets the
   instance. */
struct open_rollout *rollout_table_add(struct rollout_table *t, struct str id, uint64_t hash,
                                       size_t user_size);

/* Removes and frees the rollout, and remembers its id as used. */
void rollout_table_end(struct rollout_table *t, struct open_rollout *o);

/* The number of ended instances of that id. */
int64_t rollout_table_ended(const struct rollout_table *t, uint64_t hash);

/* Returns the open rollouts in the order of their ids: an array to be freed by the caller. */
struct open_rollout **rollout_table_list(const struct rollout_table *t);

/* Forgets used ids, for a new file. All rollouts must have ended. */
void rollout_table_forget(struct rollout_table *t);
void rollout_table_release(struct rollout_table *t);
