/* The directory env/ors/: the adapter of ORS, which OpenReward serves: wire, replies, the
   description of the server, sessions. JSON over HTTP is in env/http_json.h. */

/* Requests and replies of an ORS server. Calls, and the opening of a session, are answered by an
   event stream: `task_id`, pieces of the result as `chunk`, the last one as `end`; or `error`. */
#ifndef ROLLDBG_ENV_ORS_WIRE_H
#define ROLLDBG_ENV_ORS_WIRE_H

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

struct ors_wire {
	struct http_json *http;
	struct sse sse;
	struct buf task_id;
};

void ors_wire_init(struct ors_wire *w, struct http_json *http);
void ors_wire_release(struct ors_wire *w);

/* One request, sent once; body absent: GET. -1: interrupted, or a local failure. */
MUST_USE int ors_ask(struct ors_wire *w, const char *path, struct str body, uint64_t timeout_ms,
                     struct ors_answer *out, struct error *err);

#endif
