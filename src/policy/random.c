/* Random, schema-valid calls: see random.h. */
#include "policy/random.h"

#include "base/rng.h"
#include "base/text.h"
#include "json/schema.h"
#include "json/write.h"
#include "policy/script.h"
#include "policy/tools.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define TEXT_MAX  4096 /* letters, whatever a schema asks for */
#define ITEMS_MAX 100

struct random_policy {
	struct policy base;
	struct arena arena;
	struct rng rng;
	struct str tools;           /* our copy */
	struct script_conf actions; /* count 0: none given */
	struct buf arguments, name;
	struct str title, params;
};

static struct str nth(struct str array, uint32_t n)
{
	struct str each = {NULL, 0};
	size_t cursor = 0;

	do {
		json_next(array, &cursor, &each);
	} while (n--);
	return each;
}

static struct str any_of(struct rng *r, struct str array)
{
	size_t count = json_count(array);

	return count ? nth(array, rng_below(r, (uint32_t)count)) : (struct str){NULL, 0};
}

static bool bound_of(struct str schema, const char *inclusive, const char *exclusive,
                     double step, double *out)
{
	double strict;
	bool found = json_double(json_get(schema, str_from(inclusive)), out);

	if (json_double(json_get(schema, str_from(exclusive)), &strict)) {
		strict += step;
		*out = !found || (step > 0 ? strict > *out : strict < *out) ? strict
		                                                            : *out;
		found = true;
	}
	return found;
}

/* From minimum to maximum; where one is missing, ten numbers. */
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
	uint32_t bound = span < 0             ? 1
	                 : span >= UINT32_MAX ? UINT32_MAX
	                                      : (uint32_t)span + 1;
	buf_printf(out, "%.0f", low + rng_below(r, bound));
}

static int64_t length_of(struct str schema, const char *key, int64_t otherwise)
{
	int64_t n;

	return json_i64(json_get(schema, str_from(key)), &n) && n >= 0 ? n : otherwise;
}

/* A letter and digits, as long as the schema allows. */
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
		buf_char(out,
		         (char)(i ? '0' + rng_below(r, 10) : 'a' + rng_below(r, 26)));
	}
	buf_char(out, '"');
}

/* The schema with references followed and one of its alternatives chosen. */
static struct str settle(struct rng *r, struct str root, struct str schema)
{
	schema = schema_resolve(root, schema);
	struct str list = schema_alternatives(schema);

	return json_count(list) ? schema_resolve(root, any_of(r, list)) : schema;
}

static struct str type_of(struct rng *r, struct str schema)
{
	struct str type = JSON_GET(schema, "type");

	return json_type(type) == JSON_ARRAY ? any_of(r, type) : type;
}

static void draw_plain(struct rng *r, struct str schema, struct str type, struct buf *out)
{
	struct str list = JSON_GET(schema, "enum"), fixed = JSON_GET(schema, "const");

	if (fixed.p) {
		buf_str(out, fixed);
	} else if (json_type(list) == JSON_ARRAY && json_count(list)) {
		buf_str(out, any_of(r, list));
	} else if (json_is(type, STR("integer")) || json_is(type, STR("number"))) {
		draw_number(r, schema, json_is(type, STR("integer")), out);
	} else if (json_is(type, STR("boolean"))) {
		buf_text(out, rng_below(r, 2) ? "true" : "false");
	} else if (json_is(type, STR("array"))) {
		buf_text(out, "[]");
	} else if (json_is(type, STR("object"))) {
		buf_text(out, "{}");
	} else if (json_is(type, STR("null"))) {
		buf_text(out, "null");
	} else {
		draw_text(r, schema, out);
	}
}

static void draw_inner(struct rng *r, struct str root, struct str schema, struct buf *out)
{
	schema = settle(r, root, schema);
	draw_plain(r, schema, type_of(r, schema), out);
}

static void draw_array(struct rng *r, struct str root, struct str schema, struct buf *out)
{
	int64_t n = length_of(schema, "minItems", 0);

	buf_char(out, '[');
	for (int64_t i = 0; i < n && i < ITEMS_MAX; i++) {
		buf_text(out, i ? "," : "");
		draw_inner(r, root, JSON_GET(schema, "items"), out);
	}
	buf_char(out, ']');
}

static void draw_object(struct rng *r, struct str root, struct str schema,
                        struct buf *out)
{
	struct str properties = JSON_GET(schema, "properties"), key;
	size_t cursor = 0;

	buf_char(out, '{');
	while (json_next(JSON_GET(schema, "required"), &cursor, &key)) {
		buf_text(out, out->p[out->n - 1] == '{' ? "" : ",");
		buf_str(out, key);
		buf_char(out, ':');
		draw_inner(r, root, json_get(properties, json_inner(key)), out);
	}
	buf_char(out, '}');
}

/* Containers hold what they must, one level deep. */
static void draw_value(struct rng *r, struct str root, struct str schema, struct buf *out)
{
	schema = settle(r, root, schema);
	struct str type = type_of(r, schema);
	bool plain = JSON_GET(schema, "enum").p || JSON_GET(schema, "const").p;

	if (!plain && json_is(type, STR("array"))) {
		draw_array(r, root, schema, out);
	} else if (!plain && json_is(type, STR("object"))) {
		draw_object(r, root, schema, out);
	} else {
		draw_plain(r, schema, type, out);
	}
}

