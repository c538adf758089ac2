/* Random arguments from a schema: see draw.h. */
#include "policy/draw.h"

#include "json/index.h"
#include "json/schema.h"
#include "json/write.h"

#include <math.h>

#define TEXT_MAX  4096 /* characters, even if a schema demands more */
#define ITEMS_MAX 100
#define DEPTH_MAX 6 /* nested containers */
/* Limit on the bytes of schemas and descriptions visited for one call, repetitions included: nested arrays can demand
   100 to the power of 6 elements. Beyond it null is written. */
#define SCHEMAS_MAX ((size_t)32 << 20)
#define VALUE_BYTES 256 /* counted for each value in addition */

struct drawn {
	struct str schema;
	struct str key;   /* the parameter, as spelled; absent: none */
	struct str about; /* raw description, also of the array around it; absent: none */
};

struct container {
	struct drawn value;
	bool object, beyond;                /* beyond: past the properties of an object */
	struct json_index known, mandatory; /* of an object: "properties" and "required" */
	size_t cursor;
	int64_t left; /* of an array: remaining elements */
};

struct drawing {
	struct rng *rng;
	struct references references;
	size_t schema_bytes; /* see SCHEMAS_MAX */
	const struct named_values *named;
	struct buf *out;
	struct arena texts;
	struct container frames[DEPTH_MAX];
	size_t depth;
	bool invented; /* a text */
};

/* Below bound; without a source, which makes an example, 0. */
static uint32_t below(struct rng *r, uint32_t bound)
{
	return r ? rng_below(r, bound) : 0;
}

/* An element of the array; absent: it has none, or is no array. */
static struct str draw_any(struct rng *r, struct str array)
{
	size_t count = json_type(array) == JSON_ARRAY ? json_count(array) : 0, cursor = 0;
	struct str each = STR_NONE;

	for (uint32_t n = count ? 1 + below(r, (uint32_t)count) : 0; n; n--)
		json_next(array, &cursor, &each);
	return each;
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

	low = has_low ? low : has_high ? high - 9 : r ? 0 : 1;
	high = has_high ? high : low + 9;
	if (!whole) {
		jw_init(&w, out);
		jw_double(&w, r ? low + (high - low) * rng_unit(r) : low);
		return;
	}
	low = ceil(low);
	double span = floor(high) - low;
	uint32_t bound = span < 0 ? 1 : span >= UINT32_MAX ? UINT32_MAX : (uint32_t)span + 1;
	buf_printf(out, "%.0f", low + below(r, bound));
}

static int64_t length_of(struct str schema, const char *key, int64_t fallback)
{
	int64_t n;

	return json_i64(json_get(schema, str_from(key)), &n) && n >= 0 ? n : fallback;
}

/* A letter followed by digits, of a length that the schema allows. */
static void draw_text(struct rng *r, struct str schema, struct buf *out)
{
	int64_t least = length_of(schema, "minLength", 1);
	int64_t most = length_of(schema, "maxLength", least > 3 ? least : 3);
	int64_t n = least < TEXT_MAX ? least : TEXT_MAX;

	if (most > n)
		n += below(r, (uint32_t)(most - n < 3 ? most - n + 1 : 3));
	if (!r && least <= 4 && length_of(schema, "maxLength", 4) >= 4) {
		buf_text(out, "\"TEXT\"");
		return;
	}
	buf_char(out, '"');
	for (int64_t i = 0; i < n; i++)
		buf_char(out, (char)(i ? '0' + below(r, 10) : 'a' + below(r, 26)));
	buf_char(out, '"');
}

/* Writes the value as JSON, or in quotes; false: the schema refuses it so. */
static bool put_named(struct drawing *d, struct str schema, struct str item, bool as_json)
{
	size_t start = d->out->n;
	struct error err;
	double number;

	if (as_json && !json_double_text(item, &number))
		return false;
	if (as_json)
		buf_str(d->out, item);
	else
		json_quote(d->out, item);
	struct str made = {d->out->p + start, d->out->n - start};
	if (schema_check(&d->references, schema, STR("value"), made, &err)) {
		buf_cut(d->out, start);
		return false;
	}
	return true;
}

/* One of the values that the text names; false: the schema refuses them all. */
static bool draw_named(struct drawing *d, struct str schema, struct str text)
{
	struct value_list l;

	if (!named_values_list(text, &l))
		return false;
	size_t first = below(d->rng, (uint32_t)l.count);
	for (size_t i = 0; i < l.count; i++) {
		struct str item = l.item[(first + i) % l.count];

		if (put_named(d, schema, item, l.numbers) || put_named(d, schema, item, !l.numbers))
			return true;
	}
	return false;
}

/* Not 0 unless the schema requires it. */
static int64_t draw_length(struct drawing *d, struct str schema)
{
	int64_t tuple = (int64_t)json_count(JSON_GET(schema, "prefixItems"));
	int64_t least = length_of(schema, "minItems", 1);
	int64_t most = length_of(schema, "maxItems", ITEMS_MAX);
	int64_t n = (least > 1 ? least : 1) + below(d->rng, 3);

	n = tuple ? tuple : n;
	n = n < most ? n : most;
	return n < ITEMS_MAX ? n : ITEMS_MAX;
}

