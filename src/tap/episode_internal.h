/* The fields of a session, for episode.c (episodes and their lines) and session.c (sessions and calls). */
#pragma once

#include "base/mem.h"
#include "env/ignore_paths.h"
#include "tap/episode.h"
#include "tap/joining.h"
#include "tap/naming.h"

/* The recording of a rollout. */
struct tap_lines {
	struct line_writer writer;
	void *own; /* of conf.open */
};

struct tap_episode {
	struct arena arena;
	struct buf id;
	struct tap_lines lines;
	struct ignore_paths ignored;
	int64_t steps;
	double reward;
	bool rewarded;
	struct buf total;      /* as the environment has it; empty: the sum */
	struct buf components; /* of it; empty: none */
	enum end_status over;  /* what the environment reported; END_UNKNOWN: nothing */
	struct tap_talk talk;  /* with its model */
	uint64_t began_ns, last_ns;
};

struct tap_step {
	struct tap_step *next; /* sent later in the same session */
	struct tap_session *session;
	struct arena arena;
	struct call_fields call;
	struct str state;
	int64_t turn;             /* -1: that of the step */
	bool over;                /* its episode has ended, with which it was recorded */
	const char *joined;       /* of its turn: how it is known; NULL: there is none */
	struct str messages, llm; /* of its turn */
	uint64_t at_ms, began_ns, replied_ns; /* replied_ns 0: not yet */
};

struct tap_session {
	struct tap_session *next, *previous;
	struct tap_recording *r;
	uint64_t number;
	int64_t episodes;
	struct tap_connection connection;
	struct buf session, env_session, state;
	struct buf start, seen;    /* observations: of the reset, and the last good one */
	bool state_known, counted; /* counted: it was refused, or began an episode */
	enum protocol protocol;
	struct naming_group *group; /* of its last episode; with its place there */
	int64_t sample;
	uint64_t burst;
	uint64_t reset_ns;           /* when the reset was answered; 0: no episode is to begin */
	struct tap_episode *episode; /* NULL: none is open */
	struct tap_step *first, *last;
	struct event_queue waiting; /* events without an episode */
};

struct tap_recording {
	struct tap_recording_conf conf;
	struct scratch_pool *pool;
	struct naming naming;
	struct tap_joiner *joiner; /* NULL: no model is recorded */
	struct tap_counts counts;
	struct tap_session *sessions;
	struct error failure;
	bool asked; /* a question is to be asked: */
	void *asker;
	struct buf question;
};

/* Does a step of the open episode wait for its reply? */
static inline bool tap_in_flight(const struct tap_session *s)
{
	return s->last && !s->last->over;
}
/* The episode ends: those that wait are recorded without a reply. */
void tap_steps_over(struct tap_session *s, const char *reason);

/* Nothing is written after the first failure: a recording has no gaps. */
bool tap_is_broken(const struct tap_recording *r);
/* Says that r->failure, where a failed call left its reason, is the first one. */
void tap_stop_recording(struct tap_recording *r);
uint64_t tap_now_ns(const struct tap_recording *r);

/* apart: as in conf.open. The id is borrowed. */
void tap_lines_open(struct tap_recording *r, const char *id, bool apart, struct tap_lines *out);
/* Writes the end line. */
void tap_lines_close(struct tap_recording *r, struct tap_lines *l, const struct end_fields *f);
