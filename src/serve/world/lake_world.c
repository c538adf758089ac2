/* The lake as a world: its one tool, lake_move, its observation and state. */
#include "base/text.h"
#include "json/scan.h"
#include "json/write.h"
#include "serve/served.h"
#include "serve/world/lake.h"
#include "serve/world/world.h"

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

		if (fields[at] == 'G')
			return true;
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
		for (unsigned i = 0; i < count; i++)
			l->fields[i] = rng_below(&l->rng, 100) < FROZEN_PERCENT ? 'F' : 'H';
		l->fields[0] = 'S';
		l->fields[count - 1] = 'G';
	} while (!is_solvable(l->fields, l->side));
}

void lake_init(struct lake *l, enum lake_map map, bool slippery, uint64_t seed)
{
	*l = (struct lake){.side = maps[map].side, .last_action = -1, .slippery = slippery};
	rng_seed(&l->rng, seed, 0);
	if (maps[map].fields)
		memcpy(l->fields, maps[map].fields, (size_t)l->side * l->side);
	else
		draw_fields(l);
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

	if (l->last_action >= 0)
		buf_printf(out, "  (%s)", shown[l->last_action]);
	buf_char(out, '\n');
	for (unsigned i = 0; i < l->side * l->side; i++) {
		if (i == l->position)
			buf_printf(out, "\x1b[41m%c\x1b[0m", l->fields[i]);
		else
			buf_char(out, l->fields[i]);
		if ((i + 1) % l->side == 0)
			buf_char(out, '\n');
	}
}

struct lake_world {
	struct lake lake;
	double chance; /* of the last step's outcome */
};

/* Trims and capitalizes the action, like the tool's implementation. */
static struct str normalize(struct buf *action)
{
	for (size_t i = 0; i < action->n; i++)
		if (action->p[i] >= 'a' && action->p[i] <= 'z')
			action->p[i] = (char)(action->p[i] - 'a' + 'A');
	return text_trim(buf_view(action));
}

/* The observation, and the action if not NULL; indented by two as in Python, or without
   whitespace. */
static void observe(const struct lake *l, const char *action, bool indented, struct buf *out)
{
	const char *first = indented ? "\n  " : "", *then = indented ? ",\n  " : ",";
	const char *blank = indented ? " " : "", *last = indented ? "\n" : "";
	AUTO_BUF grid = BUF(BUF_MAX_SMALL);

	lake_draw(l, &grid);
	buf_printf(out, "{%s\"position\":%s%u%s\"grid\":%s", first, blank, l->position, then,
	           blank);
	json_quote(out, buf_view(&grid));
	if (action)
		buf_printf(out, "%s\"action\":%s\"%s\"", then, blank, action);
	buf_printf(out, "%s}", last);
}

static void move(struct lake_world *p, struct world_call *a, struct str action)
{
	for (int i = 0; i < LAKE_ACTIONS; i++) {
		if (str_is(action, lake_action_names[i])) {
			struct lake_step step = lake_move(&p->lake, i);

			p->chance = step.chance;
			a->reward = step.reward;
			a->terminated = step.terminated;
			observe(&p->lake, lake_action_names[i], true, &a->text);
			observe(&p->lake, lake_action_names[i], false, &a->structured);
			return;
		}
	}
	world_call_fail(a);
	buf_printf(&a->text,
	           "Invalid action '%.*s'. Valid actions: ['LEFT', 'DOWN', 'RIGHT', 'UP']",
	           STR_ARG(action));
}

static void lake_call(void *instance, struct world_call *a)
{
	static const struct parameter parameters[] = {{"action", .text = true}};
	AUTO_BUF action = BUF(BUF_MAX_MESSAGE);
	struct str value;

	if (!world_call_arguments(a, parameters, ARRAY_LEN(parameters), &value))
		return;
	json_decode(value, &action);
	if (action.n == 0) {
		world_call_fail(a);
		buf_text(&a->text, "Invalid action parameter: ''. Must be a non-empty string. "
		                   "Valid actions: LEFT, DOWN, RIGHT, UP");
	} else {
		move(instance, a, normalize(&action));
	}
}

static void init(void *instance, const struct world_conf *conf, uint64_t seed, uint64_t now_ms)
{
	struct lake_world *p = instance;

	(void)now_ms;
	lake_init(&p->lake, conf->map, conf->slippery, seed);
}

static void write_state(const void *instance, struct buf *out)
{
	const struct lake_world *p = instance;

	observe(&p->lake, NULL, false, out);
}

static void write_info(const void *instance, struct buf *out)
{
	const struct lake_world *p = instance;

	buf_text(out, p->chance < 1 ? "{\"prob\":0.3333333333333333}" : "{\"prob\":1.0}");
}

const struct world world_frozen_lake = {
	.name = "frozen_lake",
	.help = "a frozen lake to cross: one tool, reward at the goal",
	.server = "FrozenLake-v1",
	.tools = &served_lake_tools,
	.size = sizeof(struct lake_world),
	.init = init,
	.call = lake_call,
	.state = write_state,
	.info = write_info,
};
