/* The fast path of strip: lines of rollouts without masks in which no id occurs, as nearly all
   are. */
#include "trajectory/strip_internal.h"

#include "trajectory/line_canonical.h"

/* Writes an object whose members are in the order of the table, without any others. False for
   other objects, possibly after writing a part. */
static bool write_parts_straight(const struct line_key *row, struct str object, struct buf *out)
{
	const struct line_key *end = line_parts + line_parts_count;
	const enum key k = row->key;
	const char *lead = "{\"";
	struct json_member m;

	for (size_t cursor = 0; json_next_member(object, &cursor, &m); lead = ",\"") {
		while (row < end && row->key == k &&
		       !str_eq(m.key, (struct str){row->name, row->name_n})) {
			row++;
		}
		if (row == end || row->key != k) {
			return false;
		}
		row++;
		buf_add(out, lead, 2);
		buf_str(out, m.key);
		buf_add(out, "\":", 2);
		json_canon(m.value, NULL, JSON_EDIT_MASK, out);
	}
	buf_text(out, lead[0] == '{' ? "{}" : "}");
	return true;
}

static void write_parts_sorted(struct strip *s, enum key k, struct str object, struct buf *out)
{
	buf_clear(&s->plain);
	json_canon(object, NULL, JSON_EDIT_MASK, &s->plain);
	strip_parts(k, buf_view(&s->plain), out);
}

/* Writes the state, and its hash to s->hash. */
static void write_state(struct strip *s, const struct stripped_rollout *r, struct str state,
                        struct buf *out)
{
	size_t from = out->n;

	json_canon(state, NULL, JSON_EDIT_MASK, out);
	if (out->full) {
		return;
	}
	struct line l = {.value[KEY_STATE] = {out->p + from, out->n - from}};
	strip_state(s, r, &l);
	if (r->ignore) {
		buf_cut(out, from);
		buf_str(out, l.value[KEY_STATE]);
	}
}

static void write_value(struct strip *s, const struct stripped_rollout *r, const struct line *l,
                        enum key k, struct buf *out)
{
	struct str value = l->value[k];

	if (k == KEY_STATE && !json_is_null(value)) {
		write_state(s, r, value, out);
	} else if (k == KEY_STATE_HASH && !json_is_null(l->value[KEY_STATE])) {
		buf_add(out, s->hash, HASH_HEX + 2);
	} else if (s->parts[k] && json_type(value) == JSON_OBJECT) {
		size_t from = out->n;

		if (!write_parts_straight(s->parts[k], value, out)) {
			buf_cut(out, from);
			write_parts_sorted(s, k, value, out);
		}
	} else {
		json_canon(value, NULL, JSON_EDIT_MASK, out);
	}
}

/* ---- lines whose values are canonical already ---- */

static void end_run(struct strip *s, struct buf *out)
{
	buf_str(out, s->run);
	s->run = STR_NONE;
}

/* Writes a member of a canonical line: key and value are next to each other there, and often next
   to the member before, so that most lines are written as one piece. */
static void write_as_is(struct strip *s, const struct line_key *row, struct str value,
                        struct buf *out)
{
	struct str member = {value.p - row->lead.n, row->lead.n + value.n};

	if (s->run.n && s->run.p + s->run.n == member.p) {
		s->run.n += member.n;
	} else {
		end_run(s, out);
		s->run = member;
	}
}

static bool parts_are_in_order(const struct line_key *row, const struct line *l)
{
	const struct line_key *end = line_parts + line_parts_count;
	const enum key k = row->key;
	size_t count;
	const struct json_member *parts = canonical_parts(l, k, &count);

	for (size_t i = 0; i < count; i++) {
		while (row < end && row->key == k &&
		       !str_eq(parts[i].key, (struct str){row->name, row->name_n})) {
			row++;
		}
		if (row == end || row->key != k) {
			return false;
		}
		row++;
	}
	return true;
}

/* Is a value of a canonical line what strip writes? Computes the hash of a state. */
static bool stays(struct strip *s, const struct stripped_rollout *r, const struct line *l,
                  enum key k)
{
	const struct str value = l->value[k];

	if (k == KEY_STATE && !json_is_null(value)) {
		if (!r->ignore) {
			strip_hash(s, value);
		}
		return !r->ignore;
	}
	if (k == KEY_STATE_HASH && !json_is_null(l->value[KEY_STATE])) {
		return str_eq(value, (struct str){s->hash, HASH_HEX + 2});
	}
	return k != KEY_LINES &&
	       (!s->parts[k] || value.p[0] != '{' || parts_are_in_order(s->parts[k], l));
}

/* ---- any line ---- */

static void write_row(struct strip *s, const struct stripped_rollout *r, const struct line *l,
                      const struct line_key *row, struct buf *out)
{
	const struct str value = l->value[row->key];

	if (value.n && l->canonical && stays(s, r, l, row->key)) {
		write_as_is(s, row, value, out);
	} else if (value.n || !(row->types & T_OPTIONAL)) {
		end_run(s, out);
		buf_str(out, row->lead);
		write_value(s, r, l, row->key, out);
	}
}

bool strip_straight(struct strip *s, const struct stripped_rollout *r, const struct line *l,
                    struct buf *out)
{
	size_t count, from = out->n;
	const struct line_key *row = line_rows(l->type, &count), *end = row + count;
	struct line last;

	if (l->type == LINE_END) {
		last = *l;
		strip_lines(s, r, &last);
		l = &last;
	}
	buf_text(out, "{\"type\":\"");
	buf_text(out, line_type_name(l->type));
	buf_char(out, '"');
	for (row++; row < end; row++) {
		if (row->key != KEY_META) {
			write_row(s, r, l, row, out);
		}
	}
	end_run(s, out);
	buf_add(out, "}\n", 2);
	if (out->full || replacer_is_free_canonical(&r->ids, str_skip(buf_view(out), from))) {
		return true;
	}
	buf_cut(out, from);
	return false;
}
