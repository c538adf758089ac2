/* Checks the arguments of a call: see arguments.h. */
#include "json/arguments.h"

#include "base/names.h"
#include "json/index.h"
#include "json/schema.h"
#include <math.h>

/* An extra bit next to those of enum json_type: numbers spelled as integers. */
#define WHOLE (1u << 16)

/* What is certain to match; in all other cases the schema is consulted. */
struct argument_schema {
	struct map_item item;
	struct str key, spelled, schema; /* the key, decoded and as spelled */
	unsigned types;                  /* 0: no type is certain to match */
	const struct map *words;         /* the enum's values, as spelled; NULL: any value */
	struct str word_list;            /* the enum */
	bool plain_words;                /* all are strings without escapes */
	bool bounded;                    /* limited to low..high */
	double low, high;
};

struct arguments_schema {
	struct references *references; /* resolved within the schema */
	const struct argument_schema *properties;
	size_t count;
	struct map by_key;
	bool open;            /* accepts other arguments */
	struct str *required; /* decoded */
	size_t required_count;
};

/* ---- reading ---- */

static unsigned type_bits(struct str type)
{
	static const struct {
		const char *name;
		unsigned bits;
	} types[] = {
		{"string", 1u << JSON_STRING},
		{"integer", WHOLE},
		{"number", 1u << JSON_NUMBER | WHOLE},
		{"object", 1u << JSON_OBJECT},
		{"array", 1u << JSON_ARRAY},
		{"null", 1u << JSON_NULL},
		{"boolean", 1u << JSON_FALSE | 1u << JSON_TRUE},
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (json_type(type) == JSON_STRING && json_is(type, str_from(types[i].name))) {
			return types[i].bits;
		}
	}
	return 0;
}

static bool is_plain(struct str value)
{
	return json_type(value) == JSON_STRING && !json_has_escape(value);
}

static void read_words(struct argument_schema *p, struct arena *a, struct str list)
{
	struct map_item *items = arena_new(a, (json_count(list) + 1) * sizeof(*items));
	struct map *words = arena_new(a, sizeof(*words));
	struct str each;

	p->word_list = list;
	p->plain_words = true;
	for (size_t cursor = 0; json_next(list, &cursor, &each);) {
		uint64_t hash = map_hash(each);

		if (!map_find(words, hash, STR_NONE)) {
			map_add(words, items++, hash);
		}
		p->plain_words &= is_plain(each);
	}
	p->words = words;
}

static bool read_bound(struct argument_schema *p, struct str value, double *bound)
{
	p->bounded = true;
	return json_type(value) == JSON_NUMBER && json_double(value, bound);
}

/* Reads one keyword of a property's schema; false if it is not one of the simple ones. */
static bool read_keyword(struct argument_schema *p, struct arena *a, const struct json_member *m)
{
	static const char *const remarks[] = {"description", "title", "default", "examples",
	                                      "items"};

	if (str_eq(m->key, STR("type"))) {
		p->types = type_bits(m->value);
		return p->types != 0;
	}
	if (str_eq(m->key, STR("enum"))) {
		read_words(p, a, m->value);
		return m->type == JSON_ARRAY;
	}
	if (str_eq(m->key, STR("minimum"))) {
		return read_bound(p, m->value, &p->low);
	}
	if (str_eq(m->key, STR("maximum"))) {
		return read_bound(p, m->value, &p->high);
	}
	for (size_t i = 0; i < ARRAY_LEN(remarks); i++) {
		if (str_is(m->key, remarks[i])) {
			return true;
		}
	}
	return false;
}

static struct argument_schema read_property(struct arena *a, const struct json_member *named)
{
	struct argument_schema p = {.key = json_key_text(a, named->key),
	                            .spelled = named->key,
	                            .schema = named->value,
	                            .low = -HUGE_VAL,
	                            .high = HUGE_VAL};
	struct json_member m;
	bool sure = true;

	for (size_t cursor = 0; json_next_member(named->value, &cursor, &m);) {
		sure = read_keyword(&p, a, &m) && sure;
	}
	p.types = sure ? p.types : 0;
	return p;
}

static size_t find(const struct arguments_schema *s, struct str key)
{
	const struct argument_schema *found = map_find(&s->by_key, map_hash(key), key);

	return found ? (size_t)(found - s->properties) : s->count;
}

static void read_required(struct arguments_schema *s, struct arena *a, struct str required)
{
	struct str each;

	s->required = arena_new(a, (json_count(required) + 1) * sizeof(*s->required));
	for (size_t cursor = 0; json_next(required, &cursor, &each);) {
		if (json_type(each) == JSON_STRING) {
			s->required[s->required_count++] = json_text(a, each);
		}
	}
}

/* A schema accepts other arguments only if it says so or names no properties, because a misspelt
   argument that the server ignores is also a mistake. */
