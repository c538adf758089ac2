/* Makes lines comparable: removes content that changes from run to run and writes the rest in
   canonical form. */
#include "trajectory/strip.h"

#include "base/hash.h"
#include "base/mem.h"
#include "json/canon.h"
#include "json/write.h"
#include "trajectory/replacer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define IDS_MAX   256 /* per rollout: if each step has a new session, the oldest ids are dropped */
#define ID_INSIDE 8   /* shorter ids are only replaced as whole strings */

#define LINE_MAX (2 * BUF_MAX_MESSAGE)

/* State of the current rollout. */
struct stripped_rollout {
	struct str id;
	struct json_paths *masks, *ignore; /* NULL: none */
	struct replacer ids;
	int64_t written, dropped; /* lines */
};

struct strip {
	char **masks;
	size_t mask_count;
	struct stripped_rollout rollout;
	bool open; /* `rollout` is valid */
	struct buf id, decoded_id;
	struct hasher *hasher;
	/* the first row of each object with members in the table */
	const struct line_key *parts[KEY_COUNT];
	/* For the current line. The first three hold whole lines: with ids replaced, canonical,
	   and canonical with masks applied. */
	struct buf text, plain, masked, values, state, scratch;
	struct str run; /* members of a canonical line that are output as they are, next */
	char hash[HASH_HEX + 3]; /* with quotes */
	char lines[24];
};

/* Values needed to read a line: masks do not apply to them. */
static const bool unmasked[KEY_COUNT] = {
	[KEY_TYPE] = true,       [KEY_ROLLOUT] = true,      [KEY_FORMAT] = true,
	[KEY_VERSION] = true,    [KEY_STATE_SOURCE] = true, [KEY_MASKS] = true,
	[KEY_OUTCOME] = true,    [KEY_TURN] = true,         [KEY_STEP] = true,
	[KEY_STATE_HASH] = true, [KEY_EVENT] = true,        [KEY_STATUS] = true,
	[KEY_TURNS] = true,      [KEY_STEPS] = true,        [KEY_LINES] = true,
};

static void end_rollout(struct strip *s)
{
	struct stripped_rollout *r = &s->rollout;

	json_paths_free(r->masks);
	json_paths_free(r->ignore);
	replacer_release(&r->ids);
	*r = (struct stripped_rollout){.ids = {.max = IDS_MAX}};
	s->open = false;
}

static int add_path(struct json_paths **paths, bool wild, struct str pointer, struct error *err)
{
	if (!*paths) {
		*paths = json_paths_new(wild);
	}
	return json_paths_add(*paths, pointer, err);
}

/* Adds the pointers of a JSON array; null and absent add nothing. */
static int add_paths(struct json_paths **paths, bool wild, struct str array, struct buf *scratch,
                     struct error *err)
{
	struct str element;

	for (size_t cursor = 0; json_next(array, &cursor, &element);) {
		buf_clear(scratch);
		if (json_type(element) != JSON_STRING) {
			return error_set(err, FAIL_INPUT, "%.*s is not a JSON Pointer",
			                 (int)(element.n < 64 ? element.n : 64), element.p);
		}
		json_decode(element, scratch);
		if (add_path(paths, wild, buf_view(scratch), err) != 0) {
			return -1;
		}
	}
	return 0;
}

static int add_own_masks(const struct strip *s, struct json_paths **paths, struct error *err)
{
	for (size_t i = 0; i < s->mask_count; i++) {
		if (add_path(paths, true, str_from(s->masks[i]), err) != 0) {
			return -1;
		}
	}
	return 0;
}

static bool has_mask(const struct strip *s, struct str mask)
{
	for (size_t i = 0; i < s->mask_count; i++) {
		if (str_is(mask, s->masks[i])) {
			return true;
		}
	}
	return false;
}

int strip_new(const struct str *masks, size_t count, struct strip **out, struct error *err)
{
	struct strip *s = mem_new(sizeof(*s));
	struct json_paths *paths = NULL;

	s->masks = mem_array(count + 1, sizeof(*s->masks));
	for (size_t i = 0; i < count; i++) {
		if (!has_mask(s, masks[i])) {
			s->masks[s->mask_count++] = mem_text(masks[i]);
		}
	}
	s->hasher = hasher_new();
	for (size_t i = line_parts_count; i > 0; i--) {
		s->parts[line_parts[i - 1].key] = &line_parts[i - 1];
	}
	s->id = s->decoded_id = BUF(LINE_MAX);
	s->text = s->plain = s->masked = BUF(LINE_MAX);
	s->values = s->state = s->scratch = BUF(LINE_MAX);
	int result = add_own_masks(s, &paths, err);
	json_paths_free(paths);
	if (result != 0) {
		err->kind = FAIL_USAGE;
		strip_free(s);
		return -1;
	}
	*out = s;
	return 0;
}

