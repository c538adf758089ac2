/* Replies of the legacy completions API, /v1/completions, whole or streamed. */
#include "serve/llm/body_apis.h"

static void put_choice(struct json_writer *w, const struct llm_reply *r, int64_t index,
                       struct str text, struct str finish)
{
	jw_object(w);
	jw_key(w, "index");
	jw_i64(w, index);
	jw_key(w, "text");
	jw_raw(w, text);
	jw_key(w, "logprobs");
	jw_raw(w, finish.p ? r->logprobs : STR_NONE);
	jw_key(w, "finish_reason");
	jw_raw(w, finish);
	jw_end(w);
}

static void put_head(struct json_writer *w, const struct scripted_request *a, uint64_t number)
{
	jw_object(w);
	jw_key(w, "id");
	llm_put_id(w, "cmpl-", number);
	jw_key(w, "object");
	jw_text(w, "text_completion");
	jw_key(w, "created");
	jw_i64(w, 0);
	jw_key(w, "model");
	jw_str(w, a->model);
}

/* The reply's text: raw JSON string. */
static struct str text_of(const struct llm_reply *r)
{
	struct str text = r->message.p ? JSON_GET(r->message, "content") : r->text;

	return json_type(text) == JSON_STRING ? text : STR("\"\"");
}

static struct str finish_of(const struct llm_reply *r)
{
	return r->finish_reason.p ? r->finish_reason : STR("\"stop\"");
}

void llm_completion_whole(const struct llm_reply *r, const struct scripted_request *a,
                          uint64_t number, struct buf *out)
{
	struct json_writer w;

	jw_init(&w, out);
	put_head(&w, a, number);
	jw_key(&w, "choices");
	jw_array(&w);
	for (int64_t i = 0; i < a->n; i++) {
		put_choice(&w, r, i, text_of(r), finish_of(r));
	}
	jw_end(&w);
	if (r->usage.p) {
		jw_key(&w, "usage");
		jw_raw(&w, r->usage);
	}
	jw_end(&w);
}

void llm_completion_stream(const struct llm_reply *r, const struct scripted_request *a,
                           uint64_t number, struct buf *out)
{
	struct json_writer w;

	for (int64_t i = 0; i < 2 * a->n; i++) {
		bool last = i >= a->n;

		buf_text(out, "data: ");
		jw_init(&w, out);
		put_head(&w, a, number);
		jw_key(&w, "choices");
		jw_array(&w);
		put_choice(&w, r, i % a->n, last ? STR("\"\"") : text_of(r),
		           last ? finish_of(r) : STR_NONE);
		jw_end(&w);
		jw_end(&w);
		buf_text(out, "\n\n");
	}
	if (r->usage.p && a->include_usage) {
		buf_text(out, "data: ");
		jw_init(&w, out);
		put_head(&w, a, number);
		jw_key(&w, "choices");
		jw_raw(&w, STR("[]"));
		jw_key(&w, "usage");
		jw_raw(&w, r->usage);
		jw_end(&w);
		buf_text(out, "\n\n");
	}
	buf_text(out, "data: [DONE]\n\n");
}
