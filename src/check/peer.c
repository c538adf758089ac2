/* Peers' text for messages and comparisons. */
#include "check/peer.h"

#include "base/text.h"
#include "json/canon.h"

/* Longer text would be cut anyway; an escape makes at most ten columns of one byte. */
#define COLUMNS 100

static struct str decoded(struct workspace *w, struct str value)
{
	if (json_type(value) != JSON_STRING)
		return json_is_null(value) ? (struct str){NULL, 0} : value;
	if (!json_has_escape(value))
		return json_inner(value);
	buf_clear(&w->text);
	json_decode(value, &w->text);
	return buf_view(&w->text);
}

static void copy_cut(struct str s, char *out, size_t size)
{
	size_t n = s.n < size ? s.n : size - 1;
	n = text_utf8_valid((struct str){s.p, n});
	if (n)
		memcpy(out, s.p, n);
	out[n] = '\0';
}

void peer_name(struct workspace *w, struct str spelled, char *out, size_t size)
{
	buf_clear(&w->canon);
	text_escape_cut(&w->canon, spelled, COLUMNS);
	copy_cut(buf_view(&w->canon), out, size);
}

void peer_text(struct workspace *w, struct str value, char *out, size_t size)
{
	peer_name(w, decoded(w, value), out, size);
}

struct str peer_error_value(const struct line *l)
{
	struct str message = JSON_GET(l->value[KEY_ERROR], "message");
	return json_is_null(message) ? l->value[KEY_OBSERVATION] : message;
}

void peer_error(struct workspace *w, const struct line *l, char out[ERROR_TEXT])
{
	peer_text(w, peer_error_value(l), out, ERROR_TEXT);
	if (out[0] == '\0' && l->outcome != OUTCOME_NONE)
		copy_cut(str_from(outcome_name(l->outcome)), out, ERROR_TEXT);
}

uint64_t peer_masked(struct workspace *w, struct str value)
{
	struct str text = decoded(w, value);
	buf_clear(&w->canon);
	text_mask(&w->canon, text);
	return peer_fingerprint(buf_view(&w->canon));
}

uint64_t peer_fingerprint(struct str s)
{
	uint64_t h = s.n * 0x9e3779b97f4a7c15u;
	for (size_t i = 0; i < s.n; i += 8) {
		uint64_t word = 0;
		memcpy(&word, s.p + i, s.n - i < 8 ? s.n - i : 8);
		h = (h ^ word) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	return h;
}

uint64_t peer_call(struct workspace *w, const struct moment *m)
{
	buf_clear(&w->canon);
	buf_str(&w->canon, m->tool_name);
	buf_char(&w->canon, '\0');
	json_canon(m->arguments, NULL, JSON_EDIT_DROP, &w->canon);
	return peer_fingerprint(buf_view(&w->canon));
}

bool peer_skipped(const struct line *event)
{
	bool skipped = false;
	json_bool(JSON_GET(event->value[KEY_DETAIL], "skipped"), &skipped);
	return skipped;
}

bool peer_is(struct str value, struct str word)
{
	return json_type(value) == JSON_STRING && json_is(value, word);
}
