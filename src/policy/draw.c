/* Random arguments from a schema: see draw.h. */
#include "policy/draw.h"

#include "json/index.h"
#include "json/schema.h"
#include "json/write.h"
#include "policy/draw_listed.h"

#include <math.h>

#define TEXT_MAX  4096 /* characters, even if a schema demands more */
#define ITEMS_MAX 100
#define DEPTH_MAX 6 /* nested containers */
/* Limit on the schema bytes visited for one call, repetitions included: nested arrays can demand
   100 to the power of 6 elements. Beyond it null is written. */
#define SCHEMAS_MAX ((size_t)32 << 20)
#define VALUE_BYTES 256 /* counted for each value in addition */

/* A container that is being filled. */
struct container {
	struct str schema; /* schema of the container */
	bool object;
	struct str properties, required;        /* of an object */
	struct json_index known, expected_type; /* index of both by name */
	size_t cursor;                          /* in the properties, then in `required` */
	bool beyond;                            /* of an object: past the properties */
	int64_t left;                           /* of an array: remaining elements */
	struct str key;   /* of an array: the parameter that it is the value of */
	struct str about; /* of an array: its description */
};

/* A value that is drawn. */
struct drawn {
	struct str schema;
	struct str key;   /* the parameter, as spelled; absent: none */
	struct str about; /* raw description, also of the array around it; absent: none */
};

struct drawing {
	struct rng *rng;
	struct references references;
	size_t schema_bytes; /* see SCHEMAS_MAX */
	const struct draw_texts *texts;
	struct buf *out;
	struct arena keys;
	struct container frames[DEPTH_MAX];
	size_t depth;
};

static struct str nth(struct str array, uint32_t n)
{
	struct str each = STR_NONE;
	size_t cursor = 0;

	do {
		json_next(array, &cursor, &each);
	} while (n--);
	return each;
}

struct str draw_any(struct rng *r, struct str array)
{
	size_t count = json_count(array);

	return count ? nth(array, rng_below(r, (uint32_t)count)) : STR_NONE;
}

static bool bound_of(struct str schema, const char *inclusive, const char *exclusive, double step,
                     double *out)
{
	double strict;
	bool found = json_double(json_get(schema, str_from(inclusive)), out);

	if (json_double(json_get(schema, str_from(exclusive)), &strict)) {
		strict += step;
		*out = !found || (step > 0 ? strict > *out : strict < *out) ? strict : *out;
		found = true;
	}
	return found;
}

/* Between minimum and maximum; if one is missing, a range of ten numbers. */
static void draw_number(struct rng *r, struct str schema, bool whole, struct buf *out)
{
	double low, high, step = whole ? 1 : 0.001;
	bool has_low = bound_of(schema, "minimum", "exclusiveMinimum", step, &low);
	bool has_high = bound_of(schema, "maximum", "exclusiveMaximum", -step, &high);
	struct json_writer w;

	low = has_low ? low : has_high ? high - 9 : 0;
	high = has_high ? high : low + 9;
	if (!whole) {
		jw_init(&w, out);
		jw_double(&w, low + (high - low) * rng_unit(r));
		return;
	}
	low = ceil(low);
	double span = floor(high) - low;
	uint32_t bound = span < 0 ? 1 : span >= UINT32_MAX ? UINT32_MAX : (uint32_t)span + 1;
	buf_printf(out, "%.0f", low + rng_below(r, bound));
}

static int64_t length_of(struct str schema, const char *key, int64_t otherwise)
{
	int64_t n;

	return json_i64(json_get(schema, str_from(key)), &n) && n >= 0 ? n : otherwise;
}

/* A letter followed by digits, of a length that the schema allows. */
static void draw_text(struct rng *r, struct str schema, struct buf *out)
{
	int64_t least = length_of(schema, "minLength", 1);
	int64_t most = length_of(schema, "maxLength", least > 3 ? least : 3);
	int64_t n = least < TEXT_MAX ? least : TEXT_MAX;

	if (most > n) {
		n += rng_below(r, (uint32_t)(most - n < 3 ? most - n + 1 : 3));
	}
	buf_char(out, '"');
	for (int64_t i = 0; i < n; i++) {
		buf_char(out, (char)(i ? '0' + rng_below(r, 10) : 'a' + rng_below(r, 26)));
	}
	buf_char(out, '"');
}

/* The schema after following references and choosing one of its alternatives. */
static struct str choose_schema(struct drawing *d, struct str schema)
{
	schema = schema_resolve_in(&d->references, schema);
	struct str list = schema_alternatives(schema);

	return json_count(list) ? schema_resolve_in(&d->references, draw_any(d->rng, list))
	                        : schema;
}

static struct str type_of(struct rng *r, struct str schema)
{
	struct str type = JSON_GET(schema, "type");

	return json_type(type) == JSON_ARRAY ? draw_any(r, type) : type;
}