static bool is_required(struct str schema, struct str key)
{
	struct str required = JSON_GET(schema, "required"), each;
	size_t cursor = 0;

	while (json_next(required, &cursor, &each)) {
		if (str_eq(json_inner(each), key)) {
			return true;
		}
	}
	return false;
}

/* Required arguments always, the others every second time. */
static void draw_arguments(struct rng *r, struct str schema, struct buf *out)
{
	struct json_member m;
	size_t cursor = 0;
	bool first = true;

	buf_char(out, '{');
	while (json_next_member(JSON_GET(schema, "properties"), &cursor, &m)) {
		if (!is_required(schema, m.key) && rng_below(r, 2)) {
			continue;
		}
		buf_text(out, first ? "\"" : ",\"");
		buf_str(out, m.key);
		buf_text(out, "\":");
		draw_value(r, schema, m.value, out);
		first = false;
	}
	buf_char(out, '}');
}

static int random_decide(struct policy *base, const struct policy_view *v,
                         struct decision *out, struct error *err)
{
	struct random_policy *p = (struct random_policy *)base;

	(void)v;
	if (p->actions.count) {
		const struct script_call *c =
			&p->actions.calls[rng_below(&p->rng, (uint32_t)p->actions.count)];

		*out = (struct decision){
			.kind = DECIDE_CALL, .name = c->name, .arguments = c->arguments};
		return 0;
	}
	size_t count = json_count(p->tools);
	if (!count) {
		return error_set(err, FAIL_USAGE,
		                 "--policy random: the server offers no tools");
	}
	struct str tool = any_of(&p->rng, p->tools);
	buf_clear(&p->arguments);
	buf_clear(&p->name);
	draw_arguments(&p->rng, tool_schema(tool), &p->arguments);
	json_decode(JSON_GET(tool, "name"), &p->name);
	*out = (struct decision){.kind = DECIDE_CALL,
	                         .name = buf_view(&p->name),
	                         .arguments = buf_view(&p->arguments)};
	return 0;
}

static void random_facts(const struct policy *base, struct policy_facts *out)
{
	const struct random_policy *p = (const struct random_policy *)base;

	*out = (struct policy_facts){
		.kind = "random", .name = p->title, .params = p->params, .length = -1};
}

static void random_close(struct policy *base)
{
	struct random_policy *p = (struct random_policy *)base;

	if (!p) {
		return;
	}
	buf_release(&p->arguments);
	buf_release(&p->name);
	arena_release(&p->arena);
	free(p);
}

/* "random:SEED" */
static int random_open(const struct policy_conf *conf, struct policy **out,
                       struct error *err)
{
	const char *colon = strchr(conf->spec, ':');
	uint64_t seed = 0;

	if (!colon || !text_u64(str_from(colon + 1), &seed)) {
		return error_set(err, FAIL_USAGE,
		                 "--policy random wants its seed, a whole number: "
		                 "random:7, not '%s'",
		                 conf->spec);
	}
	return random_new(conf, STR("random"), seed, out, err);
}

const struct policy_ops policy_random = {
	.name = "random",
	.help = "random:SEED draws calls that fit the schemas (with --actions: from "
		"those)",
	.open = random_open,
	.decide = random_decide,
	.facts = random_facts,
	.close = random_close,
};

/* What the calls are drawn from besides the seed: "tool" and "actions". */
static struct str describe(struct random_policy *p, uint64_t seed)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	buf_printf(&text, "{\"seed\":%" PRIu64, seed);
	if (p->actions.params.n) {
		buf_char(&text, ',');
		buf_str(&text, str_skip(p->actions.params, 1));
	} else {
		buf_char(&text, '}');
	}
	struct str kept = arena_str(&p->arena, buf_view(&text));
	buf_release(&text);
	return kept;
}

/* A tool without a name cannot be called. */
static struct str named_tools(struct arena *arena, struct str tools)
{
	struct buf named = BUF(BUF_MAX_MESSAGE);
	struct str tool;
	size_t cursor = 0;

	buf_char(&named, '[');
	while (json_next(tools, &cursor, &tool)) {
		if (json_type(JSON_GET(tool, "name")) == JSON_STRING) {
			buf_text(&named, named.n > 1 ? "," : "");
			buf_str(&named, tool);
		}
	}
	buf_char(&named, ']');
	struct str kept = arena_str(arena, buf_view(&named));
	buf_release(&named);
	return kept;
}

int random_new(const struct policy_conf *conf, struct str name, uint64_t seed,
               struct policy **out, struct error *err)
{
	struct random_policy *p = mem_new(sizeof(*p));
	struct str *actions;
	size_t count;

	p->base.ops = &policy_random;
	p->arguments = p->name = BUF(BUF_MAX_MESSAGE);
	p->tools = named_tools(&p->arena, conf->tools);
	p->title = arena_str(&p->arena, name);
	rng_seed(&p->rng, seed, 1 + (uint64_t)conf->sample);
	if (conf->actions &&
	    (script_split(conf->actions, &p->arena, &actions, &count, err) ||
	     script_from_actions(conf, actions, count, &p->arena, &p->actions, err))) {
		random_close(&p->base);
		return -1;
	}
	p->params = describe(p, seed);
	*out = &p->base;
	return 0;
}
