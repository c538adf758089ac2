/* A session of OpenEnv's WebSocket as the tap sees it, for openenv.c (the connection) and
   openenv_messages.c. */
#ifndef ROLLDBG_TAP_OPENENV_INTERNAL_H
#define ROLLDBG_TAP_OPENENV_INTERNAL_H

#include "env/openenv/openenv.h"
#include "tap/episode.h"

/* A request that has no reply yet. */
struct openenv_asked {
	struct openenv_asked *next;
	bool known; /* false: a message that is no request of the protocol */
	enum openenv_ask what;
	char *data; /* raw JSON; NULL: none */
	size_t n;
};

struct openenv_tap {
	struct openenv_decoder *d;
	struct tap_session *tap;
	struct openenv_asked *first, *last;
	bool begun;            /* the first request in the queue was looked at */
	struct tap_step *step; /* of the step in flight */
	struct reply_reading reading;
	struct buf start, seen; /* observations: of the reset, and the last good one */
	struct ignore_paths ignored;
	enum state_kind kind;
	int64_t env_steps;
	bool counts;
	bool fresh; /* STATE_OPENENV: the state is known for the next call */
	/* A reply that waits for a reply to `state`, which belongs to it. */
	enum { HOLDS_NOTHING, HOLDS_RESET, HOLDS_STEP } holds;
	struct arena kept;
	struct env_reply held;
	struct buf reset; /* the data of the reset */
	bool closing;     /* the client sent close */
	bool closed;      /* the client sent close, or the server refused the session */
};

/* What is known of the server. */
struct openenv_decoder {
	struct tap_recording *r;
	struct buf name, version, tools;
	bool calls_tools;
	bool forgetful; /* a client asked for the state after a reset, but not after each step */
};

/* Decodes a JSON string; anything else leaves `out` as it is. */
void openenv_learn_text(struct str value, struct buf *out);
void openenv_learn_tools(struct openenv_decoder *d, struct str tools);

void openenv_take_message(struct openenv_tap *s, enum tap_side from, const struct tap_bytes *m);
/* Removes the oldest request. */
void openenv_pop(struct openenv_tap *s);
/* The reply that is held is all that comes: records it. state: absent for none. */
void openenv_finish_held(struct openenv_tap *s, struct str state);
/* Records that the server refused the session. */
void openenv_refuse(struct openenv_tap *s, const struct openenv_answer *a);
/* Tells the session what is known of the server. */
void openenv_tell_facts(struct openenv_tap *s);

#endif
