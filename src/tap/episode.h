/* The recording side of a tap: what the decoders report becomes rollouts. An episode is a rollout;
   a session may have several, one after the other. A session that never begins one is counted, not
   recorded; one that the server refuses is a rollout that was refused. Used by one thread. No call
   fails: if the recording cannot be written, that is said once and the traffic goes on.

   All texts are borrowed during a call. "raw" is valid JSON. */
#pragma once

#include "base/clock.h"
#include "env/hidden_error.h"
#include "recording/env_reply.h"
#include "recording/line_writer.h"
#include "tap/fault.h"
#include "tap/message.h"

struct tap_recording;
struct tap_session; /* of one client in the protocol: a connection, a session id, a cookie */
struct tap_step;    /* a call without a reply so far */

/* session: the id of the transport's session; absent: none. */
struct tap_session *tap_session_begin(struct tap_recording *r, enum protocol protocol,
                                      const struct tap_connection *connection, struct str session);
/* Ids learned later. Absent ones are kept as they are. */
void tap_session_name(struct tap_session *s, struct str session, struct str env_session);
/* Ends the session, and an episode that is open, with the call in flight. `reply` classifies that
   call; NULL: it got no reply because the connection ended. Frees s. */
void tap_session_end(struct tap_session *s, const struct tap_ending *e,
                     const struct env_reply *reply);

/* Facts about a server. */
struct tap_env_facts {
	enum protocol protocol;                 /* PROTOCOL_UNKNOWN: that of the session */
	struct str name, version;               /* as the server reports them; absent: unknown */
	struct str tools;                       /* raw array; absent: unknown */
	const char *revision, *era, *transport; /* of MCP; else NULL */
};

struct tap_episode_start {
	const struct tap_env_facts *env; /* NULL: nothing is known but the protocol */
	/* What the wire offers as a name of the rollout (episode_id, dataset_row_id, task and
	   index): decoded. Absent, or random digits (then it is in meta alone): it is named by its
	   task and sample, or without a task by its session and episode. */
	struct str id;
	/* Decoded; absent: derived from the environment's name and `data`; without data: none. */
	struct str task;
	bool has_seed;
	int64_t seed;
	struct str reset_args; /* raw object; absent: none */
	/* What tells groups apart: resets with equal data within a burst are one group. Raw JSON
	   without ids of the rollout; absent: in no group. */
	struct str data;
	enum state_kind state_kind; /* of the states that follow; STATE_UNKNOWN: none */
	struct str state_target, state_arguments;
	/* Decides which members are ignored, as in ignore_paths_choose(), with the additional default
	   pointer `aside`; NULL: none. */
	struct str first_state;
	const char *aside;
	/* The reply to the reset; NULL: a step came first, in which case an event says so. An
	   outcome other than ok ends the episode as refused. */
	const struct env_reply *reset;
};
/* The client asks for the session, a reset in it, its last step, or a control plane for the reward or the end of that; the
   reply comes later. */
void tap_asked(struct tap_session *s, enum tap_fault_time what);
/* The reset succeeded, but its episode begins only when more is known: it takes its place in its group
   now, and one that is open ends. data: as in tap_episode_start. */
void tap_reset_answered(struct tap_session *s, struct str data);
/* Begins an episode; one that is open ends, because of this reset. */
void tap_episode_begin(struct tap_session *s, const struct tap_episode_start *f);
/* What the episode has shown so far, for reading the reply to a call. */
struct hidden_error_context tap_episode_before(const struct tap_session *s);
/* Is an episode open? One in which done was reported is, until something else happens: further
   steps belong to it. */
bool tap_episode_is_open(const struct tap_session *s);
/* The server refused the session, which has no episode: at capacity, in the handshake .. */
void tap_session_refused(struct tap_session *s, const struct tap_env_facts *env,
                         const struct env_reply *refusal);
/* Ends the open episode, if there is one. reason: a clause such as "the client sent close". */
void tap_episode_end(struct tap_session *s, enum end_status status, const char *reason);

/* The state as it is now, known from the reply to the reset or a step, or because the client
   asked. Raw; absent: unknown from now on. It is recorded with the next call, or at the end. */
void tap_state(struct tap_session *s, struct str state);

