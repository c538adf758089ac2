/* Column widths: see layout.h. */
#include "report/layout.h"

#include "report/cells.h"

#define ONE_LINE      ((size_t)72) /* on a narrower terminal a row takes two lines */
#define CALL_LEAST    ((size_t)12)
#define CALL_SHOWN    ((size_t)22) /* a call no longer than this is never truncated */
#define OUTCOME_LEAST (sizeof("outcome") - 1)
#define STATE_LEAST   (sizeof("unchanged") - 1)
#define REPLY_LEAST   (sizeof("observation") - 1)

static struct layout in_two_lines(size_t columns)
{
	struct layout l = {.columns = columns, .two_lines = true};

	l.call = l.outcome = TURN_COLUMNS + GAP;
	l.reward = columns - REWARD_COLUMNS;
	l.call_end = l.reward - GAP;
	l.state = l.outcome + strlen("ok") + GAP;
	l.state_end = l.outcome + (columns - l.outcome) * 3 / 5;
	l.observation = l.state_end + GAP;
	return l;
}

/* The outcome gets the width it needs, the state up to a third of the rest. The call and the
   observation share the remainder; width that one does not need goes to the other. If even a short
   call would be truncated, a row takes two lines. */
struct layout layout_make(size_t columns, struct widths w)
{
	columns = at_least(columns, LEAST_COLUMNS);
	if (columns < ONE_LINE) {
		return in_two_lines(columns);
	}
	struct layout l = {.columns = columns};
	size_t outcome = at_least(w.outcome, OUTCOME_LEAST);
	size_t room = columns - TURN_COLUMNS - outcome - REWARD_COLUMNS - 5 * GAP;
	size_t state = at_most(at_least(w.state, STATE_LEAST), room / 3);
	size_t half = (room - state) / 2;
	size_t spare = w.observation < half ? half - w.observation : 0;
	size_t call = at_least(w.call, CALL_LEAST), shown = at_most(call, CALL_SHOWN);

	if (shown + REPLY_LEAST > room - state) {
		return in_two_lines(columns);
	}
	call = at_least(at_most(call, half + spare), shown);
	l.call = TURN_COLUMNS + GAP;
	l.call_end = l.call + call;
	l.outcome = l.call_end + GAP;
	l.state = l.outcome + outcome + GAP;
	l.state_end = l.state + state;
	l.reward = l.state_end + GAP;
	l.observation = l.reward + REWARD_COLUMNS + GAP;
	return l;
}
