/* The words of the record format as enums, generated from keys.def: outcomes and error layers,
   end statuses, events, state sources, policies, protocols. A peer's misbehavior is data: adapters
   classify replies into these enums (env/failure.h classifies calls without a reply), and a
   step's class is final when its step() returns. Later code only compares text with text. The
   first enumerator of each enum stands for null and for any word that is not in the table. */
#pragma once

#include "base/base.h"

enum outcome {
	OUTCOME_NONE, /* no call in this turn */
#define OUTCOME_WORD(id, word, meaning) OUTCOME_##id,
#include "recording/keys.def"
};

enum error_class {
	CLASS_NONE,
#define CLASS_WORD(id, word, meaning) CLASS_##id,
#include "recording/keys.def"
};

/* The layer that reported the failure: if several did, the outermost, which is listed first. */
enum error_layer {
	LAYER_NONE,
#define LAYER_WORD(id, word) LAYER_##id,
#include "recording/keys.def"
};

enum end_status {
	END_UNKNOWN, /* missing in some imports */
#define STATUS_WORD(id, word) END_##id,
#include "recording/keys.def"
	END_INCOMPLETE, /* the rollout has no end line; this status is never recorded */
	END_STATUSES
};

enum event_kind {
	EVENT_UNKNOWN, /* other words may be added later */
#define EVENT_WORD(id, word) EVENT_##id,
#include "recording/keys.def"
};

enum state_kind {
	STATE_UNKNOWN,
#define STATE_WORD(id, word, asks_server, target) STATE_##id,
#include "recording/keys.def"
};

enum policy_kind {
	POLICY_UNKNOWN,
#define POLICY_WORD(id, word) POLICY_##id,
#include "recording/keys.def"
};

enum protocol {
	PROTOCOL_UNKNOWN, /* or the source of an imported recording */
#define PROTOCOL_WORD(id, word, family, traits, meaning) PROTOCOL_##id,
#include "recording/keys.def"
};

/* The word ("tool-error", "unknown-tool", "jsonrpc"); NULL for the first enumerator. */
const char *outcome_name(enum outcome o);
const char *error_class_name(enum error_class c);
const char *error_layer_name(enum error_layer l);
const char *end_status_name(enum end_status s); /* including "incomplete" */
/* Not by a failure, an interrupt or a missing end line; some imported formats do not record it. */
bool end_status_is_reached(enum end_status s);
const char *event_kind_name(enum event_kind e);
const char *state_kind_name(enum state_kind s);
const char *policy_kind_name(enum policy_kind p);
const char *protocol_name(enum protocol p);

/* What keys.def says about a state source: is reading it a request to the server? Its target, as a
   placeholder; NULL: it takes none. Does it need one? */
bool state_kind_asks_server(enum state_kind s);
const char *state_kind_target(enum state_kind s);
bool state_kind_needs_target(enum state_kind s);

/* What keys.def says about a protocol. An unknown one has sessions and takes seeds, and has no
   family (NULL). */
enum protocol_trait {
	HAS_SESSIONS = 1 << 0,  /* each rollout has an environment of its own */
	IS_CONNECTION = 1 << 1, /* a session is a connection, so its id is only a name */
	HAS_RESETS = 1 << 2,    /* each episode begins with a reset of its own */
	TAKES_SEEDS = 1 << 3,   /* a recorded seed was sent to the environment */
};
bool protocol_has(enum protocol p, enum protocol_trait trait);
const char *protocol_family(enum protocol p);

/* One sentence for each, for the manual; NULL for the first, which has no word. */
extern const char *const outcome_meanings[], *const error_class_meanings[];
extern const size_t outcome_count, error_class_count;

/* The enumerator of a word. */
enum outcome outcome_parse(struct str word);
enum error_class error_class_parse(struct str word);
enum error_layer error_layer_parse(struct str word);
enum end_status end_status_parse(struct str word);
enum event_kind event_kind_parse(struct str word);
enum state_kind state_kind_parse(struct str word);
enum policy_kind policy_kind_parse(struct str word);
enum protocol protocol_parse(struct str word);

/* Beginnings of a target that is a shell command, which starts the server. */
#define STDIO_SCHEME     "stdio:"
#define VERIFIERS_SCHEME "verifiers:"
/* The command of such a target; NULL: it is another one. */
const char *target_command(const char *target);
