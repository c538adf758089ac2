/* The replies of a recorded model: see model.h. */
#include "serve/playback/playback.h"

#include "json/canon.h"
#include "json/write.h"
#include "recording/reader.h"

struct model_reading {
	struct buf replies; /* for one rollout (with `when`) and for several (without) */
	struct buf unnumbered;
	size_t rollouts, turn; /* assistant messages so far */
	bool any;
};

static void put_reply(struct model_reading *r, struct str reply)
{
	const char *between = r->any ? "," : "";

	buf_printf(&r->replies, "%s{\"when\":{\"turn\":%zu},", between, r->turn);
	buf_str(&r->replies, reply);
	buf_char(&r->replies, '}');
	buf_printf(&r->unnumbered, "%s{", between);
	buf_str(&r->unnumbered, reply);
	buf_char(&r->unnumbered, '}');
	r->any = true;
}

/* Arguments that were not JSON were left out of the history. */
static void put_call(struct json_writer *w, struct str call, struct str arguments)
{
	jw_pack(w, "{id:%?r,type:%?r,function:{name:%?r,arguments:%r}}", JSON_GET(call, "id"),
	        JSON_GET(call, "type"), JSON_GET(JSON_GET(call, "function"), "name"), arguments);
}

/* recorded: the parsed call of the line. */
static void put_calls(struct json_writer *w, struct str calls, struct str recorded)
{
	struct str call, arguments = JSON_GET(recorded, "arguments"), id = JSON_GET(recorded, "id");

	jw_array(w);
	for (size_t cursor = 0; json_next(calls, &cursor, &call);)
		if (json_type(arguments) == JSON_STRING && json_equal(JSON_GET(call, "id"), id))
			put_call(w, call, arguments);
		else
			jw_raw(w, call);
	jw_end(w);
}

/* The message was recorded for the history, which leaves out reasoning and refusals. */
static void put_message(struct json_writer *w, struct str message, struct str llm, struct str call)
{
	struct json_member m;
	struct arena keys = {0};

	jw_pack(w, "message:{");
	for (size_t cursor = 0; json_next_member(message, &cursor, &m);) {
		jw_key_str(w, json_key_text(&keys, m.key));
		if (str_is(m.key, "tool_calls"))
			put_calls(w, m.value, call);
		else
			jw_raw(w, m.value);
	}
	jw_pack(w, "reasoning:%?r,refusal:%?r}",
	        JSON_GET(message, "reasoning").p ? STR_NONE : JSON_GET(llm, "reasoning"),
	        JSON_GET(llm, "refusal"));
	arena_release(&keys);
}

static struct str members(const struct buf *object)
{
	return (struct str){object->p + 1, object->n - 2};
}

static void read_message(struct model_reading *r, struct str message, struct str llm,
                         struct str call)
{
	struct buf reply = BUF(PLAYBACK_SCRIPT_MAX);

	struct json_writer w = jw_begin(&reply);
	put_message(&w, message, llm, call);
	jw_pack(&w, "finish_reason:%?r,stop_reason:%?r,usage:%?r,logprobs:%?r",
	        JSON_GET(llm, "finish_reason"), JSON_GET(llm, "stop_reason"),
	        JSON_GET(llm, "usage"), JSON_GET(llm, "logprobs"));
	jw_pack(&w, "prompt_token_ids:%?r,token_ids:%?r}", JSON_GET(llm, "prompt_token_ids"),
	        JSON_GET(llm, "token_ids"));
	put_reply(r, members(&reply));
	r->turn++;
	buf_release(&reply);
}

/* An error of the model's server; if it was unreachable, the connection is closed. */
static void read_error(struct model_reading *r, struct str error)
{
	struct buf reply = BUF(BUF_MAX_MESSAGE);
	int64_t status;

	if (json_i64(JSON_GET(error, "http_status"), &status) && status >= 200 && status <= 599) {
		json_pack(&reply, "{status:%i,says:%?r,code:%?r}", status,
		          JSON_GET(error, "message"), JSON_GET(error, "code"));
	} else {
		json_pack(&reply, "{close:'before'}");
	}
	put_reply(r, members(&reply));
	buf_release(&reply);
}

static int read_line(void *ctx, const struct line *l, const struct reader_note *note,
                     struct error *err)
{
	struct model_reading *r = ctx;
	struct str llm = l->value[KEY_LLM], error = JSON_GET(llm, "error"), message;

	(void)note;
	if (l->type == LINE_HEADER) {
		r->rollouts++;
		r->turn = 0;
	}
	if (l->type != LINE_STEP)
		return 0;
	for (size_t cursor = 0; json_next(l->value[KEY_MESSAGES], &cursor, &message);)
		if (json_is(JSON_GET(message, "role"), STR("assistant")))
			read_message(r, message, llm, l->value[KEY_TOOL_CALL]);
	if (json_type(error) == JSON_OBJECT)
		read_error(r, error);
	return r->unnumbered.full
	               ? error_set(err, FAIL_INPUT, "cannot play back more than 256 MiB of replies")
	               : 0;
}

int playback_model(const char *path, struct buf *out, struct error *err)
{
	struct model_reading r = {.replies = BUF(PLAYBACK_SCRIPT_MAX),
	                          .unnumbered = BUF(PLAYBACK_SCRIPT_MAX)};
	int failed = reader_file(path, read_line, &r, err);

	if (!failed && !r.any) {
		failed = error_set(
			err, FAIL_INPUT,
			"%s: contains no model replies: only recordings of a policy of kind "
			"llm can be played back as a model",
			path);
	}
	const struct buf *replies = r.rollouts == 1 ? &r.replies : &r.unnumbered;

	buf_text(out, "{\"replies\":[");
	buf_str(out, buf_view(replies));
	buf_text(out, "]}");
	if (!failed && (replies->full || out->full))
		failed = error_set(err, FAIL_INPUT, "%s: more than 256 MiB of replies", path);
	BUFS_RELEASE(&r.replies, &r.unnumbered);
	return failed ? -1 : 0;
}
