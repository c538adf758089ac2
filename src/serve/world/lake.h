/* FrozenLake as in gymnasium: maps, moves, slipping, ANSI rendering. Independent of sessions and
   sockets. The same seed gives the same lake and the same slips. */
#pragma once

#include "base/buf.h"
#include "base/rng.h"

#define LAKE_SIDE_MAX 8
#define LAKE_ACTIONS  4

enum lake_map { LAKE_4X4, LAKE_8X8, LAKE_RANDOM_4X4, LAKE_RANDOM_8X8 };

/* The names for `map=`, by enum lake_map: 4x4, 8x8, random, random8x8. */
extern const char *const lake_map_names[];
extern const size_t lake_map_count;

/* LEFT, DOWN, RIGHT, UP: by gymnasium's numbers. */
extern const char *const lake_action_names[LAKE_ACTIONS];

struct lake {
	char fields[LAKE_SIDE_MAX * LAKE_SIDE_MAX]; /* S F H G, row by row */
	unsigned side, position;
	int last_action; /* -1 before the first */
	bool slippery;
	struct rng rng;
};

struct lake_step {
	int reward;      /* 1 on arriving at the goal, else 0 */
	bool terminated; /* in a hole or at the goal; stays true */
	double chance;   /* probability of this outcome: 1, or 1/3 if slippery */
};

/* The standard maps do not depend on the seed, which then determines only the slips. A random
   map is drawn from the seed, each field frozen with probability 0.8, until the goal can be
   reached. */
void lake_init(struct lake *l, enum lake_map map, bool slippery, uint64_t seed);
struct lake_step lake_move(struct lake *l, int action);

/* "  (Down)\n" or "\n" before the first move, then the rows, the player's field in red.
 */
void lake_draw(const struct lake *l, struct buf *out);
