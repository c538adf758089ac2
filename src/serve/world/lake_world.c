/* The lake as a world: its one tool, lake_move, and what it shows. */
#include "serve/world/world.h"

#include "json/scan.h"
#include "json/write.h"

struct place {
	struct lake lake;
	double chance; /* of the last step's outcome */
};

/* A FastMCP tool that returns a dict: the result is wrapped, and so is its schema. */
#define TOOLS                                                                                      \
	"[{\"name\":\"lake_move\",\"description\":\"Moves one field on the frozen "                \
	"lake. Actions: LEFT, DOWN, RIGHT, UP.\",\"inputSchema\":{\"properties\":{"                \
	"\"action\":{\"enum\":[\"LEFT\",\"DOWN\",\"RIGHT\",\"UP\"],\"title\":"                     \
	"\"Action\","                                                                              \
	"\"type\":\"string\"}},\"required\":[\"action\"],\"title\":"                               \
	"\"lake_moveArguments\",\"type\":\"object\"},\"outputSchema\":{\"properties\":{"           \
	"\"result\":{\"additionalProperties\":true,\"title\":\"Result\",\"type\":"                 \
	"\"object\"}},\"required\":[\"result\"],\"title\":\"lake_moveOutput\",\"type\":"           \
	"\"object\"}}]"

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Trimmed and in capitals, as the tool's body has it. */
static struct str tidy(struct buf *action)
{
	struct str s = buf_view(action);

	while (s.n > 0 && is_blank(s.p[0])) {
		s = str_skip(s, 1);
	}
	while (s.n > 0 && is_blank(s.p[s.n - 1])) {
		s.n--;
	}
	for (size_t i = (size_t)(s.p - action->p), end = i + s.n; i < end; i++) {
		if (action->p[i] >= 'a' && action->p[i] <= 'z') {
			action->p[i] = (char)(action->p[i] - 'a' + 'A');
		}
	}
	return s;
}

/* What the player sees, and unless NULL what was done: indented by two as Python does it,
   or without any blanks. */
static void observe(const struct lake *l, const char *action, bool indented, struct buf *out)
{
	const char *first = indented ? "\n  " : "", *then = indented ? ",\n  " : ",";
	const char *blank = indented ? " " : "", *last = indented ? "\n" : "";
	struct buf grid = BUF(BUF_MAX_SMALL);

	lake_draw(l, &grid);
	buf_printf(out, "{%s\"position\":%s%u%s\"grid\":%s", first, blank, l->position, then,
	           blank);
	json_quote(out, buf_view(&grid));
	if (action) {
		buf_printf(out, "%s\"action\":%s\"%s\"", then, blank, action);
	}
	buf_printf(out, "%s}", last);
	buf_release(&grid);
}

static void move(struct place *p, struct act *a, struct str action)
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
	act_fail(a);
	buf_printf(&a->text,
	           "Invalid action '%.*s'. Valid actions: ['LEFT', 'DOWN', 'RIGHT', 'UP']",
	           STR_ARG(action));
}

static void lake_call(void *place, struct act *a)
{
	static const struct parameter parameters[] = {{"action", .text = true}};
	struct buf action = BUF(BUF_MAX_MESSAGE);
	struct str value;

	if (!act_arguments(a, parameters, ARRAY_LEN(parameters), &value)) {
		return;
	}
	json_decode(value, &action);
	if (action.n == 0) {
		act_fail(a);
		buf_text(&a->text, "Invalid action parameter: ''. Must be a non-empty string. "
		                   "Valid actions: LEFT, DOWN, RIGHT, UP");
	} else {
		move(place, a, tidy(&action));
	}
	buf_release(&action);
}

static void init(void *place, const struct world_conf *conf, uint64_t seed, uint64_t now_ms)
{
	struct place *p = place;

	(void)now_ms;
	lake_init(&p->lake, conf->map, conf->slippery, seed);
}

static void show(const void *place, struct buf *out)
{
	const struct place *p = place;

	observe(&p->lake, NULL, false, out);
}

static void tell(const void *place, struct buf *out)
{
	const struct place *p = place;

	buf_text(out, p->chance < 1 ? "{\"prob\":0.3333333333333333}" : "{\"prob\":1.0}");
}

const struct world world_frozen_lake = {
	.name = "frozen_lake",
	.help = "a frozen lake to cross: one tool, reward at the goal",
	.server = "FrozenLake-v1",
	.tools = STR_INIT(TOOLS),
	.size = sizeof(struct place),
	.init = init,
	.call = lake_call,
	.state = show,
	.info = tell,
};
