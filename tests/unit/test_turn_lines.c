/* The line numbers where turns begin. */
#include "check/turn_lines.h"

#include "tap.h"

static void add(struct turn_lines *t, enum line_type type, int64_t turn, uint64_t number)
{
	struct line l = {.type = type, .turn = turn, .number = number};

	turn_lines_add(t, &l);
}

int main(void)
{
	struct turn_lines t = {.count = 0};

	is_int(turn_lines_find(&t, 0), 0, "empty at first");
	add(&t, LINE_HEADER, -1, 3);
	add(&t, LINE_RESET, -1, 4);
	add(&t, LINE_STEP, 0, 5);
	add(&t, LINE_EVENT, 0, 7);
	add(&t, LINE_STEP, 100, 9);
	add(&t, LINE_STEP, (int64_t)TURN_LINES_MAX, 10);
	is_int(turn_lines_find(&t, 0), 5, "the first line of a turn");
	is_int(turn_lines_find(&t, 100), 9, "turns may be missing");
	is_int(turn_lines_find(&t, 50), 3, "one that is: the header");
	is_int(turn_lines_find(&t, -1), 3, "no turn: the header");
	is_int(turn_lines_find(&t, (int64_t)TURN_LINES_MAX), 3, "too many turns: the header");
	turn_lines_release(&t);
	is_int(turn_lines_find(&t, 0), 0, "released");
	turn_lines_release(&t);
	return done();
}
