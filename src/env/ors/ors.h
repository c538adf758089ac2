/* The directory env/ors/: the adapter of ORS, which OpenReward serves. One session has one episode: `create_session` names
   it, `create` gives it an environment with a task, calls are sent to it, `delete` ends it. */
#pragma once

#include "env/hidden_error.h"
#include "env/http_env.h"
#include "env/http_json.h"
#include "protocol/sse.h"

enum ors_stream {
	ORS_NO_STREAM, /* the reply is no event stream */
	ORS_END,       /* http.data: the result, absent if it is empty or not JSON */
	ORS_ERROR,     /* the environment raised an exception: http.text */
	ORS_CUT,       /* the stream ended without a result */
};

/* Slices are valid until the next request. */
struct ors_answer {
	struct http_json_answer http;
	enum ors_stream stream;
	struct str task_id;    /* of a stream; absent: none */
	bool is_starting;      /* 503 because the environment is not set up yet */
	uint64_t try_again_ms; /* in that case, as the server asks; 0: it does not say */
};

/* Reads a piece of a stream: ORS_CUT as long as it has no result. The result's pieces are joined in
   `reply`, an exception's text replaces them. */
enum ors_stream ors_read_events(struct sse *sse, struct str piece, struct buf *reply,
                                struct buf *task_id);

/* A call's reply. before: see env/hidden_error.h. */
void ors_read_call(const struct ors_answer *a, struct hidden_error_context before,
                   const struct env_conf *conf, struct reply_reading *r, struct env_reply *out);
/* The prompt: the first observation. */
void ors_read_prompt(const struct ors_answer *a, struct reply_reading *r, struct env_reply *out);
/* Another request's: outcome and error only. */
void ors_read_other(const struct ors_answer *a, struct reply_reading *r, struct env_reply *out);

struct env_ors {
	struct http_env http; /* its name is that of the environment */
	struct sse sse;
	struct buf task_id; /* of the last stream */
	bool closing;       /* requests may take only a short time */
	struct buf session; /* the session's id; empty: none is open */
	struct buf split;   /* of the first task, if the user names none */
	struct buf prompt;  /* raw JSON blocks of the episode that open() began; empty: none */
	struct buf reward;  /* the last one of the episode, which counts; empty: none so far */
	struct buf path;
	struct http_json alive;     /* pings, which may be sent while a call waits */
	struct http_exchange *ping; /* the last one; NULL: none */
	uint64_t ping_ns;           /* when the next one is due */
};

/* Writes the tools of a reply in the form of MCP, with the terminal tool, which its list leaves out. */
void ors_put_tools(struct str reply, struct buf *out);
