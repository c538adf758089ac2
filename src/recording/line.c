/* Parses one line of a recording into slices and writes it back. Parsing is one pass of the
   scanner over the bytes and one walk over the members. Since writers keep the order of the
   table, the next row is nearly always the right one. */
#include "recording/line.h"

#include "base/mem.h"
#include "base/text.h"
#include "json/canon.h"

#include <inttypes.h>

/* Exceeds the number of rows of any line type; the members of a line with even more are read
   again. */
#define MEMBERS_MAX 48

int line_fault(struct error *err, struct str text, const struct json_fault *fault)
{
	if (fault->at < text.n && text.p[fault->at] == '\0') {
		return error_set(err, FAIL_INPUT,
		                 "a NUL byte instead of JSON, as after a crash, at byte %zu",
		                 fault->at + 1);
	}
	return error_set(err, FAIL_INPUT, "%s at byte %zu", fault->why, fault->at + 1);
}

/* "null or a non-negative integer", for messages. */
static void types_text(unsigned types, struct buf *out)
{
	static const struct {
		unsigned mask, want;
		const char *name;
	} names[] = {
		{T_STRING, T_STRING, "a string"},
		{T_OBJECT, T_OBJECT, "an object"},
		{T_ARRAY, T_ARRAY, "an array"},
		{T_BOOL, T_BOOL, "true or false"},
		{T_COUNT, T_COUNT, "a non-negative integer"},
		{T_COUNT, T_WHOLE, "an integer"},
		{T_COUNT, T_NUMBER, "a number"},
		{T_NULL, T_NULL, "null"},
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if ((types & names[i].mask) == names[i].want)
			buf_printf(out, "%s%s", out->n ? " or " : "", names[i].name);
}

static __attribute__((noinline, cold)) int
value_error(struct error *err, const struct line_key *row, struct str value, size_t at)
{
	AUTO_BUF want = BUF(256);
	enum json_type type = json_type(value);

	if (type == JSON_STRING && row->types & T_STRING) {
		error_set(err, FAIL_INPUT, "\"%s\" is %.*s, not one of %s, at byte %zu", row->name,
		          (int)(value.n < 64 ? value.n : 64), value.p, row->words, at + 1);
	} else if (type == JSON_NUMBER && row->types & T_NUMBER) {
		error_set(err, FAIL_INPUT, "\"%s\" is %.*s, not an integer%s, at byte %zu",
		          row->name, (int)(value.n < 64 ? value.n : 64), value.p,
		          row->types & T_NATURAL ? " >= 0" : "", at + 1);
	} else {
		types_text(row->types, &want);
		error_set(err, FAIL_INPUT, "\"%s\" is %s%s, not %s, at byte %zu", row->name,
		          type == JSON_NULL ? "" : "of type ", json_type_name(type),
		          buf_cstr(&want), at + 1);
	}
	return -1;
}

/* The rows of the line's type, and the index of the row expected next. */
struct row_walk {
	const struct line_key *rows;
	size_t count, next;
};

/* The row with that name: nearly always the next one. */
static const struct line_key *find_row(struct row_walk *w, struct str name)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct line_key *row = &w->rows[w->next];

		w->next = w->next + 1 < w->count ? w->next + 1 : 0;
		struct str key = {row->name, row->name_n};
		if (str_eq(name, key) || (name.n > key.n && json_key_is(name, key)))
			return row;
	}
	return NULL;
}

/* The text of a string; strings that we write have no escapes. */
static struct str word_of(struct str string, struct buf *decoded)
{
	if (json_type(string) != JSON_STRING || !json_has_escape(string))
		return json_inner(string);
	json_decode(string, decoded);
	return decoded->full ? STR_NONE : buf_view(decoded);
}

#define WORD_BYTES_MAX 64

/* Decodes a member whose value is an enum in struct line; an unknown word gives 0. */
static bool take_word(enum key k, struct str string, struct line *out)
{
	AUTO_BUF decoded = BUF(WORD_BYTES_MAX);
	struct str word = word_of(string, &decoded);
	bool known = true;

	if (k == KEY_OUTCOME) {
		out->outcome = outcome_parse(word);
		known = out->outcome != OUTCOME_NONE;
	} else if (k == KEY_STATUS) {
		out->status = end_status_parse(word);
		known = out->status != END_UNKNOWN;
	} else {
		out->event = event_kind_parse(word);
	}
	return known;
}

/* Is the value allowed, given that its type is? Sets the decoded field of those that are enums. `type`
   itself was checked before. */
