/* The replies of a recorded model: see model.h. */
#include "serve/playback/playback.h"

#include "json/canon.h"
#include "json/write.h"
#include "recording/reader.h"
#include "serve/llm/reply_script.h"

struct model_reading {
	struct llm_script *script;
	size_t rollouts;
	int64_t turn; /* assistant messages so far */
};

static struct llm_reply *add_reply(struct model_reading *r)
{
	struct llm_script *s = r->script;

	s->replies = arena_grow(&s->arena, s->replies, s->count, sizeof(*s->replies));
	struct llm_reply *reply = &s->replies[s->count++];
	*reply = (struct llm_reply){.when.turn = {.given = true, .value = r->turn}};
	return reply;
}

static struct str keep(struct model_reading *r, struct str object, const char *key)
{
	return arena_str(&r->script->arena, json_get(object, str_from(key)));
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
static void put_message(struct buf *out, struct str message, struct str llm, struct str call)
{
	struct json_writer w = jw_begin(out);
	struct json_member m;
	AUTO_ARENA keys = {0};

	for (size_t cursor = 0; json_next_member(message, &cursor, &m);) {
		jw_key_str(&w, json_key_text(&keys, m.key));
		if (str_is(m.key, "tool_calls"))
			put_calls(&w, m.value, call);
		else
			jw_raw(&w, m.value);
	}
	jw_pack(&w, "reasoning:%?r,refusal:%?r}",
	        JSON_GET(message, "reasoning").p ? STR_NONE : JSON_GET(llm, "reasoning"),
	        JSON_GET(llm, "refusal"));
}

static void read_message(struct model_reading *r, struct str message, struct str llm,
                         struct str call)
{
	struct llm_reply *reply = add_reply(r);
	struct buf text = BUF(PLAYBACK_SCRIPT_MAX);

	put_message(&text, message, llm, call);
	reply->message = buf_keep(&text, &r->script->arena);
	reply->finish_reason = keep(r, llm, "finish_reason");
	reply->stop_reason = keep(r, llm, "stop_reason");
	reply->usage = keep(r, llm, "usage");
	reply->logprobs = keep(r, llm, "logprobs");
	reply->prompt_token_ids = keep(r, llm, "prompt_token_ids");
	reply->token_ids = keep(r, llm, "token_ids");
	r->turn++;
}

/* An error of the model's server; if it was unreachable, the connection is closed. */
static void read_error(struct model_reading *r, struct str error)
{
	struct llm_reply *reply = add_reply(r);
	struct keyed_number *status = &reply->status;

	status->given = json_i64(JSON_GET(error, "http_status"), &status->value) &&
	                status->value >= 200 && status->value <= 599;
	reply->close = status->given ? CLOSE_NOT : CLOSE_BEFORE;
	if (json_type(JSON_GET(error, "message")) == JSON_STRING)
		reply->says = keep(r, error, "message");
	reply->code = keep(r, error, "code");
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
	return r->script->arena.bytes > PLAYBACK_SCRIPT_MAX
	               ? error_set(err, FAIL_INPUT, "cannot play back more than 256 MiB of replies")
	               : 0;
}

int playback_model(const char *path, struct llm_script *out, struct error *err)
{
	struct model_reading r = {.script = out};

	*out = (struct llm_script){.count = 0};
	int failed = reader_file(path, read_line, &r, err);
	if (!failed && !out->count) {
		failed = error_set(
			err, FAIL_INPUT,
			"%s: contains no model replies: only recordings of a policy of kind "
			"llm can be played back as a model",
			path);
	}
	for (size_t i = 0; i < out->count; i++)
		out->replies[i].matched = r.rollouts == 1;
	if (failed)
		llm_script_release(out);
	return failed ? -1 : 0;
}
