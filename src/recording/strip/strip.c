/* Makes lines comparable: removes content that changes from run to run and writes the rest in
   canonical form. */
#include "recording/strip/strip.h"

#include "base/hash.h"
#include "base/mem.h"
#include "json/canon.h"
#include "json/write.h"
#include "recording/redact/replacer.h"

#include <inttypes.h>
#include <stdlib.h>

#define IDS_MAX 256 /* per rollout: if each step has a new session, the oldest ids are dropped */

#define LINE_MAX (2 * BUF_MAX_MESSAGE)

/* State of the current rollout. */
struct stripped_rollout {
	struct json_paths *masks, *ignore; /* NULL: none */
	struct replacer ids;
	int64_t written, dropped; /* lines */
};

/* The rows of line_parts for one key. */
struct part_rows {
	size_t first, count;
};

struct strip {
	char **masks;
	size_t mask_count;
	struct stripped_rollout rollout;
	bool open;                            /* `rollout` is valid: */
	struct buf id;                        /* its id */
	struct str *part_names, *part_values; /* of line_parts */
	struct part_rows parts[KEY_COUNT];
	/* of the current value: with ids replaced, with masks applied, in canonical form */
	struct buf replaced, masked, plain, scratch;
	char hash[HASH_HEX + 1]; /* of the current line's state */
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
	if (!*paths)
		*paths = json_paths_new(wild);
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
		if (add_path(paths, wild, buf_view(scratch), err) != 0)
			return -1;
	}
	return 0;
}

static int add_own_masks(const struct strip *s, struct json_paths **paths, struct error *err)
{
	for (size_t i = 0; i < s->mask_count; i++)
		if (add_path(paths, true, str_from(s->masks[i]), err) != 0)
			return -1;
	return 0;
}

static bool has_mask(const struct strip *s, struct str mask)
{
	for (size_t i = 0; i < s->mask_count; i++)
		if (str_is(mask, s->masks[i]))
			return true;
	return false;
}

static void list_parts(struct strip *s)
{
	s->part_names = mem_array(line_parts_count + 1, sizeof(*s->part_names));
	s->part_values = mem_array(line_parts_count + 1, sizeof(*s->part_values));
	for (size_t i = 0; i < line_parts_count; i++) {
		struct part_rows *rows = &s->parts[line_parts[i].key];

		s->part_names[i] = (struct str){line_parts[i].name, line_parts[i].name_n};
		rows->first = rows->count++ ? rows->first : i;
	}
}

int strip_new(const struct str *masks, size_t count, struct strip **out, struct error *err)
{
	struct strip *s = mem_new(sizeof(*s));
	struct json_paths *paths = NULL;

	s->masks = mem_array(count + 1, sizeof(*s->masks));
	for (size_t i = 0; i < count; i++)
		if (!has_mask(s, masks[i]))
			s->masks[s->mask_count++] = mem_text(masks[i]);
	list_parts(s);
	s->id = s->replaced = s->masked = s->plain = s->scratch = BUF(LINE_MAX);
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
	if (!s)
		return;
	end_rollout(s);
	mem_free_all(s->masks, s->mask_count);
	free(s->part_names);
	free(s->part_values);
	BUFS_RELEASE(&s->id, &s->replaced, &s->masked, &s->plain, &s->scratch);
	free(s);
}

/* Applies the header's masks and the caller's; without a header only the caller's. */
static int begin_rollout(struct strip *s, const struct line *l, struct error *err)
{
	struct stripped_rollout *r = &s->rollout;

	end_rollout(s);
	buf_set(&s->id, l->rollout);
	s->open = true;
	if (add_own_masks(s, &r->masks, err) != 0)
		return -1;
	if (add_paths(&r->masks, true, l->value[KEY_MASKS], &s->scratch, err) != 0)
		return error_wrap(err, "masks");
	struct str ignore = JSON_GET(l->value[KEY_STATE_SOURCE], "ignore");
	if (json_type(ignore) == JSON_ARRAY &&
	    add_paths(&r->ignore, false, ignore, &s->scratch, err) != 0) {
		return error_wrap(err, "state_source.ignore");
	}
	return 0;
}

