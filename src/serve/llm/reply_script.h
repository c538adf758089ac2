/* The script of the scripted model, a JSON file: see SCRIPTED MODELS in man/rolldbg-serve.1.scd. */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "json/keyed.h"

enum llm_then { THEN_END, THEN_CYCLE, THEN_LAST };
enum llm_close { CLOSE_NOT, CLOSE_BEFORE, CLOSE_WITHIN };

struct llm_when {
	struct str last, model; /* decoded; absent: any */
	struct keyed_number turn, seed;
};

/* Raw JSON unless stated otherwise; absent: not given. */
struct llm_reply {
	bool matched; /* it has `when` */
	struct llm_when when;
	struct str message, text, calls, finish_reason, usage, logprobs, token_ids,
		prompt_token_ids, stop_reason;
	struct keyed_number status;
	struct str says, code;
	struct str raw; /* decoded bytes */
	struct str headers;
	uint64_t delay_ms, size;
	int close;                        /* enum llm_close */
	struct keyed_number every, piece; /* bytes per write, of text per chunk of a stream */
};

struct llm_script {
	struct arena arena;
	struct str models, key; /* raw array; decoded */
	int then;               /* enum llm_then */
	struct llm_reply *replies;
	size_t count;
};

/* FAIL_INPUT: the file cannot be read, is not JSON (file:line:column), or has an unknown key or
   invalid value (with the nearest name). */
MUST_USE int llm_script_read(const char *path, struct llm_script *out, struct error *err);
/* The same from text (copied); `name` is for messages. */
MUST_USE int llm_script_parse(struct str text, const char *name, struct llm_script *out,
                              struct error *err);
void llm_script_release(struct llm_script *s); /* zeroed is fine */

/* The members of a request that determine the reply. */
struct scripted_request {
	struct str model; /* decoded */
	struct str last;  /* text of the last message, decoded */
	int64_t turn;     /* assistant messages */
	struct keyed_number seed;
	bool stream, include_usage;
};

/* The reply to the request; *next counts those used in order. NULL: no more replies. */
const struct llm_reply *llm_script_choose(const struct llm_script *s,
                                          const struct scripted_request *a, size_t *next);

/* ---- checks ---- */

/* A chat completion. False: *why has the reason. Decoded texts in *out are allocated in the
   arena. */
bool llm_check(struct str body, struct arena *arena, struct scripted_request *out, struct buf *why);

/* ---- the bodies of replies ---- */

#define LLM_BODY_MAX ((size_t)1 << 30)

/* Appends one chat completion. number: of the request, used in ids. */
void llm_body_whole(const struct llm_reply *r, const struct scripted_request *a, uint64_t number,
                    struct buf *out);
/* The same as server-sent events. */
void llm_body_stream(const struct llm_reply *r, const struct scripted_request *a, uint64_t number,
                     struct buf *out);

/* Appends an error in OpenAI's form. message: a raw JSON string; code: raw JSON, absent: null. */
void llm_body_error(unsigned status, struct str message, struct str code, struct buf *out);

/* {"object":"list","data":[..]} */
void llm_body_models(struct str models, struct buf *out);
/* One of them; name: decoded. */
void llm_body_model(struct str name, struct buf *out);