static void open_container(struct drawing *d, const struct drawn *v, bool object)
{
	if (d->depth == DEPTH_MAX) {
		buf_text(d->out, object ? "{}" : "[]");
		return;
	}
	buf_char(d->out, object ? '{' : '[');
	struct container *f = &d->frames[d->depth++];
	*f = (struct container){.value = *v, .object = object};
	if (object) {
		json_index_begin(&f->known, JSON_GET(v->schema, "properties"));
		json_index_begin(&f->mandatory, JSON_GET(v->schema, "required"));
	} else {
		f->left = draw_length(d, v->schema);
	}
}

static struct str described(struct str schema, struct str fallback)
{
	struct str description = JSON_GET(schema, "description");

	return json_type(description) == JSON_STRING ? description : fallback;
}

/* A value that the schema or the server's texts give; false: none of them does, or not always. */
static bool draw_given(struct drawing *d, const struct drawn *v)
{
	static const struct str keys[] = {STR_INIT("const"), STR_INIT("enum"), STR_INIT("default"),
	                                  STR_INIT("examples")};
	struct str given[ARRAY_LEN(keys)];
	const struct named_parameter *named = v->key.p ? named_values_find(d->named, v->key) : NULL;

	json_pick(v->schema, keys, ARRAY_LEN(keys), given);
	struct str value = given[0].p ? given[0] : draw_any(d->rng, given[1]);
	if (!value.p && named && named->from_error && draw_named(d, v->schema, named->text))
		return true;
	if (!value.p && !json_is_null(given[2]) && !below(d->rng, 4))
		value = given[2];
	if (!value.p && d->rng && !below(d->rng, 8))
		return false;
	value = value.p ? value : draw_any(d->rng, given[3]);
	if (value.p) {
		buf_str(d->out, value);
		return true;
	}
	return draw_named(d, v->schema, json_text(&d->texts, v->about)) ||
	       (named && draw_named(d, v->schema, named->text));
}

static void begin_typed(struct drawing *d, const struct drawn *v, struct str type)
{
	if (json_is(type, STR("integer")) || json_is(type, STR("number"))) {
		draw_number(d->rng, v->schema, json_is(type, STR("integer")), d->out);
	} else if (json_is(type, STR("boolean"))) {
		buf_text(d->out, below(d->rng, 2) || !d->rng ? "true" : "false");
	} else if (json_is(type, STR("null"))) {
		buf_text(d->out, "null");
	} else if (json_is(type, STR("array")) || json_is(type, STR("object"))) {
		open_container(d, v, json_is(type, STR("object")));
	} else {
		draw_text(d->rng, v->schema, d->out);
		d->invented = true;
	}
}

static void begin_value(struct drawing *d, struct drawn v)
{
	if (d->schema_bytes > SCHEMAS_MAX) {
		buf_text(d->out, "null");
		return;
	}
	v.about = described(v.schema, v.about);
	v.schema = schema_resolve_in(&d->references, v.schema);
	struct str list = schema_alternatives(v.schema);
	if (json_count(list))
		v.schema = schema_resolve_in(&d->references, draw_any(d->rng, list));
	v.about = described(v.schema, v.about);
	d->schema_bytes += v.schema.n + v.about.n + VALUE_BYTES;
	struct str type = JSON_GET(v.schema, "type");
	type = json_type(type) == JSON_ARRAY ? draw_any(d->rng, type) : type;
	if (!draw_given(d, &v))
		begin_typed(d, &v, type);
}

static bool has(struct drawing *d, const struct json_index *names, struct str key)
{
	return json_index_find(names, json_key_text(&d->texts, key)).p;
}

/* The next member of an object: all required properties, every second optional one on average,
   then required names that are not properties. */
static bool next_member(struct drawing *d, struct container *f, struct drawn *next)
{
	struct json_member m;
	struct str each;

	while (!f->beyond && json_next_member(f->known.value, &f->cursor, &m)) {
		if (has(d, &f->mandatory, m.key) || below(d->rng, 2)) {
			*next = (struct drawn){.schema = m.value, .key = m.key};
			return true;
		}
	}
	f->cursor = f->beyond ? f->cursor : 0;
	f->beyond = true;
	while (json_next(f->mandatory.value, &f->cursor, &each)) {
		if (json_type(each) == JSON_STRING && !has(d, &f->known, json_inner(each))) {
			*next = (struct drawn){.key = json_inner(each)};
			return true;
		}
	}
	return false;
}

static bool next_element(struct container *f, struct drawn *next)
{
	*next = f->value;
	if (!json_next(JSON_GET(f->value.schema, "prefixItems"), &f->cursor, &next->schema))
		next->schema = JSON_GET(f->value.schema, "items");
	return f->left-- > 0;
}

/* The next value of the innermost container, or its end. */
static void continue_container(struct drawing *d)
{
	struct container *f = &d->frames[d->depth - 1];
	struct drawn next;

	if (!(f->object ? next_member(d, f, &next) : next_element(f, &next))) {
		buf_char(d->out, f->object ? '}' : ']');
		json_index_release(&f->known);
		json_index_release(&f->mandatory);
		d->depth--;
		return;
	}
	if (!strchr("{[", d->out->p[d->out->n - 1]))
		buf_char(d->out, ',');
	if (f->object)
		buf_printf(d->out, "\"%.*s\":", STR_ARG(next.key));
	begin_value(d, next);
}

bool draw_arguments(struct rng *r, struct str schema, const struct named_values *named,
                    struct buf *out)
{
	struct drawing d = {.rng = r, .named = named, .out = out};

	references_begin(&d.references, schema, &d.texts);
	open_container(&d, &(struct drawn){.schema = schema}, true);
	while (d.depth)
		continue_container(&d);
	arena_release(&d.texts);
	return d.invented;
}