static void note_ids(struct strip *s, struct stripped_rollout *r, const struct line *l)
{
	static const struct {
		struct str key;
		const char *put;
	} ids[] = {{STR_INIT("session"), "<session>"},
	           {STR_INIT("env_session"), "<session>"},
	           {STR_INIT("reply_session"), "<session>"},
	           {STR_INIT("episode"), "<episode>"}};
	struct json_member m;

	for (size_t cursor = 0; json_next_member(l->value[KEY_META], &cursor, &m);) {
		for (size_t i = 0; m.type == JSON_STRING && i < ARRAY_LEN(ids); i++) {
			if (json_key_is(m.key, ids[i].key)) {
				buf_clear(&s->scratch);
				json_decode(m.value, &s->scratch);
				replacer_add(&r->ids, buf_view(&s->scratch), ids[i].put);
			}
		}
	}
}

static bool is_volatile(const struct line *l)
{
	return l->type == LINE_UNKNOWN || l->event == EVENT_RETRY ||
	       l->event == EVENT_RECONNECTED || l->event == EVENT_NOISE ||
	       l->event == EVENT_STATE_REREAD;
}

/* The header's masks and the caller's, without duplicates. */
static void put_masks(struct strip *s, struct str named, struct buf *out)
{
	struct json_writer w = jw_form(out, "[");
	struct str element;

	for (size_t cursor = 0; json_next(named, &cursor, &element);) {
		buf_clear(&s->plain);
		json_canon(element, NULL, JSON_EDIT_MASK, &s->plain);
		jw_raw(&w, buf_view(&s->plain));
	}
	for (size_t i = 0; i < s->mask_count; i++) {
		bool there = false;

		for (size_t cursor = 0; json_next(named, &cursor, &element);)
			there = there || json_is(element, str_from(s->masks[i]));
		if (!there)
			jw_text(&w, s->masks[i]);
	}
	jw_end(&w);
}

/* ---- values ---- */

static bool is_one_of(struct str name, const struct str *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(name, names[i]))
			return true;
	return false;
}

/* Writes an object of our format: the members of the table in its order, then all others by key. */
static void write_parts(struct strip *s, struct part_rows rows, struct str object, struct buf *out)
{
	const struct str *names = s->part_names + rows.first;
	struct json_writer w = jw_begin(out);
	struct json_member m;

	buf_clear(&s->plain);
	json_canon(object, NULL, JSON_EDIT_MASK, &s->plain);
	object = buf_view(&s->plain);
	json_pick(object, names, rows.count, s->part_values);
	for (size_t i = 0; i < rows.count; i++) {
		if (s->part_values[i].n) {
			jw_key_spelled(&w, names[i]);
			jw_raw(&w, s->part_values[i]);
		}
	}
	for (size_t cursor = 0; json_next_member(object, &cursor, &m);) {
		if (!is_one_of(m.key, names, rows.count)) {
			jw_key_spelled(&w, m.key);
			jw_raw(&w, m.value);
		}
	}
	jw_end(&w);
}

/* The state, which begins at out->p[from], is canonical: masks its ignored members and computes its
   hash. */
static void finish_state(struct strip *s, const struct stripped_rollout *r, size_t from,
                         struct buf *out)
{
	struct str state = str_skip(buf_view(out), from);

	if (!r->ignore) {
		hash_hex(state, s->hash);
		return;
	}
	json_hash(state, r->ignore, &s->scratch, s->hash);
	buf_clear(&s->plain);
	json_canon(state, r->ignore, JSON_EDIT_MASK, &s->plain);
	buf_cut(out, from);
	buf_str(out, buf_view(&s->plain));
}

/* A line as it is to be written. */
struct stripping_line {
	const struct line *line;
	bool replace; /* ids occur in it */
	bool hashed;  /* s->hash is that of its state */
};

/* Writes the canonical form with ids replaced and masks applied. Ids are replaced first, because
   they may be in keys, which are sorted. */