static bool is_open(const struct arguments_schema *s, struct str extra)
{
	return s->count == 0 || json_type(extra) == JSON_TRUE || json_type(extra) == JSON_OBJECT;
}

const struct arguments_schema *arguments_read(struct arena *a, struct str schema)
{
	struct arguments_schema *s = arena_new(a, sizeof(*s));
	struct str properties = JSON_GET(schema, "properties");
	struct argument_schema *list = arena_new(a, (json_count(properties) + 1) * sizeof(*list));
	struct json_member m;

	s->by_key.key = offsetof(struct argument_schema, key);
	for (size_t cursor = 0; json_next_member(properties, &cursor, &m);) {
		struct argument_schema *p = &list[s->count++];

		*p = read_property(a, &m);
		uint64_t hash = map_hash(p->key);
		if (!map_find(&s->by_key, hash, p->key)) {
			map_add(&s->by_key, &p->item, hash);
		}
	}
	s->references = arena_new(a, sizeof(*s->references));
	references_begin(s->references, schema, a);
	s->properties = list;
	s->open = is_open(s, JSON_GET(schema, "additionalProperties"));
	read_required(s, a, JSON_GET(schema, "required"));
	return s;
}

/* ---- checking ---- */

static int no_property(const struct arguments_schema *s, struct str key, struct error *err)
{
	struct names known = {.count = 0};

	for (size_t i = 0; i < s->count && i < NAMES_MAX; i++) {
		names_add(&known, s->properties[i].spelled);
	}
	error_set(err, FAIL_USAGE, "the tool has no argument '%.*s'", STR_ARG(key));
	names_suggest(err, key, known.text, known.count);
	names_release(&known);
	return -1;
}

static int check_required(const struct arguments_schema *s, struct str arguments, struct error *err)
{
	struct json_index given;
	size_t i = 0;

	json_index_begin(&given, arguments);
	while (i < s->required_count && json_index_find(&given, s->required[i]).p) {
		i++;
	}
	json_index_release(&given);
	return i == s->required_count
	               ? 0
	               : error_set(err, FAIL_USAGE, "the required argument \"%.*s\" is missing",
	                           STR_ARG(s->required[i]));
}

/* Arguments usually come in the order of the schema, so `guess` is tried first. */
static size_t find_spelled(const struct arguments_schema *s, struct str key, size_t guess)
{
	if (guess < s->count && str_eq(s->properties[guess].spelled, key)) {
		return guess;
	}
	struct arena arena = {0};
	size_t i = find(s, json_key_text(&arena, key));

	arena_release(&arena);
	return i;
}

static bool is_whole(struct str number)
{
	for (size_t i = number.p[0] == '-'; i < number.n; i++) {
		if (number.p[i] < '0' || number.p[i] > '9') {
			return false;
		}
	}
	return true;
}

static bool is_within(const struct argument_schema *p, struct str number)
{
	double value;

	return !p->bounded || (json_double(number, &value) && value >= p->low && value <= p->high);
}

static bool is_word(const struct argument_schema *p, struct str value)
{
	return map_find(p->words, map_hash(value), STR_NONE);
}

static bool fits_surely(const struct argument_schema *p, const struct json_member *m)
{
	bool type = m->type == JSON_NUMBER ? (p->types >> JSON_NUMBER & 1) ||
	                                             ((p->types & WHOLE) && is_whole(m->value))
	                                   : (p->types >> m->type & 1);

	return type && (m->type != JSON_NUMBER || is_within(p, m->value)) &&
	       (!p->words || is_word(p, m->value));
}

/* One map look-up instead of a comparison with each value of the enum. */
static bool is_wrong_word(const struct argument_schema *p, const struct json_member *m)
{
	return (p->types >> JSON_STRING & 1) && p->words && p->plain_words && is_plain(m->value) &&
	       !is_word(p, m->value);
}

static int check_value(const struct arguments_schema *s, const struct argument_schema *p,
                       const struct json_member *m, struct error *err)
{
	if (fits_surely(p, m)) {
		return 0;
	}
	return is_wrong_word(p, m) ? schema_wrong_word(m->key, m->value, p->word_list, err)
	                           : schema_check(s->references, p->schema, m->key, m->value, err);
}

int arguments_check(const struct arguments_schema *s, struct str arguments, struct error *err)
{
	size_t i = 0;
	struct json_member m;

	if (json_type(arguments) != JSON_OBJECT) {
		return error_set(err, FAIL_USAGE, "the arguments are %s, not an object",
		                 json_type_phrase(json_type(arguments)));
	}
	for (size_t cursor = 0; json_next_member(arguments, &cursor, &m);) {
		i = find_spelled(s, m.key, i);
		if (i < s->count && check_value(s, &s->properties[i], &m, err)) {
			return -1;
		}
		if (i == s->count && !s->open) {
			return no_property(s, m.key, err);
		}
		i++;
	}
	return check_required(s, arguments, err);
}
