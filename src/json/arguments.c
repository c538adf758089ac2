/* Checks the arguments of a call: see arguments.h. */
#include "json/arguments.h"

#include "base/names.h"
#include "json/index.h"
#include "json/schema.h"

#define PROPERTIES_SCANNED 8 /* before a map is asked */

/* One argument. */
struct argument_schema {
	struct map_item item;
	struct str key, spelled, schema; /* the key, decoded and as spelled */
	struct str enum_list;            /* its values, if all are strings without escapes */
	struct map words;                /* these values, as spelled */
	bool only_words; /* a string without escapes among them needs no other check */
	/* The schema asks for nothing but this type; JSON_ABSENT: for something else. */
	enum json_type only_type;
	bool whole; /* and for an integer */
};

struct arguments_schema {
	struct references *references; /* resolved within the schema */
	const struct argument_schema *properties;
	size_t count;
	struct map by_key;
	bool open;            /* accepts other arguments */
	struct str *required; /* decoded */
	size_t required_count;
	/* bits of the first 63 properties that are required, and the highest for others that are */
	uint64_t needed;
};

/* ---- reading ---- */

static bool is_plain(struct str value)
{
	return json_type(value) == JSON_STRING && !json_has_escape(value);
}

/* An enum may have a hundred thousand values: they get a map. */
static void read_words(struct argument_schema *p, struct arena *a)
{
	static const struct str other[] = {STR_INIT("const"), STR_INIT("anyOf"), STR_INIT("oneOf"),
	                                   STR_INIT("$ref")};
	struct str list = JSON_GET(p->schema, "enum"), found[ARRAY_LEN(other)], each;
	bool plain = json_type(list) == JSON_ARRAY;

	for (size_t cursor = 0; plain && json_next(list, &cursor, &each);) {
		plain = is_plain(each);
		map_find_or_add(&p->words, map_hash(each), a, sizeof(struct map_item));
	}
	p->enum_list = plain ? list : STR_NONE;
	json_pick(p->schema, other, ARRAY_LEN(other), found);
	p->only_words = json_is(JSON_GET(p->schema, "type"), STR("string"));
	for (size_t i = 0; i < ARRAY_LEN(other); i++)
		p->only_words = p->only_words && !found[i].p;
}

/* Most schemas name a type and describe it. */
static void read_type(struct argument_schema *p)
{
	static const struct str told[] = {STR_INIT("type"), STR_INIT("title"),
	                                  STR_INIT("description"), STR_INIT("default")};
	struct str type[ARRAY_LEN(told)];
	size_t known = 0;

	json_pick(p->schema, told, ARRAY_LEN(told), type);
	for (size_t i = 0; i < ARRAY_LEN(told); i++)
		known += type[i].p != NULL;
	if (json_count(p->schema) != known)
		return;
	p->whole = json_is(type[0], STR("integer"));
	p->only_type = json_is(type[0], STR("string"))               ? JSON_STRING
	               : p->whole || json_is(type[0], STR("number")) ? JSON_NUMBER
	                                                             : JSON_ABSENT;
}

static size_t find(const struct arguments_schema *s, struct str key)
{
	const struct argument_schema *found = map_find(&s->by_key, map_hash(key), key);

	return found ? (size_t)(found - s->properties) : s->count;
}

static uint64_t property_bit(size_t i)
{
	return UINT64_C(1) << (i < 63 ? i : 63);
}

static void read_required(struct arguments_schema *s, struct arena *a, struct str required)
{
	struct str each;

	s->required = arena_new(a, (json_count(required) + 1) * sizeof(*s->required));
	for (size_t cursor = 0; json_next(required, &cursor, &each);)
		if (json_type(each) == JSON_STRING) {
			size_t i = find(s, s->required[s->required_count++] = json_text(a, each));

			s->needed |= property_bit(i < s->count ? i : SIZE_MAX);
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

		*p = (struct argument_schema){
			.key = json_key_text(a, m.key), .spelled = m.key, .schema = m.value};
		read_words(p, a);
		read_type(p);
		uint64_t hash = map_hash(p->key);
		if (!map_find(&s->by_key, hash, p->key))
			map_add(&s->by_key, &p->item, hash);
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
	AUTO_NAMES known = {.count = 0};

	for (size_t i = 0; i < s->count && i < NAMES_MAX; i++)
		names_add(&known, s->properties[i].spelled);
	error_set(err, FAIL_USAGE, "the tool has no argument '%.*s'", STR_ARG(key));
	return names_suggest(err, key, known.text, known.count);
}

static int check_required(const struct arguments_schema *s, struct str arguments, struct error *err)
{
	AUTO_ARENA names = {0};
	struct json_index given;
	size_t i = 0;

	json_index_begin(&given, arguments, &names);
	while (i < s->required_count && json_index_find(&given, s->required[i]).p)
		i++;
	return i == s->required_count
	               ? 0
	               : error_set(err, FAIL_USAGE, "the required argument \"%.*s\" is missing",
	                           STR_ARG(s->required[i]));
}

static size_t find_spelled(const struct arguments_schema *s, struct str key)
{
	struct arena arena = {0};
	size_t i = 0;

	while (i < s->count && i < PROPERTIES_SCANNED && !str_eq(s->properties[i].spelled, key))
		i++;
	if (i == s->count || i == PROPERTIES_SCANNED) {
		i = find(s, json_has_escape(key) ? json_key_text(&arena, key) : key);
		arena_release(&arena);
	}
	return i;
}

static int check_value(const struct arguments_schema *s, const struct argument_schema *p,
                       const struct json_member *m, struct error *err)
{
	int64_t number;

	if (m->type == p->only_type && (!p->whole || json_i64(m->value, &number)))
		return 0;
	if (!p->enum_list.p || !p->only_words || !is_plain(m->value))
		return schema_check(s->references, p->schema, m->key, m->value, err);
	return map_find(&p->words, map_hash(m->value), STR_NONE)
	               ? 0
	               : schema_wrong_word(m->key, m->value, p->enum_list, err);
}

int arguments_check(const struct arguments_schema *s, struct str arguments, struct error *err)
{
	struct json_member m;
	uint64_t given = 0;

	if (json_type(arguments) != JSON_OBJECT) {
		return error_set(err, FAIL_USAGE, "the arguments are %s, not an object",
		                 json_type_phrase(json_type(arguments)));
	}
	for (size_t cursor = 0; json_next_member(arguments, &cursor, &m);) {
		size_t i = find_spelled(s, m.key);

		if (i < s->count && check_value(s, &s->properties[i], &m, err))
			return -1;
		if (i == s->count && !s->open)
			return no_property(s, m.key, err);
		given |= i < 63 ? property_bit(i) : 0;
	}
	return s->needed & ~given ? check_required(s, arguments, err) : 0;
}
