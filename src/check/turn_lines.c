/* Line numbers by turn: see turn_lines.h. */
#include "check/turn_lines.h"

#include <stdlib.h>

static void make_room(struct turn_lines *t, size_t turn)
{
	size_t room = t->room ? t->room : 16;

	while (room <= turn)
		room *= 2;
	if (room > t->room) {
		t->first = mem_resize(t->first, room, sizeof(*t->first));
		t->room = room;
	}
	memset(t->first + t->count, 0, (turn + 1 - t->count) * sizeof(*t->first));
	t->count = turn + 1;
}

void turn_lines_add(struct turn_lines *t, const struct line *l)
{
	if (l->type == LINE_HEADER && !t->header)
		t->header = l->number;
	if (l->turn < 0 || l->turn >= (int64_t)TURN_LINES_MAX)
		return;
	size_t turn = (size_t)l->turn;

	if (turn >= t->count)
		make_room(t, turn);
	if (!t->first[turn])
		t->first[turn] = l->number;
}

uint64_t turn_lines_find(const struct turn_lines *t, int64_t turn)
{
	bool kept = turn >= 0 && (uint64_t)turn < t->count && t->first[turn];

	return kept ? t->first[turn] : t->header;
}

void turn_lines_release(struct turn_lines *t)
{
	free(t->first);
	*t = (struct turn_lines){.count = 0};
}
