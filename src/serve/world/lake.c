/* The rules of FrozenLake: see lake.h. */
#include "serve/world/lake.h"

const char *const lake_map_names[] = {"4x4", "8x8", "random", "random8x8"};
const size_t lake_map_count = ARRAY_LEN(lake_map_names);
const char *const lake_action_names[LAKE_ACTIONS] = {"LEFT", "DOWN", "RIGHT", "UP"};

static const struct {
	unsigned side;
	const char *fields; /* NULL: drawn from the seed */
} maps[] = {
	[LAKE_4X4] = {4, "SFFFFHFHFFFHHFFG"},
	[LAKE_8X8] = {8, "SFFFFFFFFFFFFFFFFFFHFFFFFFFFFHFFFFFHFFFFFHHFFFHFFHFFHFHFFFFHFFFG"},
	[LAKE_RANDOM_4X4] = {4, NULL},
	[LAKE_RANDOM_8X8] = {8, NULL},
};

#define FROZEN_PERCENT 80

static unsigned neighbor(unsigned side, unsigned position, int action)
{
	unsigned row = position / side, column = position % side;

	switch (action) {
	case 0:
		return column > 0 ? position - 1 : position;
	case 1:
		return row + 1 < side ? position + side : position;
	case 2:
		return column + 1 < side ? position + 1 : position;
	default:
		return row > 0 ? position - side : position;
	}
}

/* Can the goal be reached without falling into a hole? */
static bool is_solvable(const char *fields, unsigned side)
{
	unsigned waiting[LAKE_SIDE_MAX * LAKE_SIDE_MAX], count = 0;
	bool seen[LAKE_SIDE_MAX * LAKE_SIDE_MAX] = {false};

	waiting[count++] = 0;
	seen[0] = true;
	while (count > 0) {
		unsigned at = waiting[--count];

		if (fields[at] == 'G') {
			return true;
		}
		for (int action = 0; action < LAKE_ACTIONS; action++) {
			unsigned next = neighbor(side, at, action);

			if (!seen[next] && fields[next] != 'H') {
				seen[next] = true;
				waiting[count++] = next;
			}
		}
	}
	return false;
}

static void draw_fields(struct lake *l)
{
	unsigned count = l->side * l->side;

	do {
		for (unsigned i = 0; i < count; i++) {
			l->fields[i] = rng_below(&l->rng, 100) < FROZEN_PERCENT ? 'F' : 'H';
		}
		l->fields[0] = 'S';
		l->fields[count - 1] = 'G';
	} while (!is_solvable(l->fields, l->side));
}

void lake_init(struct lake *l, enum lake_map map, bool slippery, uint64_t seed)
{
	*l = (struct lake){.side = maps[map].side, .last_action = -1, .slippery = slippery};
	rng_seed(&l->rng, seed, 0);
	if (maps[map].fields) {
		memcpy(l->fields, maps[map].fields, (size_t)l->side * l->side);
	} else {
		draw_fields(l);
	}
}

struct lake_step lake_move(struct lake *l, int action)
{
	struct lake_step step = {.chance = 1};
	char field = l->fields[l->position];

	l->last_action = action;
	if (field == 'H' || field == 'G') {
		step.terminated = true;
		return step;
	}
	/* as likely to slip to either side as to move in the intended direction */
	if (l->slippery) {
		action = (action + LAKE_ACTIONS - 1 + (int)rng_below(&l->rng, 3)) % LAKE_ACTIONS;
		step.chance = 1.0 / 3.0;
	}
	l->position = neighbor(l->side, l->position, action);
	field = l->fields[l->position];
	step.reward = field == 'G';
	step.terminated = field == 'H' || field == 'G';
	return step;
}

void lake_draw(const struct lake *l, struct buf *out)
{
	static const char *const shown[LAKE_ACTIONS] = {"Left", "Down", "Right", "Up"};

	if (l->last_action >= 0) {
		buf_printf(out, "  (%s)", shown[l->last_action]);
	}
	buf_char(out, '\n');
	for (unsigned i = 0; i < l->side * l->side; i++) {
		if (i == l->position) {
			buf_printf(out, "\x1b[41m%c\x1b[0m", l->fields[i]);
		} else {
			buf_char(out, l->fields[i]);
		}
		if ((i + 1) % l->side == 0) {
			buf_char(out, '\n');
		}
	}
}
