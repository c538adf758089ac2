/* Do rollouts that run at the same time share one environment? In a pause, between an answer
   and the next call, a rollout changes nothing: what its state reads otherwise than the answer
   before it, or the next time, was changed by another rollout, or by itself. Members that a
   state and the answers have in common are counted over all rollouts of a recording, in their
   first steps. */
#ifndef ROLLDBG_FACTS_SHARING_H
#define ROLLDBG_FACTS_SHARING_H

#include "facts/member_changes.h"

#define SHARING_STEPS   64  /* of a rollout that are looked at, */
#define SHARING_PAUSES  512 /* and pauses of a recording */
#define SHARING_MEMBERS 16  /* that are told apart */
#define SHARING_VALUES  1024

/* One member of the states of all rollouts. */
struct shared_member {
	uint64_t key;    /* its hash; 0: free */
	int64_t busy;    /* pauses in which other rollouts may have called a tool: */
	int64_t old;     /* it changed in these, back to a value that this rollout had just seen; */
	int64_t changed; /* or to a new one, */
	int64_t matched; /* to a value that another rollout was answered or read in that pause, */
	/* it did not, although the call before the pause had changed it; `even`: each such call
	   by the same number, as a counter of calls does */
	int64_t kept;
	double by;
	bool even;
	int64_t alone; /* it changed in a pause in which certainly none did */
	/* calls of which it is known, and those over which it changed, by the rollout that made
	   them: what calls hardly change moves by itself, for everybody */
	int64_t calls, moved;
	/* What it was after a rollout's step of that number, hashed, and in how many other
	   rollouts' pauses it was the same, or differed. */
	uint64_t places[SHARING_STEPS + 1];
	int64_t alike, different;
};

/* Who was answered, or read, a value of a member last. */
struct recent_value {
	uint64_t value; /* with the member's key, hashed */
	int64_t rollout, at;
};

/* Of a recording. */
struct sharing {
	struct shared_member members[SHARING_MEMBERS];
	struct recent_value *values; /* by their hash; NULL: none yet */
	/* Pauses in which the environment counted a step: busy ones, and those alone. */
	int64_t counted, counted_alone;
	int64_t pauses;
};

void sharing_release(struct sharing *s); /* zeroed is fine */

/* One rollout's newest pause, and what its pauses showed; zeroed is a rollout before its
   reset. */
struct pauses {
	struct buf answer;   /* what it began with; empty: unknown */
	struct buf state;    /* before the call that was answered; empty: unknown */
	struct buf previous; /* the answer before it; empty: unknown */
	struct buf reread;   /* the state, read a second time in it; empty: it was not */
	int64_t began;       /* as `now` below */
	bool alone;          /* as below, then */
	int64_t number;
	int64_t busy, changed;
	/* The first change in a busy one. */
	int64_t turn, step;
	struct str key, before, after; /* in the arena */
};

void pauses_release(struct pauses *p);

/* The rollout whose pause it is, and others at that time. */
struct pause {
	struct sharing *sharing;
	const struct member_changes *states; /* of this rollout: what changes by itself */
	struct arena *arena;                 /* lives as long as the rollout */
	int64_t rollout;                     /* its number */
	int64_t now;                         /* lines so far, of all rollouts */
	int64_t others_called;               /* when another rollout last called a tool */
	bool alone; /* no other rollout was open now and at the line before */
};

/* A reset, or a step, that was answered ok: a pause begins. `state`: before it. */
void pauses_begin(struct pauses *p, const struct pause *at, struct str state, struct str answer);

/* The state, read a second time. */
void pauses_reread(struct pauses *p, struct str state);

/* The pause is over: this was the state in it, absent where unknown. `count`: the
   environment's own after the step before, -1. */
void pauses_end(struct pauses *p, const struct pause *at, struct str state, int64_t count,
                int64_t turn, int64_t step);

/* Does a member of the states change as others act, and none as in an environment of one's
   own? */
bool sharing_is_seen(const struct sharing *s);

#endif
