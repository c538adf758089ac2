/* Do rollouts that run at the same time share one environment? Between a reply and the next
   call (a pause) a rollout changes nothing: if its state differs from the last reply, or from a
   second read, either another rollout changed it or it is volatile. Members common to states and
   replies are counted over all rollouts of a recording, in their first steps. */
#ifndef ROLLDBG_FACTS_SHARING_H
#define ROLLDBG_FACTS_SHARING_H

#include "facts/member_changes.h"

#define SHARING_STEPS   64  /* steps of a rollout that are examined */
#define SHARING_PAUSES  512 /* pauses of a recording that are examined */
#define SHARING_MEMBERS 16  /* members that are tracked */
#define SHARING_VALUES  1024

/* One member of the states of all rollouts. */
struct shared_member {
	uint64_t key;    /* hash of the member's name; 0: unused */
	int64_t busy;    /* pauses in which other rollouts may have called a tool: */
	int64_t old;     /* of these: it changed back to a value that this rollout had just read */
	int64_t changed; /* of these: it changed to a new value */
	int64_t matched; /* of these: to a value that another rollout read in the pause */
	/* of these: it did not change, although the call before the pause had changed it;
	   `even`: each such call by the same number, as a call counter does */
	int64_t kept;
	double by;
	bool even;
	int64_t alone;  /* it changed in a pause in which no other rollout called a tool */
	int64_t recurs; /* it got a value again that the same rollout had read before */
	int64_t met;    /* it had a value that another rollout had read after another step */
	/* Its value (hashed) after step n of a rollout, and in how many pauses of other rollouts
	   it was equal or different. */
	uint64_t places[SHARING_STEPS + 1];
	int64_t alike, different;
	/* In busy pauses it changed otherwise than by counters that grew. */
	bool otherwise;
	/* Also if it is not in replies: calls that changed it, not always by the same number
	   (`uneven`), and second reads in busy pauses, and those in which it had changed. */
	int64_t moved, rereads, reread_changed;
	/* Of these, before the rollout's first call: to the value that another one's call left. */
	int64_t started;
	double moved_by;
	bool uneven;
};

/* The last rollout that got a value of a member. */
struct recent_value {
	uint64_t value; /* hash of key and value */
	int64_t rollout, at, number;
};

/* The data of one recording. */
struct sharing {
	struct shared_member members[SHARING_MEMBERS];
	struct recent_value *values; /* by their hash; NULL: no values yet */
	/* Pauses in which the environment counted a step: busy ones, and those without other
	   rollouts. */
	int64_t counted, counted_alone;
	int64_t pauses;
	int64_t quiet;      /* second reads while no other rollout acted */
	int64_t comparable; /* pauses in which the state and the reply had members in common */
	/* For each call whose effect is known: the members that it changed, one bit each. */
	uint16_t effects[SHARING_PAUSES];
	size_t effect_count;
};

void sharing_release(struct sharing *s); /* zeroed is fine */

/* One rollout's current pause, and the results of its pauses; zeroed before its reset. */
struct pauses {
	struct buf reply;    /* the last reply; empty: unknown */
	struct buf state;    /* before the call that was answered; empty: unknown */
	struct buf previous; /* the reply before it; empty: unknown */
	struct buf reread;   /* second read of the state; empty if there was none */
	bool quiet;          /* no other rollout acted before the second read */
	int64_t began;       /* struct pause's `now` when the pause began */
	bool alone;          /* struct pause's `alone` when the pause began */
	int64_t number;
	int64_t busy, changed;
	/* The first change in a busy pause. */
	int64_t turn, step;
	struct str key, before, after; /* in the arena */
};

void pauses_release(struct pauses *p);

/* The rollout of a pause, and the activity of the others at that time. */
struct pause {
	struct sharing *sharing;
	/* of this rollout: members that change without a call */
	const struct member_changes *states;
	struct arena *arena;   /* released with the rollout */
	int64_t rollout;       /* its number */
	int64_t now;           /* number of lines so far, of all rollouts */
	int64_t others_called; /* time of the last tool call of another rollout */
	bool alone;            /* no other rollout was open now and at the line before */
};

/* Starts a pause: a reset or a step was answered ok. state: the state before it. */
void pauses_begin(struct pauses *p, const struct pause *at, struct str state, struct str reply);

/* Adds a second read of the state. quiet: no other rollout acted since the first one. */
void pauses_reread(struct pauses *p, const struct pause *at, struct str state, bool quiet);

/* Ends the pause. state: in the pause, absent if unknown; count: the environment's own count
   after the step before; -1: unknown. */
void pauses_end(struct pauses *p, const struct pause *at, struct str state, int64_t count,
                int64_t turn, int64_t step);

/* Does a member change as other rollouts act, while no member behaves as in a separate
   environment? */
bool sharing_is_seen(const struct sharing *s);

#endif
