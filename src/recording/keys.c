/* The table keys.def as data, and the check of values against it. */
#include "recording/line.h"

/* ",ok,tool-error": lists of words, each preceded by a comma. */
static const char outcome_list[] =
#define OUTCOME_WORD(id, word, meaning) "," word
#include "recording/keys.def"
	;
static const char class_list[] =
#define CLASS_WORD(id, word, meaning) "," word
#include "recording/keys.def"
	;
static const char layer_list[] =
#define LAYER_WORD(id, word) "," word
#include "recording/keys.def"
	;
static const char status_list[] =
#define STATUS_WORD(id, word) "," word
#include "recording/keys.def"
	;
static const char event_list[] =
#define EVENT_WORD(id, word) "," word
#include "recording/keys.def"
	;
static const char state_list[] =
#define STATE_WORD(id, word, asks_server, target) "," word
#include "recording/keys.def"
	;
static const char policy_list[] =
#define POLICY_WORD(id, word) "," word
#include "recording/keys.def"
	;
static const char protocol_list[] =
#define PROTOCOL_WORD(id, word, family, traits, meaning) "," word
#include "recording/keys.def"
	;
#define OUTCOME_WORDS  (outcome_list + 1)
#define CLASS_WORDS    (class_list + 1)
#define LAYER_WORDS    (layer_list + 1)
#define STATUS_WORDS   (status_list + 1)
#define EVENT_WORDS    (event_list + 1)
#define STATE_WORDS    (state_list + 1)
#define POLICY_WORDS   (policy_list + 1)
#define PROTOCOL_WORDS (protocol_list + 1)

#define KEY(line, key, name, types, words, meaning)                                                \
	{LINE_##line, KEY_##key, name,   sizeof(name) - 1, STR_INIT(",\"" name "\":"),             \
	 types,       words,     meaning},
const struct line_key line_keys[] = {
#include "recording/keys.def"
};
const size_t line_keys_count = ARRAY_LEN(line_keys);

#define PART(key, name, types, words, meaning)                                                     \
	{LINE_UNKNOWN, KEY_##key, name,   sizeof(name) - 1, STR_INIT(",\"" name "\":"),            \
	 types,        words,     meaning},
const struct line_key line_parts[] = {
#include "recording/keys.def"
};
const size_t line_parts_count = ARRAY_LEN(line_parts);

/* The index of each row, so that the rows of a line type are known at compile time. */
#define KEY(line, key, name, types, words, meaning) ROW_##line##_##key,
enum row {
#include "recording/keys.def"
	ROW_COUNT
};

#define TYPE(name, a, b) {name, ROW_##a##_TYPE, b}
static const struct line_rows {
	const char *name;
	enum row first, end;
} line_types[LINE_TYPES] = {
	[LINE_HEADER] = TYPE("header", HEADER, ROW_RESET_TYPE),
	[LINE_RESET] = TYPE("reset", RESET, ROW_STEP_TYPE),
	[LINE_STEP] = TYPE("step", STEP, ROW_EVENT_TYPE),
	[LINE_EVENT] = TYPE("event", EVENT, ROW_END_TYPE),
	[LINE_END] = TYPE("end", END, ROW_COUNT),
};

const char *line_type_name(enum line_type t)
{
	return (size_t)t < LINE_TYPES ? line_types[t].name : NULL;
}

const struct line_key *line_rows(enum line_type t, size_t *count)
{
	*count = 0;
	if ((size_t)t >= LINE_TYPES)
		return NULL;
	*count = (size_t)line_types[t].end - (size_t)line_types[t].first;
	return &line_keys[line_types[t].first];
}

static bool has_word(const char *words, struct str value)
{
	for (const char *w = words; *w;) {
		size_t n = strcspn(w, ",");

		if (json_is(value, (struct str){w, n}))
			return true;
		w += n + (w[n] == ',');
	}
	return false;
}

const char *line_key_name(enum key k)
{
	size_t i = 0;

	while (line_keys[i].key != k)
		i++;
	return line_keys[i].name;
}

/* Is the number an integer, including spellings such as 1.0 and 1e2? A count must fit in 64
   bits; other numbers (a seed) may have any size. */
static bool is_whole(struct str number, bool is_count)
{
	size_t at = !is_count && number.p[0] == '-';

	while (at < number.n && number.p[at] >= '0' && number.p[at] <= '9')
		at++;
	if (at == number.n && (at <= 18 || !is_count))
		return true;
	int64_t exact;
	return json_i64(number, &exact) && (!is_count || exact >= 0);
}

bool line_key_allows(const struct line_key *k, struct str value)
{
	enum json_type type = json_type(value);

	if (type == JSON_ABSENT)
		return k->types & (T_NULL | T_OPTIONAL);
	if (!(k->types >> type & 1))
		return false;
	if (type == JSON_NUMBER && k->types & T_INTEGRAL)
		return is_whole(value, k->types & T_NATURAL);
	if (type == JSON_STRING && k->words && !(k->types & T_OPEN))
		return has_word(k->words, value);
	return true;
}
