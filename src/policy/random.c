/* Random, schema-valid calls: see random.h. */
#include "policy/random.h"

#include "base/rng.h"
#include "base/text.h"
#include "json/write.h"
#include "policy/script.h"
#include "policy/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct random_policy {
	struct policy base;
	struct arena arena;
	struct rng rng;
	struct str tools;           /* our copy */
	struct script_conf actions; /* count 0: none given */
	struct buf arguments, name;
	struct str params;
};

/* A value of the plain types; nested containers stay empty. */
static void draw_scalar(struct rng *r, struct str schema, struct buf *out)
{
	struct str type = JSON_GET(schema, "type"), low = JSON_GET(schema, "minimum");
	struct str high = JSON_GET(schema, "maximum");
	int64_t from, to;

	if (!json_i64(low, &from)) {
		from = 0;
	}
	if (!json_i64(high, &to) || to < from) {
		to = from + 9;
	}
	uint64_t span = (uint64_t)to - (uint64_t)from;
	uint32_t bound = span >= UINT32_MAX ? UINT32_MAX : (uint32_t)span + 1;
	if (json_is(type, STR("integer")) || json_is(type, STR("number"))) {
		int64_t drawn = from + (int64_t)rng_below(r, bound);

		buf_printf(out, "%lld", (long long)drawn);
	} else if (json_is(type, STR("boolean"))) {
		buf_text(out, rng_below(r, 2) ? "true" : "false");
	} else if (json_is(type, STR("array"))) {
		buf_text(out, "[]");
	} else if (json_is(type, STR("object"))) {
		buf_text(out, "{}");
	} else if (json_is(type, STR("null"))) {
		buf_text(out, "null");
	} else {
		buf_printf(out, "\"%c%u\"", (char)('a' + rng_below(r, 26)),
		           rng_below(r, 100));
	}
}

static struct str nth(struct str array, uint32_t n)
{
	struct str each = {NULL, 0};
	size_t cursor = 0;

	do {
		json_next(array, &cursor, &each);
	} while (n--);
	return each;
}

static void draw_value(struct rng *r, struct str schema, struct buf *out)
{
	struct str list = JSON_GET(schema, "enum"), fixed = JSON_GET(schema, "const");
	size_t count = json_count(list);

	if (fixed.p) {
		buf_str(out, fixed);
	} else if (json_type(list) == JSON_ARRAY && count) {
		buf_str(out, nth(list, rng_below(r, (uint32_t)count)));
	} else {
		draw_scalar(r, schema, out);
	}
}

/* Required arguments always, the others every second time. */
static void draw_arguments(struct rng *r, struct str schema, struct buf *out)
{
	struct str required = JSON_GET(schema, "required"), key;
	struct json_member m;
	size_t cursor = 0;
	bool first = true;

	buf_char(out, '{');
	while (json_next_member(JSON_GET(schema, "properties"), &cursor, &m)) {
		bool wanted = false;

		for (size_t c = 0; json_next(required, &c, &key);) {
			wanted |= str_eq(json_inner(key), m.key);
		}
		if (!wanted && rng_below(r, 2)) {
			continue;
		}
		buf_text(out, first ? "\"" : ",\"");
		buf_str(out, m.key);
		buf_text(out, "\":");
		draw_value(r, m.value, out);
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
	struct str tool = nth(p->tools, rng_below(&p->rng, (uint32_t)count));
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

	*out = (struct policy_facts){.kind = "random",
	                             .name = STR("random"),
	                             .params = p->params,
	                             .length = -1};
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
	return random_new(conf, seed, out, err);
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

int random_new(const struct policy_conf *conf, uint64_t seed, struct policy **out,
               struct error *err)
{
	struct random_policy *p = mem_new(sizeof(*p));
	struct str *actions;
	char params[48];
	size_t count;

	p->base.ops = &policy_random;
	p->arguments = p->name = BUF(BUF_MAX_MESSAGE);
	p->tools = arena_str(&p->arena, conf->tools);
	rng_seed(&p->rng, seed, 1);
	snprintf(params, sizeof(params), "{\"seed\":%llu}", (unsigned long long)seed);
	p->params = arena_str(&p->arena, str_from(params));
	if (conf->actions &&
	    (script_split(conf->actions, &p->arena, &actions, &count, err) ||
	     script_from_actions(conf, actions, count, &p->arena, &p->actions, err))) {
		random_close(&p->base);
		return -1;
	}
	*out = &p->base;
	return 0;
}
