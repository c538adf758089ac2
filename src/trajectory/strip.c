/* Makes lines comparable: removes content that changes from run to run and writes the rest in
   canonical form. */
#include "trajectory/strip_internal.h"

#include "base/mem.h"
#include "json/write.h"
#include "trajectory/line_canonical.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define IDS_MAX 256 /* per rollout: if each step has a new session, the oldest ids are dropped */

#define LINE_MAX (2 * BUF_MAX_MESSAGE)

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

static void pick_meta(const struct line *l, const struct str *keys, size_t count,
                      struct str *values)
{
	if (!l->canonical) {
		json_pick(l->value[KEY_META], keys, count, values);
		return;
	}
	size_t parts_n;
	const struct json_member *parts = canonical_parts(l, KEY_META, &parts_n);
	memset(values, 0, count * sizeof(*values));
	for (size_t i = 0; i < parts_n; i++) {
		for (size_t k = 0; k < count; k++) {
			if (str_eq(parts[i].key, keys[k])) {
				values[k] = parts[i].value;
			}
		}
	}
}

static void note_ids(struct strip *s, struct stripped_rollout *r, const struct line *l)
{
	static const struct str keys[] = {STR_INIT("session"), STR_INIT("env_session"),
	                                  STR_INIT("reply_session"), STR_INIT("episode")};
	static const char *const put[] = {"<session>", "<session>", "<session>", "<episode>"};
	struct str ids[ARRAY_LEN(keys)];

	pick_meta(l, keys, ARRAY_LEN(keys), ids);
	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		struct str id = json_inner(ids[i]);

		if (json_has_escape(ids[i])) {
			buf_clear(&s->scratch);
			json_decode(ids[i], &s->scratch);
			id = buf_view(&s->scratch);
		}
		replacer_add(&r->ids, id, put[i]);
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

/* Sets the canonical values of the line in s->text. */
static void take_canonical(struct strip *s, struct line *out)
{
	size_t count;
	const struct line_key *rows = line_rows(out->type, &count);

	buf_clear(&s->plain);
	json_canon(buf_view(&s->text), NULL, JSON_EDIT_MASK, &s->plain);
	split(buf_view(&s->plain), rows, count, out->value);
}

/* The same, with masks applied. */
static void take_masked(struct strip *s, const struct stripped_rollout *r, struct line *out)
{
	size_t count, at[KEY_COUNT] = {0};
	const struct line_key *rows = line_rows(out->type, &count);
	struct str plain[KEY_COUNT] = {0}, masked[KEY_COUNT] = {0};

	buf_clear(&s->plain);
	buf_clear(&s->masked);
	json_canon(buf_view(&s->text), r->masks, JSON_EDIT_MASK, &s->masked);
	split(buf_view(&s->masked), rows, count, masked);
	split(buf_view(&s->text), rows, count, plain);
	for (size_t i = 0; i < count; i++) {
		enum key k = rows[i].key;

		if (unmasked[k] && plain[k].n) {
			at[k] = s->plain.n;
			json_canon(plain[k], NULL, JSON_EDIT_MASK, &s->plain);
			out->value[k].n = s->plain.n - at[k];
		} else if (!unmasked[k]) {
			out->value[k] = masked_value(&rows[i], masked[k], plain[k]);
		}
	}
	for (size_t i = 0; i < count; i++) {
		enum key k = rows[i].key;

		if (unmasked[k] && plain[k].n && !s->plain.full) {
			out->value[k].p = s->plain.p + at[k];
		}
	}
}

void strip_hash(struct strip *s, struct str state)
{
	s->hash[0] = '"';
	hash_hex(s->hasher, state, s->hash + 1);
	s->hash[HASH_HEX + 1] = '"'; /* instead of the NUL */
}

void strip_state(struct strip *s, const struct stripped_rollout *r, struct line *l)
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
		strip_hash(s, state);
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

void strip_parts(enum key k, struct str object, struct buf *out)
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
			strip_parts(k, l->value[k], &s->values);
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

void strip_lines(struct strip *s, const struct stripped_rollout *r, struct line *l)
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

	if (l->canonical && line_parse(l->text, &s->decoded_id, &parsed, &used, &impossible) == 0) {
		l = &parsed;
	}
	write_plain(s, r, l);
	if (r->masks) {
		take_masked(s, r, &stripped);
	} else {
		take_canonical(s, &stripped);
	}
	strip_state(s, r, &stripped);
	if (l->type == LINE_END) {
		strip_lines(s, r, &stripped);
	}
	write_stripped(s, &stripped, out);
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
	if (r->masks || !strip_straight(s, r, l, out)) {
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
