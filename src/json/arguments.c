/* The arguments of a call: see arguments.h. */
#include "json/arguments.h"

#include "base/names.h"
#include "json/schema.h"
#include <math.h>

#define MARKS 64 /* properties whose presence is one bit */

/* Beside the bits of enum json_type: numbers spelled as whole ones. */
#define WHOLE (1u << 16)

/* What fits for sure; whatever is not sure, the schema is asked about. */
struct property {
	struct str key, spelled, schema; /* the key decoded, and as it stands there */
	unsigned types;                  /* 0: nothing is sure */
	const struct str *words;         /* of its enum, as spelled; NULL: any */
	size_t word_count;
	bool bounded; /* between low and high */
	double low, high;
};

struct arguments_schema {
	struct str root;
	const struct property *properties;
	size_t count;
	bool open; /* other arguments may come */
	uint64_t required;
	struct str *unmarked; /* required ones without a bit, decoded */
	size_t unmarked_count;
};

/* ---- reading ---- */

static struct str decoded(struct arena *a, struct str inner)
{
	struct buf quoted = BUF(BUF_MAX_MESSAGE), text = BUF(BUF_MAX_MESSAGE);

	if (!inner.n || !memchr(inner.p, '\\', inner.n)) {
		return inner;
	}
	buf_printf(&quoted, "\"%.*s\"", STR_ARG(inner));
	json_decode(buf_view(&quoted), &text);
	struct str kept = arena_str(a, buf_view(&text));
	buf_release(&quoted);
	buf_release(&text);
	return kept;
}

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
		if (json_type(type) == JSON_STRING &&
		    json_is(type, str_from(types[i].name))) {
			return types[i].bits;
		}
	}
	return 0;
}

static void read_words(struct property *p, struct arena *a, struct str list)
{
	struct str each;
	struct str *words = arena_new(a, (json_count(list) + 1) * sizeof(*words));

	for (size_t cursor = 0; json_next(list, &cursor, &each);) {
		words[p->word_count++] = each;
	}
	p->words = words;
}

static bool read_bound(struct property *p, struct str value, double *bound)
{
	p->bounded = true;
	return json_type(value) == JSON_NUMBER && json_double(value, bound);
}

/* Takes in one keyword of a property's schema; false: of those that need a closer look.
 */
static bool read_keyword(struct property *p, struct arena *a, const struct json_member *m)
{
	static const char *const remarks[] = {"description", "title", "default",
	                                      "examples", "items"};

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

static struct property read_property(struct arena *a, const struct json_member *named)
{
	struct property p = {.key = decoded(a, named->key),
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
	size_t i = 0;

	while (i < s->count && !str_eq(s->properties[i].key, key)) {
		i++;
	}
	return i;
}

static void read_required(struct arguments_schema *s, struct arena *a,
                          struct str required)
{
	struct str each;

	if (json_type(required) != JSON_ARRAY) {
		return;
	}
	s->unmarked = arena_new(a, (json_count(required) + 1) * sizeof(*s->unmarked));
	for (size_t cursor = 0; json_next(required, &cursor, &each);) {
		if (json_type(each) != JSON_STRING) {
			continue;
		}
		struct str key = decoded(a, json_inner(each));
		size_t i = find(s, key);
		if (i < s->count && i < MARKS) {
			s->required |= (uint64_t)1 << i;
		} else {
			s->unmarked[s->unmarked_count++] = key;
		}
	}
}

/* An open schema is only trusted to be open when it says so, or names no properties: a
   misspelt argument that nobody looks at does no good either. */
static bool is_open(const struct arguments_schema *s, struct str extra)
{
	return s->count == 0 || json_type(extra) == JSON_TRUE ||
	       json_type(extra) == JSON_OBJECT;
}

const struct arguments_schema *arguments_read(struct arena *a, struct str schema)
{
	struct arguments_schema *s = arena_new(a, sizeof(*s));
	struct str properties = JSON_GET(schema, "properties");
	struct property *list =
		arena_new(a, (json_count(properties) + 1) * sizeof(*list));
	struct json_member m;

	for (size_t cursor = 0; json_next_member(properties, &cursor, &m);) {
		list[s->count++] = read_property(a, &m);
	}
	s->root = schema;
	s->properties = list;
	s->open = is_open(s, JSON_GET(schema, "additionalProperties"));
	read_required(s, a, JSON_GET(schema, "required"));
	return s;
}

/* ---- checking ---- */

static int no_property(const struct arguments_schema *s, struct str key,
                       struct error *err)
{
	struct names known = {.count = 0};

	for (size_t i = 0; i < s->count; i++) {
		names_add(&known, s->properties[i].spelled);
	}
	names_missing(&known, "the tool has no argument", key, err);
	names_release(&known);
	return -1;
}

static int missing(struct str key, struct error *err)
{
	return error_set(err, FAIL_USAGE, "the required argument \"%.*s\" is missing",
	                 STR_ARG(key));
}

static int check_required(const struct arguments_schema *s, struct str arguments,
                          uint64_t given, struct error *err)
{
	uint64_t lacking = s->required & ~given;

	if (lacking) {
		return missing(s->properties[__builtin_ctzll(lacking)].spelled, err);
	}
	for (size_t i = 0; i < s->unmarked_count; i++) {
		if (!json_get(arguments, s->unmarked[i]).p) {
			return missing(s->unmarked[i], err);
		}
	}
	return 0;
}

/* Arguments mostly come in the order of the schema: `guess` is tried first. */
static size_t find_spelled(const struct arguments_schema *s, struct str key, size_t guess)
{
	if (guess < s->count && str_eq(s->properties[guess].spelled, key)) {
		return guess;
	}
	struct arena arena = {0};
	size_t i = find(s, decoded(&arena, key));

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

static bool is_within(const struct property *p, struct str number)
{
	double value;

	return !p->bounded ||
	       (json_double(number, &value) && value >= p->low && value <= p->high);
}

static bool is_word(const struct property *p, struct str value)
{
	size_t i = 0;

	while (i < p->word_count && !str_eq(p->words[i], value)) {
		i++;
	}
	return i < p->word_count;
}

static bool fits_surely(const struct property *p, const struct json_member *m)
{
	bool type = m->type == JSON_NUMBER
	                    ? (p->types >> JSON_NUMBER & 1) ||
	                              ((p->types & WHOLE) && is_whole(m->value))
	                    : (p->types >> m->type & 1);

	return type && (m->type != JSON_NUMBER || is_within(p, m->value)) &&
	       (!p->words || is_word(p, m->value));
}

int arguments_check(const struct arguments_schema *s, struct str arguments,
                    struct error *err)
{
	uint64_t given = 0;
	size_t i = 0;
	struct json_member m;

	if (json_type(arguments) != JSON_OBJECT) {
		return error_set(err, FAIL_USAGE, "the arguments are %s, not an object",
		                 json_type_name(json_type(arguments)));
	}
	for (size_t cursor = 0; json_next_member(arguments, &cursor, &m);) {
		i = find_spelled(s, m.key, i);
		if (i < s->count && !fits_surely(&s->properties[i], &m) &&
		    schema_check(s->root, s->properties[i].schema, m.key, m.value, err)) {
			return -1;
		}
		if (i == s->count && !s->open) {
			return no_property(s, m.key, err);
		}
		given |= i < s->count && i < MARKS ? (uint64_t)1 << i : 0;
		i++;
	}
	return check_required(s, arguments, given, err);
}