/* ---- strings ---- */

/* Values given by the schema itself: examples, and words of its description. */
static void collect_own(struct str schema, struct action_candidates *own)
{
	struct str examples = JSON_GET(schema, "examples"), each;
	struct str description = JSON_GET(schema, "description");
	struct arena scratch = {0};
	size_t cursor = 0;

	while (json_next(examples, &cursor, &each)) {
		if (json_type(each) == JSON_STRING) {
			action_candidates_add_word(own, json_text(&scratch, each));
		}
	}
	if (json_type(description) == JSON_STRING) {
		action_candidates_add(own, json_text(&scratch, description));
	}
	arena_release(&scratch);
}

static bool is_of_length(struct str schema, struct str word)
{
	return (int64_t)word.n >= length_of(schema, "minLength", 0) &&
	       (int64_t)word.n <= length_of(schema, "maxLength", INT64_MAX);
}

/* Usually a word given by the server; sometimes random text. */
static void draw_string(struct drawing *d, struct str schema)
{
	struct action_candidates own = {.count = 0};

	collect_own(schema, &own);
	const struct action_candidates *words = own.count ? &own : d->texts->words;
	if (words->count && rng_below(d->rng, 8)) {
		struct str word = words->item[rng_below(d->rng, (uint32_t)words->count)];

		if (is_of_length(schema, word)) {
			json_quote(d->out, word);
			action_candidates_release(&own);
			return;
		}
	}
	action_candidates_release(&own);
	draw_text(d->rng, schema, d->out);
}

/* ---- listed values ---- */

static struct listed_limits limits_of(struct str schema, struct str type)
{
	bool any = !type.p, whole = json_is(type, STR("integer"));
	bool number = whole || json_is(type, STR("number"));
	double step = whole ? 1 : 0.001;
	struct listed_limits l = {.text = any || json_is(type, STR("string")),
	                          .number = any || number,
	                          .whole = whole,
	                          .low = -INFINITY,
	                          .high = INFINITY,
	                          .shortest = length_of(schema, "minLength", 0),
	                          .longest = length_of(schema, "maxLength", INT64_MAX)};

	bound_of(schema, "minimum", "exclusiveMinimum", step, &l.low);
	bound_of(schema, "maximum", "exclusiveMaximum", -step, &l.high);
	return l;
}

/* A value that an error has listed. */
static bool draw_from_error(struct drawing *d, const struct drawn *v,
                            const struct listed_limits *limits)
{
	const struct value_list *l = NULL;

	if (d->texts->listed && v->key.p) {
		l = parameter_values_find(d->texts->listed, d->texts->tool, v->key, true);
	}
	return l && draw_listed(d->rng, l, limits, d->out);
}

/* Usually a value that a description lists: the parameter's own, or else the tool's. */
static bool draw_from_description(struct drawing *d, const struct drawn *v,
                                  const struct listed_limits *limits)
{
	const struct value_list *l = NULL;
	bool found = draw_described(d->rng, v->about, limits, d->out);

	if (!found && d->texts->listed && v->key.p) {
		l = parameter_values_find(d->texts->listed, d->texts->tool, v->key, false);
	}
	return found || (l && listed_fits(l, limits) && rng_below(d->rng, 8) &&
	                 draw_listed(d->rng, l, limits, d->out));
}

/* ---- containers ---- */

/* Not 0 unless the schema requires it. */
static int64_t draw_length(struct drawing *d, struct str schema)
{
	struct str tuple = JSON_GET(schema, "prefixItems");
	int64_t least = length_of(schema, "minItems", 1);
	int64_t most = length_of(schema, "maxItems", ITEMS_MAX);
	int64_t n = (least > 1 ? least : 1) + rng_below(d->rng, 3);

	if (json_count(tuple)) {
		n = (int64_t)json_count(tuple);
	}
	n = n < most ? n : most;
	return n < ITEMS_MAX ? n : ITEMS_MAX;
}

static void open_container(struct drawing *d, const struct drawn *v, bool object)
{
	struct str schema = v->schema;

	if (d->depth == DEPTH_MAX) {
		buf_text(d->out, object ? "{}" : "[]");
		return;
	}
	buf_char(d->out, object ? '{' : '[');
	struct container *f = &d->frames[d->depth++];
	*f = (struct container){
		.schema = schema, .object = object, .left = object ? 0 : draw_length(d, schema)};
	if (!object) {
		f->key = v->key;
		f->about = v->about;
	} else {
		f->properties = JSON_GET(schema, "properties");
		f->required = JSON_GET(schema, "required");
		json_index_begin(&f->known, f->properties);
		json_index_begin(&f->expected_type, f->required);
	}
}

static struct str described(struct str schema, struct str otherwise)
{
	struct str description = JSON_GET(schema, "description");

