/* The replies of a recorded model: see model.h. */
#include "serve/playback/model.h"

#include "json/canon.h"
#include "json/write.h"
#include "recording/reader.h"

struct model_reading {
	struct buf replies; /* for one rollout (with `when`) and for several (without) */
	struct buf unnumbered;
	size_t rollouts, turn; /* assistant messages so far */
	bool any;
};

/* Appends the reply to both lists. */
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

static void put_given(struct json_writer *w, const char *key, struct str value)
{
	if (value.p) {
		jw_key(w, key);
		jw_raw(w, value);
	}
}

/* Arguments that were not JSON were left out of the history. */
static void put_call(struct json_writer *w, struct str call, struct str arguments)
{
	struct str function = JSON_GET(call, "function");

	jw_object(w);
	put_given(w, "id", JSON_GET(call, "id"));
	put_given(w, "type", JSON_GET(call, "type"));
	jw_key(w, "function");
	jw_object(w);
	put_given(w, "name", JSON_GET(function, "name"));
	jw_key(w, "arguments");
	jw_raw(w, arguments);
	jw_end(w);
	jw_end(w);
}

/* recorded: the parsed call of the line. */
static void put_calls(struct json_writer *w, struct str calls, struct str recorded)
{
	struct str call, arguments = JSON_GET(recorded, "arguments"), id = JSON_GET(recorded, "id");

	jw_array(w);
	for (size_t cursor = 0; json_next(calls, &cursor, &call);) {
		if (json_type(arguments) == JSON_STRING && json_equal(JSON_GET(call, "id"), id)) {
			put_call(w, call, arguments);
		} else {
			jw_raw(w, call);
		}
	}
	jw_end(w);
}

/* The message was recorded for the history, which leaves out reasoning and refusals. */
static void put_message(struct json_writer *w, struct str message, struct str llm, struct str call)
{
	struct json_member m;
	struct arena keys = {0};

	jw_key(w, "message");
	jw_object(w);
	for (size_t cursor = 0; json_next_member(message, &cursor, &m);) {
		jw_key_str(w, json_key_text(&keys, m.key));
		if (str_is(m.key, "tool_calls")) {
			put_calls(w, m.value, call);
		} else {
			jw_raw(w, m.value);
		}
	}
	if (!JSON_GET(message, "reasoning").p) {
		put_given(w, "reasoning", JSON_GET(llm, "reasoning"));
	}
	put_given(w, "refusal", JSON_GET(llm, "refusal"));
	jw_end(w);
	arena_release(&keys);
}

/* Members of an object without its braces. */
static struct str members(const struct buf *object)
{
	return (struct str){object->p + 1, object->n - 2};
}

static void read_message(struct model_reading *r, struct str message, struct str llm,
                         struct str call)
{
	static const char *const kept[] = {"finish_reason", "stop_reason",      "usage",
	                                   "logprobs",      "prompt_token_ids", "token_ids"};
	struct buf reply = BUF(PLAYBACK_SCRIPT_MAX);
	struct json_writer w;

	jw_init(&w, &reply);
	jw_object(&w);
	put_message(&w, message, llm, call);
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		put_given(&w, kept[i], json_get(llm, str_from(kept[i])));
	}
	jw_end(&w);
	put_reply(r, members(&reply));
	r->turn++;
	buf_release(&reply);
}

/* An error of the model's server; if it was unreachable, the connection is closed. */
static void read_error(struct model_reading *r, struct str error)
{
	struct buf reply = BUF(BUF_MAX_MESSAGE);
	struct json_writer w;
	int64_t status;
	bool advance =
		json_i64(JSON_GET(error, "http_status"), &status) && status >= 200 && status <= 599;

	jw_init(&w, &reply);
	jw_object(&w);
	if (advance) {
		jw_key(&w, "status");
		jw_i64(&w, status);
		put_given(&w, "says", JSON_GET(error, "message"));
		put_given(&w, "code", JSON_GET(error, "code"));
	} else {
		jw_key(&w, "close");
		jw_text(&w, "before");
	}
	jw_end(&w);
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
	if (l->type != LINE_STEP) {
		return 0;
	}
	for (size_t cursor = 0; json_next(l->value[KEY_MESSAGES], &cursor, &message);) {
		if (json_is(JSON_GET(message, "role"), STR("assistant"))) {
			read_message(r, message, llm, l->value[KEY_TOOL_CALL]);
		}
	}
	if (json_type(error) == JSON_OBJECT) {
		read_error(r, error);
	}
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
	if (!failed && (replies->full || out->full)) {
		failed = error_set(err, FAIL_INPUT, "%s: more than 256 MiB of replies", path);
	}
	buf_release(&r.replies);
	buf_release(&r.unnumbered);
	return failed ? -1 : 0;
}