static bool line_key_takes(const struct line_key *row, struct str value, struct line *out)
{
	if (row->key == KEY_OUTCOME && str_eq(value, STR("\"ok\""))) { /* most are */
		out->outcome = OUTCOME_OK;
		return true;
	}
	if (row->key == KEY_OUTCOME || row->key == KEY_STATUS || row->key == KEY_EVENT)
		return take_word(row->key, value, out) || json_type(value) == JSON_NULL;
	return row->key == KEY_TYPE || line_key_allows(row, value);
}

static int take_value(const struct line_key *row, struct str value, enum json_type type,
                      struct line *out, struct error *err)
{
	if (!(row->types >> type & 1) || !line_key_takes(row, value, out))
		return value_error(err, row, value, (size_t)(value.p - out->text.p));
	out->value[row->key] = value;
	return 0;
}

static int take(struct row_walk *w, const struct json_member *m, struct line *out,
                struct error *err)
{
	const struct line_key *row = find_row(w, m->key);

	return row ? take_value(row, m->value, m->type, out, err) : 0;
}

/* Sets out->value for a line of the given type. */
static int take_all(struct line *out, const struct json_member *list, size_t count,
                    struct error *err)
{
	struct row_walk w = {0};
	struct json_member m;

	w.rows = line_rows(out->type, &w.count);
	for (size_t i = 0; i < count; i++)
		if (take(&w, &list[i], out, err) != 0)
			return -1;
	if (count < MEMBERS_MAX)
		return 0;
	for (size_t cursor = 0; json_next_member(out->text, &cursor, &m);)
		if (take(&w, &m, out, err) != 0)
			return -1;
	return 0;
}

static enum line_type type_of(struct str string)
{
	for (size_t t = 0; t < LINE_TYPES; t++)
		if (json_is(string, str_from(line_type_name((enum line_type)t))))
			return (enum line_type)t;
	return LINE_UNKNOWN;
}

static int8_t tristate(struct str value)
{
	return (int8_t)(value.n == 0 || value.p[0] == 'n' ? -1 : value.p[0] == 't');
}

static int check_header(const struct line *l, struct error *err)
{
	int64_t version = line_count(l->value[KEY_VERSION]);

	if (!line_has(l, KEY_FORMAT) || !line_has(l, KEY_VERSION)) {
		return error_set(err, FAIL_INPUT,
		                 "a header without \"format\" and \"version\" at byte 1");
	}
	if (version > RECORD_VERSION) {
		return error_set(err, FAIL_INPUT,
		                 "the recording has version %" PRId64 ", but this rolldbg "
		                 "reads versions up to %d, at byte %zu",
		                 version, RECORD_VERSION,
		                 (size_t)(l->value[KEY_VERSION].p - l->text.p) + 1);
	}
	if (version < 1) {
		return error_set(err, FAIL_INPUT, "unknown version %.*s at byte %zu",
		                 STR_ARG(l->value[KEY_VERSION]),
		                 (size_t)(l->value[KEY_VERSION].p - l->text.p) + 1);
	}
	return 0;
}

/* Sets the decoded fields from the values. */
static void line_decode(struct line *out, struct buf *scratch)
{
	struct str rollout = out->value[KEY_ROLLOUT];

	if (json_has_escape(rollout)) {
		buf_clear(scratch);
		json_decode(rollout, scratch);
		out->rollout = buf_view(scratch);
	} else {
		out->rollout = json_inner(rollout);
	}
	out->turn = line_count(out->value[KEY_TURN]);
	out->step = line_count(out->value[KEY_STEP]);
	out->terminated = tristate(out->value[KEY_TERMINATED]);
	out->truncated = tristate(out->value[KEY_TRUNCATED]);
}

/* A line of this type without values. */
static void line_begin(struct line *out, struct str text, enum line_type type)
{
	mem_clear(out, sizeof(*out));
	out->text = text;
	out->turn = out->step = out->terminated = out->truncated = -1;
	out->type = type;
}

/* The last of duplicate keys counts, also for `type`. */
static int fill(struct line *out, const struct json_member *list, size_t count, struct error *err)
{
	bool first = count && str_is(list[0].key, "type");
	struct str last = first ? list[0].value : JSON_GET(out->text, "type");

	for (struct str type = {0}; type.p != last.p || !type.p;) {
		type = last;
		if (json_type(type) != JSON_STRING)
			return error_set(err, FAIL_INPUT, "an object without \"type\" at byte 1");
		line_begin(out, out->text, type_of(type));
		if (take_all(out, list, count, err) != 0)
			return -1;
		last = out->type == LINE_UNKNOWN ? JSON_GET(out->text, "type")
		                                 : out->value[KEY_TYPE];
	}
	return 0;
}