	return json_type(description) == JSON_STRING ? description : otherwise;
}

/* A value that the schema or the server's texts give; false: none of them does, or not always. */
static bool draw_given(struct drawing *d, const struct drawn *v, struct str type)
{
	struct str list = JSON_GET(v->schema, "enum"), fixed = JSON_GET(v->schema, "const");
	struct str usual = JSON_GET(v->schema, "default");
	struct listed_limits limits = limits_of(v->schema, type);

	if (fixed.p) {
		buf_str(d->out, fixed);
		return true;
	}
	if (json_type(list) == JSON_ARRAY && json_count(list)) {
		buf_str(d->out, draw_any(d->rng, list));
		return true;
	}
	if (draw_from_error(d, v, &limits)) {
		return true;
	}
	if (!json_is_null(usual) && !rng_below(d->rng, 4)) {
		buf_str(d->out, usual);
		return true;
	}
	return draw_from_description(d, v, &limits);
}

static void begin_typed(struct drawing *d, const struct drawn *v, struct str type)
{
	if (json_is(type, STR("integer")) || json_is(type, STR("number"))) {
		draw_number(d->rng, v->schema, json_is(type, STR("integer")), d->out);
	} else if (json_is(type, STR("boolean"))) {
		buf_text(d->out, rng_below(d->rng, 2) ? "true" : "false");
	} else if (json_is(type, STR("null"))) {
		buf_text(d->out, "null");
	} else if (json_is(type, STR("array")) || json_is(type, STR("object"))) {
		open_container(d, v, json_is(type, STR("object")));
	} else {
		draw_string(d, v->schema);
	}
}

/* Writes a scalar, or opens a container. */
static void begin_value(struct drawing *d, struct drawn v)
{
	if (d->schema_bytes > SCHEMAS_MAX) {
		buf_text(d->out, "null");
		return;
	}
	v.about = described(v.schema, v.about);
	v.schema = choose_schema(d, v.schema);
	v.about = described(v.schema, v.about);
	d->schema_bytes += v.schema.n + VALUE_BYTES;
	struct str type = type_of(d->rng, v.schema);
	if (!draw_given(d, &v, type)) {
		begin_typed(d, &v, type);
	}
}

static bool has(struct drawing *d, const struct json_index *names, struct str key)
{
	return json_index_find(names, json_key_text(&d->keys, key)).p;
}

/* The next member of an object: all required properties, every second optional one on average,
   then required names that are not properties. */
static bool next_member(struct drawing *d, struct container *f, struct str *key, struct str *schema)
{
	struct json_member m;
	struct str each;

	while (!f->beyond && json_next_member(f->properties, &f->cursor, &m)) {
		if (has(d, &f->expected_type, m.key) || rng_below(d->rng, 2)) {
			*key = m.key;
			*schema = m.value;
			return true;
		}
	}
	f->cursor = f->beyond ? f->cursor : 0;
	f->beyond = true;
	while (json_next(f->required, &f->cursor, &each)) {
		if (json_type(each) == JSON_STRING && !has(d, &f->known, json_inner(each))) {
			*key = json_inner(each);
			*schema = STR_NONE;
			return true;
		}
	}
	return false;
}

static void separate(struct drawing *d)
{
	char last = d->out->p[d->out->n - 1];

	buf_text(d->out, last == '{' || last == '[' ? "" : ",");
}

static void continue_object(struct drawing *d, struct container *f)
{
	struct str key, schema;

	if (!next_member(d, f, &key, &schema)) {
		buf_char(d->out, '}');
		json_index_release(&f->known);
		json_index_release(&f->expected_type);
		d->depth--;
		return;
	}
	separate(d);
	buf_char(d->out, '"');
	buf_str(d->out, key);
	buf_text(d->out, "\":");
	begin_value(d, (struct drawn){.schema = schema, .key = key});
}

static void continue_array(struct drawing *d, struct container *f)
{
	struct str tuple = JSON_GET(f->schema, "prefixItems"), schema;

	if (f->left-- <= 0) {
		buf_char(d->out, ']');
		d->depth--;
		return;
	}
	separate(d);
	if (!json_next(tuple, &f->cursor, &schema)) {
		schema = JSON_GET(f->schema, "items");
	}
	begin_value(d, (struct drawn){.schema = schema, .key = f->key, .about = f->about});
}

void draw_arguments(struct rng *r, struct str schema, const struct draw_texts *texts,
                    struct buf *out)
{
	struct drawing d = {.rng = r, .texts = texts, .out = out};

	references_begin(&d.references, schema, &d.keys);
	open_container(&d, &(struct drawn){.schema = schema}, true);
	while (d.depth) {
		struct container *f = &d.frames[d.depth - 1];

		if (f->object) {
			continue_object(&d, f);
		} else {
			continue_array(&d, f);
		}
	}
	arena_release(&d.keys);
}
