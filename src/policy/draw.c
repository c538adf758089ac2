/* Random arguments from a schema: see draw.h. */
#include "policy/draw.h"

#include "json/index.h"
#include "json/scan.h"
#include "json/schema.h"
#include "json/write.h"
#include "policy/tool_set.h"

#include <math.h>

/* ---- the values that texts name ---- */

#define TEXT_MAX       ((size_t)16 << 10) /* the rest of a longer text is not read */
#define QUOTED_MAX     64                 /* bytes between quotes */
#define PARAMETERS_MAX 64                 /* of one tool; further ones are not looked for */
#define VALUES_MAX     32                 /* of one list; further ones are not read */

struct value_list {
	struct str item[VALUES_MAX];
	size_t count;
	bool numbers;
};

enum word_kind { WORD_NONE, WORD_BARE, WORD_NUMBER, WORD_QUOTED };

struct prose_word {
	enum word_kind kind;
	struct str text;   /* without quotes */
	size_t begin, end; /* in the text that is read */
};

static bool char_in(struct str s, size_t i, const char *set)
{
	return i < s.n && s.p[i] && strchr(set, s.p[i]);
}

static bool is_inside(struct str s, size_t i)
{
	return i < s.n &&
	       ((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
	        (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '_' || (unsigned char)s.p[i] >= 0x80);
}

static size_t skip_blanks(struct str s, size_t i)
{
	while (char_in(s, i, " \t\r\n"))
		i++;
	return i;
}

/* 'a' or \"a\" at i. */
static bool read_quoted(struct str s, size_t i, struct prose_word *w)
{
	size_t escape = char_in(s, i, "\\"), start = i + escape + 1, end = start;

	if (!char_in(s, start - 1, "'\"`"))
		return false;
	while (end < s.n && end < start + QUOTED_MAX && !char_in(s, end, "'\"`\\\n"))
		end++;
	size_t close = end + escape;
	if (end == start || close >= s.n || s.p[close] != s.p[start - 1])
		return false;
	*w = (struct prose_word){WORD_QUOTED, {s.p + start, end - start}, i, close + 1};
	return true;
}

/* The word, number or quoted text that begins at i; WORD_NONE: there is none. */
static struct prose_word word_at(struct str s, size_t i)
{
	struct prose_word w = {.begin = i};
	size_t end = i + (char_in(s, i, "-") && char_in(s, i + 1, "0123456789"));
	double number;

	if (read_quoted(s, i, &w))
		return w;
	while (is_inside(s, end) || (end > i && char_in(s, end, "-.'") && is_inside(s, end + 1)))
		end++;
	w.text = (struct str){s.p + i, end - i};
	w.end = end;
	w.kind = end == i ? WORD_NONE : json_double_text(w.text, &number) ? WORD_NUMBER : WORD_BARE;
	return w;
}

static bool is_word(const struct prose_word *w, const char *const *list)
{
	while (*list && !str_is(w->text, *list))
		list++;
	return w->kind == WORD_BARE && *list;
}
#define IS_WORD(w, ...) is_word(w, (const char *const[]){__VA_ARGS__, NULL})

/* The end of ",", "|", "or", ", and" at i; i: there is none. */
static size_t skip_separator(struct str s, size_t i, bool *joined)
{
	size_t at = skip_blanks(s, i), mark = char_in(s, at, ",|");

	at = skip_blanks(s, at + mark);
	struct prose_word w = word_at(s, at);
	*joined = IS_WORD(&w, "or", "and");
	return *joined ? skip_blanks(s, w.end) : mark ? at : i;
}

/* Is the word after a separator a value? After a comma the sentence may go on: "a or b, which". */
static bool continues(struct str s, const struct prose_word *w, bool joined)
{
	size_t at = skip_blanks(s, w->end);
	bool more;

	return !char_in(s, at, ":=") &&
	       (w->kind != WORD_BARE || joined || skip_separator(s, w->end, &more) > w->end ||
	        at == s.n || char_in(s, at, ".;!?)]}(") || memchr(s.p + w->end, '\n', at - w->end));
}

/* "absolute and existing" is a sentence, "red, green and blue" a list. */
static bool is_sentence(struct str s, const struct prose_word *w, size_t end)
{
	struct prose_word next = word_at(s, skip_blanks(s, end));

	return w->kind == WORD_BARE && IS_WORD(&next, "and");
}

/* Reads the values from the word on; returns the end of the last one. */
static size_t read_list(struct str s, struct prose_word w, struct value_list *out)
{
	enum word_kind kind = w.kind;
	bool joined = true;
	size_t end = w.begin, next;

	*out = (struct value_list){.numbers = kind == WORD_NUMBER};
	while (w.kind == kind && continues(s, &w, joined)) {
		if (out->count < VALUES_MAX)
			out->item[out->count++] = w.text;
		end = w.end;
		next = skip_separator(s, end, &joined);
		if (out->count == 1 && is_sentence(s, &w, end))
			break;
		w = next > end ? word_at(s, next) : (struct prose_word){.kind = WORD_NONE};
	}
	return end;
}

struct prose {
	struct str text;
	bool own; /* the description of one parameter: it may begin with its values */
	size_t at;
	struct prose_word last, second_last;
};

/* Does the text before the word say that values follow? Quotes say it themselves. */
static bool is_introduced(const struct prose *r, const struct prose_word *w)
{
	const struct prose_word *last = &r->last, *second = &r->second_last;
	size_t gap = w->begin - last->end;
	const char *between = r->text.p + last->end;

	return !(IS_WORD(last, "be") && IS_WORD(second, "not")) &&
	       (w->kind == WORD_QUOTED || (r->own && !last->kind) ||
	        (last->kind != WORD_QUOTED && memchr(between, ':', gap)) ||
	        (w->kind == WORD_BARE && memchr(between, '(', gap)) ||
	        IS_WORD(last, "be", "either", "from", "expected", "are") ||
	        (IS_WORD(last, "of") && IS_WORD(second, "one", "One", "any", "Any")));
}

/* The next word, or in `list` the values that begin with it (count 0: none); false: the end. */
static bool next_word(struct prose *r, struct prose_word *w, struct value_list *list)
{
	*w = (struct prose_word){.kind = WORD_NONE};
	list->count = 0;
	while (!w->kind && r->at < r->text.n && r->at < TEXT_MAX) {
		*w = word_at(r->text, r->at);
		r->at += !w->kind;
	}
	if (!w->kind)
		return false;
	r->at = is_introduced(r, w) ? read_list(r->text, *w, list) : w->end;
	if (list->count < 2) {
		list->count = 0;
		r->at = w->end;
	}
	r->second_last = r->last;
	r->last = *w;
	r->last.end = r->at;
	return true;
}

/* The first list in a parameter's description, or in a text that begins with one. */
static bool first_list(struct str text, struct value_list *out)
{
	struct prose r = {.text = text, .own = true};
	struct prose_word w;

	while (next_word(&r, &w, out) && !out->count) {
	}
	return out->count;
}

/* The parameter that the word names, or whose value it repeats; "a" may be an article. */
static struct named_parameter *parameter_of(struct named_values *v, const struct prose_word *w)
{
	for (struct named_parameter *p = v->item; p < v->item + v->count; p++) {
		bool article = w->kind == WORD_BARE && p->sent.n == 1;

		if (str_eq(w->text, p->key) || (!article && str_eq(w->text, p->sent)))
			return p;
	}
	return NULL;
}

static void read_text(struct named_values *v, struct str text, bool is_error)
{
	struct named_parameter *about = v->count == 1 ? v->item : NULL, *named;
	struct prose r = {.text = text};
	struct value_list list;
	struct prose_word w;

	while (next_word(&r, &w, &list)) {
		/* "missing arguments: 'light' and 'mode'" is not a list of values */
		named = parameter_of(v, &w);
		if (!list.count) {
			about = named ? named : about;
		} else if (about && !about->listed && !named) {
			struct str found = {text.p + w.begin, r.at - w.begin};

			about->listed = true;
			about->from_error = is_error;
			if (!str_eq(about->text, found))
				about->text = arena_str(v->arena, found);
		}
	}
}

void named_values_begin(struct named_values *v, struct arena *arena, struct str tool)
{
	struct str properties = JSON_GET(tool_schema(tool), "properties");
	struct json_member m;
	size_t cursor = 0;

	*v = (struct named_values){.arena = arena};
	while (v->count < PARAMETERS_MAX && json_next_member(properties, &cursor, &m)) {
		v->item = arena_grow(arena, v->item, v->count, sizeof(*v->item));
		v->item[v->count++] = (struct named_parameter){.key = m.key};
	}
	read_text(v, json_text(arena, JSON_GET(tool, "description")), false);
}

void named_values_learn(struct named_values *v, struct str arguments, struct str error)
{
	for (struct named_parameter *p = v->item; p < v->item + v->count; p++) {
		struct str sent = json_get(arguments, p->key);

		p->sent = json_type(sent) == JSON_STRING ? json_inner(sent) : sent;
		p->listed = false;
	}
	read_text(v, error, true);
}

/* NULL: unknown, or no text names values for it. */
static const struct named_parameter *named_parameter(const struct named_values *v, struct str key)
{
	for (const struct named_parameter *p = v->item; p < v->item + v->count; p++)
		if (p->text.p && str_eq(p->key, key))
			return p;
	return NULL;
}

/* ---- drawing ---- */

#define DRAWN_MAX 4096 /* characters, even if a schema demands more */
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
	bool object, beyond; /* beyond: past the properties of an object */
	struct arena names;
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

	while (!r &&
	       json_next(array, &cursor, &each)) /* an example is of the first that is not null */
		if (!json_is_null(each) && !json_is(each, STR("null")) &&
		    !json_is(JSON_GET(each, "type"), STR("null"))) {
			return each;
		}
	for (uint32_t n = r && count ? 1 + below(r, (uint32_t)count) : 0; n; n--)
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

	low = has_low ? low : has_high ? high - 9 : r ? 0 : 1;
	high = has_high ? high : low + 9;
	if (!whole) {
		json_pack(out, "%f", r ? low + (high - low) * rng_unit(r) : low);
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
	int64_t n = least < DRAWN_MAX ? least : DRAWN_MAX;

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

	if (!first_list(text, &l))
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
		json_index_begin(&f->known, JSON_GET(v->schema, "properties"), &f->names);
		json_index_begin(&f->mandatory, JSON_GET(v->schema, "required"), &f->names);
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
	const struct named_parameter *named = v->key.p ? named_parameter(d->named, v->key) : NULL;

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
		arena_release(&f->names);
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