void strip_free(struct strip *s)
{
	if (!s) {
		return;
	}
	end_rollout(s);
	buf_release(&s->id);
	buf_release(&s->decoded_id);
	for (size_t i = 0; i < s->mask_count; i++) {
		free(s->masks[i]);
	}
	free(s->masks);
	hasher_free(s->hasher);
	struct buf *bufs[] = {&s->text, &s->plain, &s->masked, &s->values, &s->state, &s->scratch};
	for (size_t i = 0; i < ARRAY_LEN(bufs); i++) {
		buf_release(bufs[i]);
	}
	free(s);
}

/* Applies the header's masks and the caller's; without a header only the caller's. */
static int begin_rollout(struct strip *s, const struct line *l, struct error *err)
{
	struct stripped_rollout *r = &s->rollout;

	end_rollout(s);
	buf_clear(&s->id);
	buf_str(&s->id, l->rollout);
	r->id = buf_view(&s->id);
	s->open = true;
	if (add_own_masks(s, &r->masks, err) != 0) {
		return -1;
	}
	if (add_paths(&r->masks, true, l->value[KEY_MASKS], &s->scratch, err) != 0) {
		return error_wrap(err, "masks");
	}
	struct str ignore = JSON_GET(l->value[KEY_STATE_SOURCE], "ignore");
	if (json_type(ignore) == JSON_ARRAY &&
	    add_paths(&r->ignore, false, ignore, &s->scratch, err) != 0) {
		return error_wrap(err, "state_source.ignore");
	}
	return 0;
}

static void note_ids(struct strip *s, struct stripped_rollout *r, const struct line *l)
{
	static const struct str keys[] = {STR_INIT("session"), STR_INIT("env_session"),
	                                  STR_INIT("reply_session"), STR_INIT("episode")};
	static const char *const put[] = {"<session>", "<session>", "<session>", "<episode>"};
	struct str ids[ARRAY_LEN(keys)];

	json_pick(l->value[KEY_META], keys, ARRAY_LEN(keys), ids);
	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		if (json_type(ids[i]) != JSON_STRING) {
			continue;
		}
		buf_clear(&s->scratch);
		json_decode(ids[i], &s->scratch);
		replacer_add(&r->ids, buf_view(&s->scratch), put[i], s->scratch.n < ID_INSIDE);
	}
}

static bool is_volatile(const struct line *l)
{
	return l->type == LINE_UNKNOWN || l->event == EVENT_RETRY ||
	       l->event == EVENT_RECONNECTED || l->event == EVENT_NOISE ||
	       l->event == EVENT_STATE_REREAD;
}

/* The header's masks and the caller's, without duplicates. */
static struct str all_masks(const struct strip *s, struct str named, struct buf *out)
{
	size_t from = out->n;
	struct str element;

	buf_char(out, '[');
	for (size_t cursor = 0; json_next(named, &cursor, &element);) {
		if (out->n > from + 1) {
			buf_char(out, ',');
		}
		buf_str(out, element);
	}
	for (size_t i = 0; i < s->mask_count; i++) {
		bool there = false;

		for (size_t cursor = 0; json_next(named, &cursor, &element);) {
			there = there || json_is(element, str_from(s->masks[i]));
		}
		if (there) {
			continue;
		}
		if (out->n > from + 1) {
			buf_char(out, ',');
		}
		json_quote(out, str_from(s->masks[i]));
	}
	buf_char(out, ']');
	return (struct str){out->p + from, out->n - from};
}

/* Sets s->text to the line in table order, without meta, with ids replaced. */
static void write_plain(struct strip *s, const struct stripped_rollout *r, const struct line *l)
{
	size_t count;
	const struct line_key *rows = line_rows(l->type, &count);
	struct line work = {.type = l->type};

	buf_clear(&s->values);
	for (size_t i = 0; i < count; i++) {
		enum key k = rows[i].key;
		size_t from = s->values.n;

		if (k == KEY_MASKS && s->mask_count) {
			all_masks(s, l->value[k], &s->values);
		} else if (unmasked[k]) {
			buf_str(&s->values, l->value[k]);
		} else if (k != KEY_META) {
			replacer_replace_json(&r->ids, l->value[k], &s->scratch, &s->values);
		}
		work.value[k].n = s->values.n - from;
	}
	line_point(&work, s->values.p);
	buf_clear(&s->text);
	line_write(&work, &s->text);
	buf_cut(&s->text, s->text.n ? s->text.n - 1 : 0);
}

