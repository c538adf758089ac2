/* The recording's `llm` member: see about.h. */
#include "policy/llm/about.h"

#include "json/write.h"

static void put_notes(struct json_writer *w, const char *key, const struct call_notes *n)
{
	if (!n->count) {
		return;
	}
	jw_key(w, key);
	jw_array(w);
	for (size_t i = 0; i < n->count; i++) {
		jw_text(w, n->words[i]);
	}
	jw_end(w);
}

static void put_parse(struct json_writer *w, const struct tool_calls *c)
{
	jw_key(w, "parse");
	jw_object(w);
	jw_key(w, "source");
	jw_text(w, c->source);
	if (c->format) {
		jw_key(w, "format");
		jw_text(w, c->format);
	}
	if (c->cause) {
		jw_key(w, "cause");
		jw_text(w, c->cause);
	}
	put_notes(w, "notes", &c->notes);
	put_notes(w, "repairs", &c->repairs);
	jw_end(w);
}

static void put_raw(struct json_writer *w, const char *key, struct str raw)
{
	if (raw.p) {
		jw_key(w, key);
		jw_raw(w, raw);
	}
}

void about_reply(const struct chat_reply *r, const struct tool_calls *calls, struct str seed,
                 const char *prompt_hash, struct buf *out)
{
	struct json_writer w;

	buf_clear(out);
	jw_init(&w, out);
	jw_object(&w);
	jw_key(&w, "finish_reason");
	jw_str(&w, r->finish_reason);
	put_raw(&w, "stop_reason", r->stop_reason);
	if (r->incomplete) {
		jw_key(&w, "incomplete");
		jw_bool(&w, true);
	}
	put_parse(&w, calls);
	put_raw(&w, "usage", r->usage);
	put_raw(&w, "seed", seed);
	jw_key(&w, "prompt_hash");
	jw_text(&w, prompt_hash);
	if (calls->reasoning.n) {
		jw_key(&w, "reasoning");
		jw_str(&w, calls->reasoning);
	}
	if (r->refusal.n) {
		jw_key(&w, "refusal");
		jw_str(&w, r->refusal);
	}
	put_raw(&w, "prompt_token_ids", r->prompt_token_ids);
	put_raw(&w, "token_ids", r->token_ids);
	put_raw(&w, "logprobs", r->logprobs);
	jw_end(&w);
}

void about_failure(const struct chat_failure *f, const char *prompt_hash, struct buf *out)
{
	struct json_writer w;

	buf_clear(out);
	jw_init(&w, out);
	jw_object(&w);
	jw_key(&w, "error");
	jw_object(&w);
	jw_key(&w, "class");
	jw_text(&w, chat_failure_name(f->class));
	jw_key(&w, "http_status");
	jw_i64(&w, f->status);
	jw_key(&w, "code");
	jw_raw(&w, f->code.n ? buf_view(&f->code) : STR("null"));
	jw_key(&w, "message");
	jw_str(&w, buf_view(&f->message));
	jw_end(&w);
	jw_key(&w, "prompt_hash");
	jw_text(&w, prompt_hash);
	jw_end(&w);
}
