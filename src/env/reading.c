/* Common to the adapters' reading of replies: see reading.h. */
#include "env/reading.h"

#include "base/text.h"
#include "env/env.h"
#include "json/write.h"
#include "net/child.h"

#include <stdio.h>

#define MESSAGE_MAX  ((size_t)4096)
#define ENDING_CELLS 220 /* of the last words of a server that ended */

void reading_init(struct reply_reading *r)
{
	*r = (struct reply_reading){.denied = false};
	r->message = r->text = r->observation = r->structured = r->session = BUF(BUF_MAX_MESSAGE);
}

void reading_release(struct reply_reading *r)
{
	BUFS_RELEASE(&r->message, &r->text, &r->observation, &r->structured, &r->session);
}

void reading_fail(struct reply_reading *r, enum outcome outcome, enum error_layer layer,
                  enum error_class class, struct str message, struct env_reply *out)
{
	out->outcome = outcome;
	out->error.layer = layer;
	out->error.class = class;
	if (message.p)
		reading_message(r, message, out);
}

void reading_message(struct reply_reading *r, struct str text, struct env_reply *out)
{
	buf_set(&r->message, text_utf8_cut(text, MESSAGE_MAX));
	out->error.message = buf_view(&r->message);
}

struct str reading_as_text(struct reply_reading *r, struct str value)
{
	buf_clear(&r->text);
	json_text_or_json(value, &r->text);
	return buf_view(&r->text);
}

void reading_structured(struct reply_reading *r, const char *key, struct str value,
                        struct env_reply *out)
{
	buf_clear(&r->structured);
	struct json_writer w = jw_begin(&r->structured);
	jw_put_raw(&w, key, value);
	jw_end(&w);
	out->structured = buf_view(&r->structured);
}

struct str reading_code(struct reply_reading *r, int code)
{
	snprintf(r->code, sizeof(r->code), "%d", code);
	return str_from(r->code);
}

struct hidden_error_context reading_before(const struct buf *start, const struct buf *seen)
{
	return (struct hidden_error_context){buf_given(start), buf_given(seen)};
}

struct str reading_keep(struct env_reply *out, struct arena *kept)
{
	arena_reset(kept);
	env_reply_keep(out, kept);
	return out->outcome == OUTCOME_OK ? out->observation : STR_NONE;
}

struct str reading_content(struct str content, struct buf *out)
{
	enum { TYPE, TEXT, COUNT };
	static const struct str keys[COUNT] = {STR_INIT("type"), STR_INIT("text")};
	struct str second, values[COUNT];
	size_t cursor = 0;

	if (!json_next_picked(content, &cursor, keys, COUNT, values) ||
	    json_next(content, &cursor, &second)) {
		return content;
	}
	struct str text = values[TEXT];
	if (!json_is(values[TYPE], STR("text")) || json_type(text) != JSON_STRING)
		return content;
	buf_clear(out);
	bool whole = json_decode(text, out);
	bool is_json = whole && !out->full && json_is_valid(buf_view(out));
	return is_json ? buf_view(out) : text;
}

void reading_note(struct event_queue *q, enum event_kind event, const char *what, struct str why)
{
	events_pack(q, event, "{what:%t,why:%s}", what, text_utf8_cut(why, MESSAGE_MAX));
}

/* ---- a server that is our child ---- */

void reading_child_words(struct child *child, struct event_queue *q)
{
	struct str words = child_stderr(child);
	int64_t lost = (int64_t)child_stderr_lost(child);

	if (!words.n)
		return;
	events_pack(q, EVENT_NOISE,
	            lost ? "{channel:'stderr',text:%s,bytes_before:%i}"
	                 : "{channel:'stderr',text:%s}",
	            words, lost);
	child_clear_stderr(child);
}

int reading_child_end(struct child *child, const char *command, struct error *err)
{
	struct str words = child_last_stderr_line(child);
	AUTO_BUF safe = BUF(BUF_MAX_SMALL);

	if (words.n) {
		buf_text(&safe, ": ");
		text_escape_cut(&safe, words, ENDING_CELLS);
	}
	if (child_not_found(child)) {
		error_set(err, FAIL_TRANSPORT, "'%.120s' %s%s", command,
		          words.n ? "could not be started" : "was not found", buf_cstr(&safe));
	} else {
		error_set(err, FAIL_TRANSPORT, "the server %s%s", child_why(child),
		          buf_cstr(&safe));
	}
	return -1;
}
