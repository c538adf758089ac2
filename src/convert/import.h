/* The import of one file: the input of a format's functions, and functions that write lines. */
#pragma once

#include "base/hash.h"
#include "base/map.h"
#include "convert/convert.h"
#include "json/paths.h"
#include "json/write.h"
#include "recording/env_reply.h"
#include "recording/foreign.h"

#include <stdio.h>

struct import {
	const struct format *format;
	const char *path; /* of the file */
	const struct foreign_options *options;
	struct buf *out;        /* lines are appended here */
	struct map samples;     /* rollouts per task: struct task_samples */
	struct arena tasks;     /* memory of samples */
	struct arena arena;     /* memory of the value being read */
	struct buf work, value; /* overwritten by each function that makes a value */
	uint64_t values;        /* number of values read before this one */
	void *own;              /* the format's own memory; own_free releases it */
	void (*own_free)(void *own);
};

/* The rollout being written: a header, a reset, steps, an end. */
struct import_rollout {
	struct str id;               /* decoded */
	int64_t lines, turns, steps; /* written so far */
	double reward;               /* of the successful steps */
	bool rewarded;
	struct json_paths *ignore; /* ignored in states; import_end frees it */
};

/* Facts of a rollout known to the format. Absent ones are recorded as null. */
struct import_header {
	struct str id;   /* decoded; absent: made from the task and a running number */
	struct str task; /* decoded */
	int64_t sample;
	struct str seed;                  /* raw JSON number */
	struct str env_name, env_version; /* decoded */
	struct str policy_name;           /* decoded: name of a model or an agent */
	/* raw JSON array, in the form of OpenAI or MCP; an empty one is treated as unknown */
	struct str tools;
	bool has_state;    /* this rollout has states */
	struct str ignore; /* raw JSON array of pointers: state_source.ignore */
};

/* Facts of a call's answer; REPLY_UNKNOWN initializes one. */
struct import_reply {
	enum outcome outcome;
	enum error_class class;
	enum error_layer layer;
	struct str error_code;        /* raw JSON; absent: null */
	struct str error_message;     /* decoded */
	struct str observation;       /* raw JSON */
	struct str reward;            /* raw JSON number */
	int8_t terminated, truncated; /* 1, 0, -1: unknown */
	int64_t env_steps;            /* -1: unknown */
};

struct import_step {
	/* true: a call that was answered; false: a turn without a call, or an unanswered call */
	bool sent;
	bool new_turn;
	struct str state;              /* raw JSON, before the call */
	struct str messages;           /* raw JSON values, comma-separated */
	struct str call_id, call_name; /* raw JSON strings */
	struct str arguments;          /* raw JSON; absent along with the name: no call */
	struct import_reply reply;
	struct str llm; /* raw JSON object */
};

/* How the rollout ended; END_UNKNOWN and NULL if the source does not record it. */
struct import_end {
	enum end_status status;
	struct str reason;       /* decoded */
	struct str total_reward; /* raw JSON number; absent: the sum */
	struct str score;        /* raw JSON number: the total reward if no step has one */
	struct str state;        /* raw JSON, after the last step */
};

/* Makes the id of the next rollout of a task, "TASK.SAMPLE", in the import's arena. */
struct str import_rollout_id(struct import *m, struct str task, int64_t *sample);

/* Makes a task id: the text of a string or number, otherwise "row-N" from its position in the file.
   In the import's arena. */
struct str import_task(struct import *m, struct str id);
/* The text of a raw JSON string, in the import's arena; absent for any other value. */
struct str import_text(struct import *m, struct str value);

/* Reads id and task from an object for extra data in a file written by rolldbg:
   {"task":"lake","sample":0}. Returns false for any other file. */
bool import_own_id(struct import *m, struct str id, struct str extra, struct import_header *h);
/* a, or b if that is absent or null. */
struct str import_either(struct str a, struct str b);
/* A shell's exit codes of commands that did not run, or not to their end. Others (grep's 1) are answers. */
bool import_exit_failed(int64_t code);
/* 1 or 0 for true and false, else -1. */
int8_t import_flag(struct str value);
/* The import's buffer for a value, emptied; import_kept copies what was written to its arena. */
struct buf *import_value(struct import *m);
struct str import_kept(struct import *m);
/* A value made by a template of jw_pack, in the import's arena. */
#define IMPORT_PACK(m, ...) (json_pack(import_value(m), __VA_ARGS__), import_kept(m))

/* Each appends one line. The caller keeps the struct import_rollout between calls. */
void import_header(struct import *m, struct import_rollout *r, const struct import_header *h);
void import_reset(struct import *m, struct import_rollout *r, const struct import_reply *reply,
                  struct str messages);
void import_step(struct import *m, struct import_rollout *r, const struct import_step *s);
/* Appends an event with its detail, raw JSON. */
void import_event(struct import *m, struct import_rollout *r, enum event_kind kind,
                  struct str detail);
void import_end(struct import *m, struct import_rollout *r, const struct import_end *e);

/* ---- recorded answers ---- */

/* Facts about the call that the source records outside the answer's text. */
struct outcome_hint {
	int8_t failed; /* 1, 0, or -1: not recorded */
	/* raw JSON: a message, or an object with type, code, message; or absent */
	struct str error;
};

/* The observation in a message's content (raw JSON). Text that is JSON, or a Python dict or list,
   becomes that value; so does a list with a single text part. In the arena or in the content. */
struct str outcome_observation(struct import *m, struct str content);

/* Sets outcome, class, layer, code and message from the hint and from reply->observation, which
   must be set. `last` is the observation of the last successful step; may be absent. */
void outcome_set(struct import *m, struct outcome_hint hint, struct str last,
                 struct import_reply *reply);

/* ---- chat messages ---- */

/* True for an empty array, and for one whose first element is an object with a role. */
bool messages_may_be(struct str value);

/* The answer to a call; raw JSON. */
struct str message_answer(struct import *m, struct str call_id, struct str content);
/* A message with that content, raw JSON. */
struct str message_new(struct import *m, const char *role, struct str content);

/* ---- inspect.c ---- */

/* Writes each sample of an .eval archive as one line, a JSON log with only this sample. `unpacked`:
   maximum total size of its entries in bytes. FAIL_INPUT if it is not such a log. */
MUST_USE int inspect_unpack(int fd, uint64_t unpacked, FILE *out, struct error *err);
