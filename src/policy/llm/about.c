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
	jw_put(w, "parse:{source:%t,format:%?t,cause:%?t", c->source, c->format, c->cause);
	put_notes(w, "notes", &c->notes);
	put_notes(w, "repairs", &c->repairs);
	jw_end(w);
}

/* Absent where there is no text. */
static struct str given(struct str text)
{
	return text.n ? text : STR_NONE;
}

void about_reply(const struct chat_reply *r, const struct tool_calls *calls, struct str seed,
                 const char *prompt_hash, struct buf *out)
{
	struct json_writer w;

	buf_clear(out);
	jw_init(&w, out);
	jw_put(&w, "{finish_reason:%s,stop_reason:%?r", r->finish_reason, r->stop_reason);
	if (r->incomplete) {
		jw_put(&w, "incomplete:true");
	}
	put_parse(&w, calls);
	jw_put(&w, "usage:%?r,seed:%?r,prompt_hash:%t,reasoning:%?s,refusal:%?s", r->usage, seed,
	       prompt_hash, given(calls->reasoning), given(r->refusal));
	jw_put(&w, "prompt_token_ids:%?r,token_ids:%?r,logprobs:%?r}", r->prompt_token_ids,
	       r->token_ids, r->logprobs);
}

void about_failure(const struct chat_failure *f, const char *prompt_hash, struct buf *out)
{
	struct str code = f->code.n ? buf_view(&f->code) : STR_NONE;

	buf_clear(out);
	json_put(out, "{error:{class:%t,http_status:%d,code:%r,message:%s},prompt_hash:%t}",
	         chat_failure_name(f->class), f->status, code, buf_view(&f->message), prompt_hash);
}