static void write_canonical(struct strip *s, const struct line_key *row, struct str value,
                            bool replace, struct buf *out)
{
	const struct stripped_rollout *r = &s->rollout;
	const struct part_rows parts = s->parts[row->key];

	if (replace && !unmasked[row->key]) {
		buf_clear(&s->replaced);
		replacer_replace_json(&r->ids, value, &s->scratch, &s->replaced);
		value = buf_view(&s->replaced);
	}
	if (r->masks && !unmasked[row->key]) {
		buf_clear(&s->masked);
		json_canon_member(value, r->masks, (struct str){row->name, row->name_n},
		                  &s->masked);
		value = buf_view(&s->masked);
	}
	if (parts.count && json_type(value) == JSON_OBJECT)
		write_parts(s, parts, value, out);
	else
		json_canon(value, NULL, JSON_EDIT_MASK, out);
}

/* Reduces the line count of `end` by the lines dropped, so that a line that was missing before is
   still counted as missing. */
static void write_lines(const struct stripped_rollout *r, struct str value, struct buf *out)
{
	int64_t lines;

	if (!json_i64(value, &lines))
		lines = r->written + r->dropped + 1;
	buf_printf(out, "%" PRId64, lines > r->dropped ? lines - r->dropped : 0);
}

static void write_value(struct strip *s, struct stripping_line *l, const struct line_key *row,
                        struct buf *out)
{
	const struct str value = l->line->value[row->key];
	const size_t from = out->n;

	if (row->key == KEY_LINES) {
		write_lines(&s->rollout, value, out);
	} else if (row->key == KEY_MASKS && s->mask_count) {
		put_masks(s, value, out);
	} else if (row->key == KEY_STATE_HASH && l->hashed) {
		buf_char(out, '"');
		buf_text(out, s->hash);
		buf_char(out, '"');
	} else {
		write_canonical(s, row, value, l->replace, out);
	}
	if (row->key == KEY_STATE && !out->full && out->p[from] != 'n') {
		finish_state(s, &s->rollout, from, out);
		l->hashed = true;
	}
}

/* A masked value becomes null if the table does not allow a string there. */
static void write_row(struct strip *s, struct stripping_line *l, const struct line_key *row,
                      struct buf *out)
{
	const size_t from = out->n;

	buf_str(out, row->lead);
	const size_t value = out->n;
	write_value(s, l, row, out);
	if (s->rollout.masks && !out->full &&
	    !line_key_allows(row, str_skip(buf_view(out), value))) {
		buf_cut(out, row->types & T_OPTIONAL ? from : value);
		buf_text(out, row->types & T_OPTIONAL ? "" : "null");
	}
}

static void write_line(struct strip *s, const struct line *line, bool replace, struct buf *out)
{
	struct stripping_line l = {.line = line, .replace = replace};
	size_t count;
	const struct line_key *row = line_rows(line->type, &count), *end = row + count;

	buf_text(out, "{\"type\":\"");
	buf_text(out, line_type_name(line->type));
	buf_char(out, '"');
	for (row++; row < end; row++)
		if (row->key != KEY_META && (line->value[row->key].n || !(row->types & T_OPTIONAL)))
			write_row(s, &l, row, out);
	buf_text(out, "}\n");
}

/* Nearly no line contains an id, which is cheaper to find out afterwards. */
static void strip_to(struct strip *s, const struct line *l, struct buf *out)
{
	const size_t from = out->n;

	write_line(s, l, false, out);
	if (!out->full &&
	    !replacer_is_free_canonical(&s->rollout.ids, str_skip(buf_view(out), from))) {
		buf_cut(out, from);
		write_line(s, l, true, out);
	}
}

int strip_line(struct strip *s, const struct line *l, struct buf *out, struct error *err)
{
	struct stripped_rollout *r = &s->rollout;
	bool goes_on = s->open && str_eq(buf_view(&s->id), l->rollout);

	if (l->type == LINE_UNKNOWN && !goes_on)
		return 0;
	if ((!goes_on || l->type == LINE_HEADER) && begin_rollout(s, l, err) != 0)
		return -1;
	note_ids(s, r, l);
	if (is_volatile(l)) {
		r->dropped++;
		return 0;
	}
	strip_to(s, l, out);
	r->written++;
	if (l->type == LINE_END)
		end_rollout(s);
	const struct buf *used[] = {&s->replaced, &s->masked, &s->plain, &s->scratch, out};
	for (size_t i = 0; i < ARRAY_LEN(used); i++)
		if (used[i]->full)
			return error_set(err, FAIL_INPUT, "the stripped line is too long");
	return 0;
}