/* The object that was scanned, which blanks may precede. */
static struct str object_in(struct str text, size_t used)
{
	size_t blanks = 0;

	while (text.p[blanks] != '{')
		blanks++;
	return (struct str){text.p + blanks, used - blanks};
}

int line_parse(struct str text, struct buf *scratch, struct line *out, size_t *used,
               struct error *err)
{
	struct json_member members[MEMBERS_MAX];
	struct json_fault fault = {0};
	size_t count, end;

	int failed = json_validate_object(text, members, MEMBERS_MAX, &count, &end, &fault);

	if (used)
		*used = failed ? 0 : end;
	if (failed)
		return line_fault(err, text, &fault);
	out->text = object_in(text, end);
	if (fill(out, members, count, err) != 0)
		return -1;
	if (out->type == LINE_UNKNOWN) {
		out->value[KEY_ROLLOUT] = JSON_GET(out->text, "rollout");
		if (json_type(out->value[KEY_ROLLOUT]) != JSON_STRING)
			out->value[KEY_ROLLOUT] = STR_NONE;
	} else if (!line_has(out, KEY_ROLLOUT)) {
		return error_set(err, FAIL_INPUT, "a line without \"rollout\" at byte 1");
	}
	if (out->type == LINE_HEADER && check_header(out, err) != 0)
		return -1;
	line_decode(out, scratch);
	return 0;
}

/* Writes a value without line breaks. Strings, numbers and words contain none. */
static void write_value(struct str value, struct buf *out)
{
	/* line breaks in a string are always escaped; other values may contain whitespace */
	bool string = value.p[0] == '"' && value.p[value.n - 1] == '"';

	if (!string && (memchr(value.p, '\n', value.n) || memchr(value.p, '\r', value.n)))
		json_minify(value, out);
	else
		buf_str(out, value);
}

void line_write(const struct line *l, struct buf *out, size_t sizes[KEY_COUNT])
{
	size_t count, at = out->n;
	const struct line_key *row = line_rows(l->type, &count);

	if (!row)
		return;
	buf_text(out, "{\"type\":\"");
	buf_text(out, line_type_name(l->type));
	buf_char(out, '"');
	sizes[KEY_TYPE] = out->n - at - row->lead.n;
	for (const struct line_key *end = row++ + count; row < end; row++) {
		struct str value = l->value[row->key];

		sizes[row->key] = 0;
		if (value.n == 0 && row->types & T_OPTIONAL)
			continue;
		buf_str(out, row->lead);
		at = out->n;
		write_value(value.n ? value : STR("null"), out);
		sizes[row->key] = out->n - at;
	}
	buf_text(out, "}\n");
}

int line_written(enum line_type type, struct str text, const size_t sizes[KEY_COUNT],
                 struct buf *scratch, struct line *out, struct error *err)
{
	size_t count;
	const struct line_key *row = line_rows(type, &count);
	const char *at = text.p;

	line_begin(out, text, type);
	for (const struct line_key *end = row + count; row < end; row++) {
		struct str value = {at + row->lead.n, sizes[row->key]};

		if (value.n == 0)
			continue;
		at = value.p + value.n;
		if (value.p[0] <= ' ' || at[-1] <= ' ')
			value = text_trim(value);
		if (take_value(row, value, json_type(value), out, err) != 0)
			return -1;
	}
	line_decode(out, scratch);
	return 0;
}

struct str line_state_hash(const struct line *l)
{
	return json_inner(l->value[KEY_STATE_HASH]);
}

struct str line_tool_name(const struct line *l)
{
	return json_inner(JSON_GET(l->value[KEY_TOOL_CALL], "name"));
}

struct str line_arguments(const struct line *l)
{
	return JSON_GET(l->value[KEY_TOOL_CALL], "arguments");
}

/* A function that returns the enum of a word in a member of an object. */
#define MEMBER_WORD(function, type, key, member)                                                   \
	enum type function(const struct line *l)                                                   \
	{                                                                                          \
		AUTO_BUF decoded = BUF(WORD_BYTES_MAX);                                            \
                                                                                                   \
		return type##_parse(word_of(JSON_GET(l->value[key], member), &decoded));           \
	}
MEMBER_WORD(line_error_class, error_class, KEY_ERROR, "class")
MEMBER_WORD(line_error_layer, error_layer, KEY_ERROR, "layer")
MEMBER_WORD(line_state_kind, state_kind, KEY_STATE_SOURCE, "kind")
MEMBER_WORD(line_policy_kind, policy_kind, KEY_POLICY, "kind")
MEMBER_WORD(line_protocol, protocol, KEY_ENV, "protocol")
