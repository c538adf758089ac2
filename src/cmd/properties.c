/* Prints judged properties: see properties.h. */
#include "cmd/properties.h"

#include "base/text.h"
#include "json/write.h"

#define STATUS_COLUMNS 7
#define NAME_COLUMNS   12
#define INDENT         (STATUS_COLUMNS + 2 + NAME_COLUMNS + 2)

static const char *color_of(enum property_status s)
{
	static const char *const colors[PROPERTY_STATUSES] = {[PROPERTY_OK] = "32",
	                                                      [PROPERTY_FAIL] = "31",
	                                                      [PROPERTY_UNKNOWN] = "33",
	                                                      [PROPERTY_SKIPPED] = "2"};

	return colors[s];
}

/* ---- for people ---- */

static void put_part(struct buf *out, const char *before, struct str part)
{
	if (part.n) {
		buf_text(out, before);
		text_escape_cut(out, part, 80);
	}
}

void properties_title(const char *target, const struct env_facts *f, struct buf *out)
{
	text_escape_cut(out, str_from(target), 80);
	put_part(out, " · ", str_from(f->protocol));
	put_part(out, " · ", f->name);
	if (f->state_kind == STATE_NONE) {
		buf_text(out, " · no state source");
	} else {
		put_part(out, " · state from ", str_from(state_kind_name(f->state_kind)));
	}
	buf_char(out, '\n');
}

/* Indented below its first line, and wrapped on a terminal. */
static void put_text(struct str text, size_t indent, struct style style, struct buf *out)
{
	struct buf safe = BUF(BUF_MAX_MESSAGE);

	text_escape(&safe, text);
	if (style.terminal && indent < style.columns / 2) {
		text_wrap(out, buf_view(&safe), indent, style.columns);
	} else {
		buf_str(out, buf_view(&safe));
		buf_char(out, '\n');
	}
	buf_release(&safe);
}

void properties_line(const struct property *p, struct style style, struct buf *out)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	if (style.color) {
		buf_printf(out, "\x1b[%sm%-*s\x1b[0m", color_of(p->status), STATUS_COLUMNS,
		           property_status_name(p->status));
	} else {
		buf_printf(out, "%-*s", STATUS_COLUMNS, property_status_name(p->status));
	}
	buf_printf(out, "  %-*s  ", NAME_COLUMNS, p->name);
	buf_str(&text, buf_view(&p->value));
	buf_text(&text, p->evidence.n ? ": " : "");
	buf_str(&text, buf_view(&p->evidence));
	put_text(buf_view(&text), INDENT, style, out);
	if (p->fix.n) {
		buf_printf(out, "%*sfix: ", INDENT, "");
		put_text(buf_view(&p->fix), INDENT + 5, style, out);
	}
	buf_release(&text);
}

void properties_conclusion(const struct probe_summary *s, struct style style, struct buf *out)
{
	enum property_status worst = s->count[PROPERTY_FAIL]      ? PROPERTY_FAIL
	                             : s->count[PROPERTY_UNKNOWN] ? PROPERTY_UNKNOWN
	                                                          : PROPERTY_OK;
	const char *between = "";

	if (style.color) {
		buf_printf(out, "\x1b[%sm", color_of(worst));
	}
	for (size_t i = 0; i < PROPERTY_STATUSES; i++) {
		if (s->count[i]) {
			buf_printf(out, "%s%zu %s", between, s->count[i],
			           property_status_name((enum property_status)i));
			between = ", ";
		}
	}
	buf_text(out, style.color ? "\x1b[0m" : "");
	if (s->model_requests) {
		buf_printf(out, " · %zu request%s to the model", s->model_requests,
		           s->model_requests == 1 ? "" : "s");
	}
	buf_char(out, '\n');
}

/* ---- for programs ---- */

static void put_string(struct json_writer *w, const char *key, const struct buf *text)
{
	jw_key(w, key);
	jw_str(w, text->n ? buf_view(text) : STR_NONE);
}

void properties_json(const struct property *p, struct buf *out)
{
	struct json_writer w;

	jw_init(&w, out);
	jw_object(&w);
	jw_key(&w, "type");
	jw_text(&w, "property");
	jw_key(&w, "name");
	jw_text(&w, p->name);
	jw_key(&w, "status");
	jw_text(&w, property_status_name(p->status));
	put_string(&w, "value", &p->value);
	put_string(&w, "evidence", &p->evidence);
	put_string(&w, "fix", &p->fix);
	jw_end(&w);
	buf_char(out, '\n');
}

void properties_json_summary(const struct probe_summary *s, size_t sessions, size_t need,
                             bool model, struct buf *out)
{
	struct json_writer w;

	jw_init(&w, out);
	jw_object(&w);
	jw_key(&w, "type");
	jw_text(&w, "summary");
	for (size_t i = 0; i < PROPERTY_STATUSES; i++) {
		jw_key(&w, property_status_name((enum property_status)i));
		jw_u64(&w, s->count[i]);
	}
	jw_key(&w, "sessions");
	jw_u64(&w, sessions);
	jw_key(&w, "need");
	jw_u64(&w, need);
	jw_key(&w, "capacity");
	jw_u64(&w, s->capacity);
	if (model) {
		jw_key(&w, "model_requests");
		jw_u64(&w, s->model_requests);
	}
	jw_end(&w);
	buf_char(out, '\n');
}