/* The masked value; null if the table does not allow a string there. A mask that matches the
   whole line masks each of its values. */
static struct str masked_value(const struct line_key *row, struct str masked, struct str plain)
{
	if (masked.n == 0 && !json_is_null(plain)) {
		masked = STR("\"<masked>\"");
	}
	return line_key_allows(row, masked) ? masked : STR_NONE;
}

/* Finds the values of all rows in one walk over the members. */
static void split(struct str object, const struct line_key *rows, size_t count,
                  struct str values[KEY_COUNT])
{
	struct json_member m;

	for (size_t cursor = 0; json_next_member(object, &cursor, &m);) {
		for (size_t i = 0; i < count; i++) {
			if (str_eq(m.key, (struct str){rows[i].name, rows[i].name_n})) {
				values[rows[i].key] = m.value;
			}
		}
	}
}

/* Sets the values, canonical and masked, of the line in s->text. */
static void take_canonical(struct strip *s, const struct stripped_rollout *r, struct line *out)
{
	size_t count;
	const struct line_key *rows = line_rows(out->type, &count);
	struct str masked[KEY_COUNT] = {0};

	buf_clear(&s->plain);
	buf_clear(&s->masked);
	json_canon(buf_view(&s->text), NULL, JSON_EDIT_MASK, &s->plain);
	split(buf_view(&s->plain), rows, count, out->value);
	if (!r->masks) {
		return;
	}
	json_canon(buf_view(&s->text), r->masks, JSON_EDIT_MASK, &s->masked);
	split(buf_view(&s->masked), rows, count, masked);
	for (size_t i = 0; i < count; i++) {
		enum key k = rows[i].key;

		if (!unmasked[k]) {
			out->value[k] = masked_value(&rows[i], masked[k], out->value[k]);
		}
	}
}

/* Sets s->hash for a canonical state of which nothing is ignored. */
static void put_hash(struct strip *s, struct str state)
{
	s->hash[0] = '"';
	hash_hex(s->hasher, state, s->hash + 1);
	s->hash[HASH_HEX + 1] = '"'; /* instead of the NUL */
}

/* The state is already canonical; masks its ignored members and recomputes its hash. */
static void redo_state(struct strip *s, const struct stripped_rollout *r, struct line *l)
{
	struct str state = l->value[KEY_STATE];

	if (json_is_null(state)) {
		return;
	}
	if (r->ignore) {
		s->hash[0] = '"';
		json_hash(s->hasher, state, r->ignore, &s->scratch, s->hash + 1);
		buf_clear(&s->state);
		json_canon(state, r->ignore, JSON_EDIT_MASK, &s->state);
		l->value[KEY_STATE] = buf_view(&s->state);
		s->hash[HASH_HEX + 1] = '"';
	} else {
		put_hash(s, state);
	}
	l->value[KEY_STATE_HASH] = (struct str){s->hash, HASH_HEX + 2};
}

static bool is_part(enum key k, struct str name)
{
	for (size_t i = 0; i < line_parts_count; i++) {
		if (line_parts[i].key == k && str_is(name, line_parts[i].name)) {
			return true;
		}
	}
	return false;
}

static void write_member(struct str name, struct str value, bool first, struct buf *out)
{
	buf_text(out, first ? "{\"" : ",\"");
	buf_str(out, name);
	buf_text(out, "\":");
	buf_str(out, value);
}

/* Writes an object of our format: the members of the table in its order, then all others. */
static void write_parts(enum key k, struct str object, struct buf *out)
{
	size_t from = out->n;

	for (size_t i = 0; i < line_parts_count; i++) {
		struct str name = str_from(line_parts[i].name), value = STR_NONE;

		if (line_parts[i].key == k) {
			value = json_get(object, name);
		}
		if (value.n) {
			write_member(name, value, out->n == from, out);
		}
	}
	struct json_member m;
	for (size_t cursor = 0; json_next_member(object, &cursor, &m);) {
		if (!is_part(k, m.key)) {
			write_member(m.key, m.value, out->n == from, out);
		}
	}
	buf_text(out, out->n == from ? "{}" : "}");
}

