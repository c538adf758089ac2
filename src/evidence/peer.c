/* Text from servers, for messages and comparisons: see peer.h. */
#include "evidence/peer.h"

#include "base/hash.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define COLUMNS 100

static struct str decoded(struct workspace *w, struct str value)
{
	if (json_type(value) != JSON_STRING)
		return json_is_null(value) ? STR_NONE : value;
	if (!json_has_escape(value))
		return json_inner(value);
	buf_clear(&w->text);
	json_decode(value, &w->text);
	return buf_view(&w->text);
}

/* Copies text to an array of `size` bytes, cut with an ellipsis. */
static void copy_cut(char *out, size_t size, struct str text)
{
	const struct str ellipsis = STR("…");

	if (text.n < size) {
		text_copy(out, size, text);
		return;
	}
	text_copy(out, size - ellipsis.n, text);
	memcpy(out + strlen(out), ellipsis.p, ellipsis.n + 1);
}

void peer_name(struct workspace *w, struct str spelled, char *out, size_t size)
{
	buf_clear(&w->canon);
	text_escape_cut(&w->canon, spelled, COLUMNS);
	copy_cut(out, size, buf_view(&w->canon));
}

void peer_tool(struct workspace *w, const struct derived_line *m, char *out, size_t size)
{
	peer_name(w, m->tool_name.n ? m->tool_name : STR("a tool without a name"), out, size);
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

void peer_nearest_tool(const struct rollout_facts *r, struct str name, char *out, size_t size)
{
	const char **names = mem_array(r->tool_count + 1, sizeof(*names));

	for (size_t i = 0; i < r->tool_count; i++)
		names[i] = r->tools[i].name.p;
	peer_name(r->work, str_from(text_nearest(name, names, r->tool_count)), out, size);
	free(names);
}

/* The numbers of HTTP and JSON-RPC say what an error's text may not ("Internal Server Error"). */
static void put_code(struct str error, char out[ERROR_TEXT])
{
	struct str layer = JSON_GET(error, "layer"), code = JSON_GET(error, "code");
	const char *kind = json_is(layer, STR("http"))      ? "HTTP"
	                   : json_is(layer, STR("jsonrpc")) ? "JSON-RPC error"
	                                                    : NULL;
	char number[24], text[ERROR_TEXT];
	int64_t n;

	if (!kind || !json_i64(code, &n))
		return;
	snprintf(number, sizeof(number), "%" PRId64, n);
	if (strstr(out, number))
		return;
	memcpy(text, out, sizeof(text));
	size_t used = (size_t)snprintf(out, ERROR_TEXT, "%s %s: ", kind, number);
	copy_cut(out + used, ERROR_TEXT - used, str_from(text));
}

void peer_error(struct workspace *w, const struct line *l, char out[ERROR_TEXT])
{
	peer_text(w, peer_error_value(l), out, ERROR_TEXT);
	if (out[0] == '\0' && l->outcome != OUTCOME_NONE)
		text_copy(out, ERROR_TEXT, str_from(outcome_name(l->outcome)));
	put_code(l->value[KEY_ERROR], out);
}

uint64_t peer_masked(struct workspace *w, struct str value)
{
	struct str text = decoded(w, value);

	buf_clear(&w->canon);
	text_mask(&w->canon, text);
	return fingerprint(buf_view(&w->canon));
}

bool peer_skipped(const struct line *event)
{
	bool skipped = false;

	json_bool(JSON_GET(event->value[KEY_DETAIL], "skipped"), &skipped);
	return skipped;
}

bool peer_named_state_source(const struct line *header)
{
	enum state_kind kind = line_state_kind(header);

	return kind == STATE_TOOL || kind == STATE_RESOURCE;
}

bool peer_failed_state_read(const struct line *event)
{
	return event->event == EVENT_CONTROL_PLANE_FAILED && !peer_skipped(event) &&
	       json_is(JSON_GET(event->value[KEY_DETAIL], "what"), STR("state"));
}
