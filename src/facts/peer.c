/* Text from servers, for messages and comparisons: see peer.h. */
#include "facts/peer.h"

#include "facts/fingerprint.h"

#include "base/text.h"
#include "json/canon.h"

/* Longer text would be truncated anyway: an escape turns one byte into at most ten columns. */
#define COLUMNS 100

static struct str decoded(struct workspace *w, struct str value)
{
	if (json_type(value) != JSON_STRING) {
		return json_is_null(value) ? STR_NONE : value;
	}
	if (!json_has_escape(value)) {
		return json_inner(value);
	}
	buf_clear(&w->text);
	json_decode(value, &w->text);
	return buf_view(&w->text);
}

void peer_name(struct workspace *w, struct str spelled, char *out, size_t size)
{
	buf_clear(&w->canon);
	text_escape_cut(&w->canon, spelled, COLUMNS);
	text_copy(out, size, buf_view(&w->canon));
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
	if (out[0] == '\0' && l->outcome != OUTCOME_NONE) {
		text_copy(out, ERROR_TEXT, str_from(outcome_name(l->outcome)));
	}
}

uint64_t peer_masked(struct workspace *w, struct str value)
{
	struct str text = decoded(w, value);

	buf_clear(&w->canon);
	text_mask(&w->canon, text);
	return fingerprint(buf_view(&w->canon));
}

uint64_t peer_call(struct workspace *w, const struct derived_line *m)
{
	buf_clear(&w->canon);
	buf_str(&w->canon, m->tool_name);
	buf_char(&w->canon, '\0');
	json_canon(m->arguments, NULL, JSON_EDIT_DROP, &w->canon);
	return fingerprint(buf_view(&w->canon));
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