static void write_stripped(struct strip *s, const struct line *l, struct buf *out)
{
	size_t count, at[KEY_COUNT] = {0};
	const struct line_key *rows = line_rows(l->type, &count);
	struct line work = *l;

	buf_clear(&s->values);
	for (size_t i = 0; i < count; i++) {
		enum key k = rows[i].key;

		if (json_type(l->value[k]) == JSON_OBJECT && s->parts[k]) {
			at[i] = s->values.n + 1;
			write_parts(k, l->value[k], &s->values);
			work.value[k].n = s->values.n + 1 - at[i];
		}
	}
	for (size_t i = 0; i < count && !s->values.full; i++) {
		if (at[i]) {
			work.value[rows[i].key].p = s->values.p + at[i] - 1;
		}
	}
	line_write(&work, out);
}

/* Reduces the line count of `end` by the lines dropped, so that a line that was missing before
   is still counted as missing. */
static void redo_lines(struct strip *s, const struct stripped_rollout *r, struct line *l)
{
	int64_t lines;

	if (!json_i64(l->value[KEY_LINES], &lines)) {
		lines = r->written + r->dropped + 1;
	}
	lines = lines > r->dropped ? lines - r->dropped : 0;
	int n = snprintf(s->lines, sizeof(s->lines), "%" PRId64, lines);
	l->value[KEY_LINES] = (struct str){s->lines, (size_t)n};
}

/* Replaces ids before sorting, because they may be in keys. */
static void write_edited(struct strip *s, const struct stripped_rollout *r, const struct line *l,
                         struct buf *out)
{
	struct line stripped = {.type = l->type}, parsed;
	struct error impossible;
	size_t used;

	if (l->canonical &&
	    line_parse(l->text, &s->decoded_id, &parsed, &used, &impossible) == 0) {
		l = &parsed;
	}
	write_plain(s, r, l);
	take_canonical(s, r, &stripped);
	redo_state(s, r, &stripped);
	if (l->type == LINE_END) {
		redo_lines(s, r, &stripped);
	}
	write_stripped(s, &stripped, out);
}

/* ---- fast path: lines with nothing masked and no ids, as nearly all are ---- */

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
	write_parts(k, buf_view(&s->plain), out);
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
	redo_state(s, r, &l);
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

	if (s->run.p + s->run.n == member.p) {
		s->run.n += member.n;
	} else {
		end_run(s, out);
		s->run = member;
	}
}

static bool parts_are_in_order(const struct line_key *row, struct str object)
{
	const struct line_key *end = line_parts + line_parts_count;
	const enum key k = row->key;
	struct json_member m;

	for (size_t cursor = 0; json_next_member(object, &cursor, &m); row++) {
		while (row < end && row->key == k &&
		       !str_eq(m.key, (struct str){row->name, row->name_n})) {
			row++;
		}
		if (row == end || row->key != k) {
			return false;
		}
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
			put_hash(s, value);
		}
		return !r->ignore;
	}
	if (k == KEY_STATE_HASH && !json_is_null(l->value[KEY_STATE])) {
		return str_eq(value, (struct str){s->hash, HASH_HEX + 2});
	}
	return k != KEY_LINES &&
	       (!s->parts[k] || value.p[0] != '{' || parts_are_in_order(s->parts[k], value));
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

/* False, with nothing written, if an id may occur: write_plain then checks string by string. */
static bool write_straight(struct strip *s, const struct stripped_rollout *r, const struct line *l,
                           struct buf *out)
{
	size_t count, from = out->n;
	const struct line_key *row = line_rows(l->type, &count), *end = row + count;
	struct line work = *l;

	if (l->type == LINE_END) {
		redo_lines(s, r, &work);
	}
	buf_text(out, "{\"type\":\"");
	buf_text(out, line_type_name(l->type));
	buf_char(out, '"');
	for (row++; row < end; row++) {
		if (row->key != KEY_META) {
			write_row(s, r, &work, row, out);
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

int strip_line(struct strip *s, const struct line *l, struct buf *out, struct error *err)
{
	struct stripped_rollout *r = &s->rollout;
	bool goes_on = s->open && str_eq(r->id, l->rollout);

	if (l->type == LINE_UNKNOWN && !goes_on) {
		return 0;
	}
	if ((!goes_on || l->type == LINE_HEADER) && begin_rollout(s, l, err) != 0) {
		return -1;
	}
	note_ids(s, r, l);
	if (is_volatile(l)) {
		r->dropped++;
		return 0;
	}
	if (r->masks || !write_straight(s, r, l, out)) {
		write_edited(s, r, l, out);
	}
	r->written++;
	if (l->type == LINE_END) {
		end_rollout(s);
	}
	const struct buf *used[] = {&s->text, &s->plain, &s->masked, &s->values, &s->state, out};
	for (size_t i = 0; i < ARRAY_LEN(used); i++) {
		if (used[i]->full) {
			return error_set(err, FAIL_INPUT, "the stripped line is too long");
		}
	}
	return 0;
}
