/* The import of one file: what a format's functions are given, and how they write lines. */
#ifndef ROLLDBG_CONVERT_IMPORT_H
#define ROLLDBG_CONVERT_IMPORT_H

#include "base/hash.h"
#include "base/map.h"
#include "convert/convert.h"
#include "json/paths.h"

struct import {
	const struct format *format;
	struct buf *out;        /* lines are appended here */
	struct map samples;     /* how many rollouts each task had: struct task_samples */
	struct arena tasks;     /* of these */
	struct arena arena;     /* of the value that is being read */
	struct buf work, value; /* overwritten by each function that makes a value */
	struct hasher *hasher;
	uint64_t values; /* read before this one */
	void *own;       /* the format's own memory, from mem_new or so */
	void (*own_free)(void *own);
};

/* One rollout that is being written: a header, a reset, steps, an end. */
struct import_rollout {
	struct str id;               /* decoded */
	int64_t lines, turns, steps; /* so far */
	double reward;               /* of the steps that succeeded */
	bool rewarded;
	struct json_paths *ignore; /* in states; freed by import_end */
};

/* What a format knows of a rollout. What is absent is recorded as null. */
struct import_header {
	struct str id;   /* decoded; absent: made of the task and a running number */
	struct str task; /* decoded */
	int64_t sample;
	struct str seed;                  /* raw JSON number */
	struct str env_name, env_version; /* decoded */
	struct str policy_name;           /* decoded: a model's, an agent's */
	struct str policy_params;         /* raw JSON object */
	struct str tools;  /* raw JSON array, as OpenAI's or MCP's lists; an empty one is unknown */
	bool has_state;    /* this rollout has states */
	struct str ignore; /* raw JSON array of pointers: state_source.ignore */
};

/* What is known of a call's answer. */
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
	bool sent; /* a call that was answered; otherwise a turn without a call, or an unanswered one */
	bool new_turn;
	struct str state;              /* raw JSON, before the call */
	struct str messages;           /* raw JSON values, comma-separated */
	struct str call_id, call_name; /* raw JSON strings */
	struct str arguments;          /* raw JSON; absent together with the name: no call */
	struct import_reply reply;
	struct str llm; /* raw JSON object */
};

/* How the rollout ended; END_UNKNOWN and NULL where the source does not say. */
struct import_end {
	enum end_status status;
	struct str reason;       /* decoded */
	struct str total_reward; /* raw JSON number; absent: the sum */
	struct str state;        /* raw JSON, after the last step */
};

/* The id of the next rollout of a task, "TASK.SAMPLE", in the import's arena. */
struct str import_rollout_id(struct import *m, struct str task, int64_t *sample);

/* The id of a task: the text of a string or number, else "row-N" by its place in the file. In the
   import's arena. */
struct str import_task(struct import *m, struct str id);
/* The text of a raw JSON string, in the import's arena; absent for any other value. */
struct str import_text(struct import *m, struct str value);

/* Where we wrote the file ourselves, its id and task: {"task":"lake","sample":0} in an object for
   extras. False: we did not. */
bool import_own_id(struct import *m, struct str id, struct str extra, struct import_header *h);
/* A number as raw JSON, in the import's arena. */
struct str import_number(struct import *m, double number);

/* These append one line each. The struct is kept by the caller between them. */
void import_header(struct import *m, struct import_rollout *r, const struct import_header *h);
void import_reset(struct import *m, struct import_rollout *r, const struct import_reply *reply,
                  struct str messages);
void import_step(struct import *m, struct import_rollout *r, const struct import_step *s);
void import_end(struct import *m, struct import_rollout *r, const struct import_end *e);

/* The list of tools in the form of the record format: name, description, inputSchema. */
struct str import_tools(struct import *m, struct str tools);

#endif