/* The client called a tool: its name, decoded, and the arguments, raw; absent: {}. Without an open episode one begins without a reset, if the protocol
   has resets (an event session-replaced says so), or simply begins. Free it with tap_step_end or
   by the end of its session. */
struct tap_step *tap_step_begin(struct tap_session *s, struct str tool, struct str arguments);
/* The reply has arrived, but tap_step_end() has to wait for facts that belong to it: ends the
   latency. */
void tap_step_replied(struct tap_step *step);
/* Its reply. Steps are recorded in the order of these calls. done (r->terminated, r->truncated) does not end the episode by itself: the next
   reset, close or end of connection does, with that as its status. */
void tap_step_end(struct tap_step *step, const struct env_reply *r);
/* Does a call of the session, in this episode or an earlier one, wait for its reply? */
bool tap_session_awaits(const struct tap_session *s);

/* The reward of the open episode as a whole, a raw number: it replaces the sum over its steps.
   components: a raw object; absent: none. */
void tap_total(struct tap_session *s, struct str reward, struct str components);

/* Something else that happened. detail: raw object. Without an open episode it is recorded with the
   session's next one. */
void tap_event(struct tap_session *s, enum event_kind kind, struct str detail);
/* The same with the detail {"what","why"}. */
void tap_note(struct tap_session *s, enum event_kind kind, const char *what, struct str why);
/* A clause: who closed first, and why. */
void tap_put_ending(const struct tap_ending *e, struct buf *out);
/* Something about a connection that belongs to no session: nonsense, a lost connection. It is
   logged and counted. */
void tap_remark(struct tap_recording *r, const struct tap_connection *c, const char *what);

/* ---- questions of our own, for states ---- */

struct state_source;

bool tap_asks(const struct tap_recording *r); /* are questions to be asked? */
/* Where the user says that states are, if a protocol has no place for them; NULL: nowhere. */
struct state_source *tap_state_source(const struct tap_recording *r);
/* Asks the server, while the reply that is being read is not passed on to the client before the answer has come; to be called when no other
   reply is awaited. The decoders are told of question and answer as of the client's. asker NULL: request is a message for the client's
   WebSocket; else it is an HTTP request, on a connection of ours that has this asker. */
void tap_ask(struct tap_recording *r, struct str request, void *asker);

/* ---- for the command and the relay ---- */

struct tap_recording_conf {
	struct clock clock;
	const char *version; /* of rolldbg */
	const char *url;     /* of the server, or its command */
	const struct line_sink *sinks;
	size_t sink_count;
	/* Opens and closes the recording of a rollout. apart: of turns of a model without a session. */
	int (*open)(void *ctx, const char *rollout, bool apart, struct recorder **out, void **own,
	            struct error *err);
	int (*close)(void *ctx, void *own, struct error *err);
	void *ctx;
	const char *model_url;      /* of a model whose turns are recorded; NULL: none */
	struct tap_engine *faults;  /* that are injected; NULL: none */
	uint64_t idle_ns;           /* after which an open episode ends; 0: never */
	bool asks;                  /* for states */
	struct state_source *state; /* where to ask; NULL: where the protocol has them */
};

struct tap_join_counts {
	uint64_t turns, named, content, time;      /* .. of them joined by these */
	uint64_t apart, failed, unread, ambiguous; /* ambiguous: calls of an environment */
};

struct tap_counts {
	uint64_t sessions, open, most_open; /* of decoders */
	uint64_t without_episode;           /* that ended without one */
	uint64_t episodes, steps, refused, replaced, remarks;
	struct tap_join_counts model;
};

struct tap_recording *tap_recording_new(const struct tap_recording_conf *conf);
/* All sessions must have ended. NULL is fine. */
void tap_recording_free(struct tap_recording *r);
struct tap_question {
	bool any;
	void *asker;
	struct str request; /* valid until the next question */
};
/* What the decoders asked for since the last call. */
struct tap_question tap_recording_question(struct tap_recording *r);
const struct tap_counts *tap_recording_counts(const struct tap_recording *r);
/* Ends episodes that were idle for too long, and records turns of the model that waited for too long. Returns when to call it next; UINT64_MAX: never. */
uint64_t tap_recording_tick(struct tap_recording *r);
/* Why recording stopped; FAIL_NONE: it did not. */
const struct error *tap_recording_failure(const struct tap_recording *r);
