/* Random calls that match the tools' schemas. The same seed gives the same calls. */
#include "base/rng.h"
#include "base/text.h"
#include "json/write.h"
#include "policy/draw.h"
#include "policy/policy.h"
#include "policy/script.h"
#include "policy/tool_set.h"

#include <inttypes.h>
#include <stdlib.h>

extern const struct policy_ops policy_random;

struct drawn_tool {
	struct str json; /* as advertised; owned copy */
	struct named_values named;
};

struct random_policy {
	struct policy base;
	struct arena arena;
	struct rng rng;
	struct drawn_tool *tools; /* those to draw from */
	size_t count;
	struct str only;            /* name of the only one; absent: all tools */
	struct script_conf actions; /* count 0: no actions given */
	struct drawn_tool *tool;    /* called last; NULL: none */
	struct buf arguments, name;
	struct str params;
};

static int random_decide(struct policy *base, const struct policy_view *v, struct decision *out,
                         struct error *err)
{
	struct random_policy *p = (struct random_policy *)base;

	if (p->actions.count) {
		const struct script_call *c =
			&p->actions.calls[rng_below(&p->rng, (uint32_t)p->actions.count)];

		*out = (struct decision){
			.kind = DECIDE_CALL, .name = c->name, .arguments = c->arguments};
		return 0;
	}
	if (!p->count)
		return error_set(err, FAIL_USAGE, "\1policy\2 random: the server offers no tools");
	if (p->tool && v->last != OUTCOME_NONE && v->last != OUTCOME_OK)
		named_values_learn(&p->tool->named, buf_view(&p->arguments), v->last_error);
	p->tool = &p->tools[rng_below(&p->rng, (uint32_t)p->count)];
	buf_clear(&p->arguments);
	buf_clear(&p->name);
	json_decode(JSON_GET(p->tool->json, "name"), &p->name);
	(void)draw_arguments(&p->rng, tool_schema(p->tool->json), &p->tool->named, &p->arguments);
	*out = (struct decision){.kind = DECIDE_CALL,
	                         .name = buf_view(&p->name),
	                         .arguments = buf_view(&p->arguments)};
	return 0;
}

static void random_facts(const struct policy *base, struct policy_facts *out)
{
	const struct random_policy *p = (const struct random_policy *)base;

	*out = (struct policy_facts){.kind = POLICY_RANDOM,
	                             .name = str_from(policy_kind_name(POLICY_RANDOM)),
	                             .params = p->params,
	                             .length = -1};
}

static void random_close(struct policy *base)
{
	struct random_policy *p = (struct random_policy *)base;

	if (!p)
		return;
	BUFS_RELEASE(&p->arguments, &p->name);
	arena_release(&p->arena);
	free(p);
}

/* Has a tool a required text of which neither its schema nor its description names values? */
static bool invents(const struct random_policy *p)
{
	AUTO_BUF example = BUF(BUF_MAX_MESSAGE);
	bool invented = false;

	for (size_t i = 0; i < p->count && !invented; i++) {
		buf_clear(&example);
		invented = draw_arguments(NULL, tool_schema(p->tools[i].json), &p->tools[i].named,
		                          &example);
	}
	return invented;
}

/* The seed, "tool" and "actions" if they were given, and whether texts are made up. */
static struct str describe(struct random_policy *p, uint64_t seed)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	buf_printf(&text, "{\"seed\":%" PRIu64, seed);
	if (p->actions.params.n) {
		buf_char(&text, ',');
		buf_str(&text, str_skip(p->actions.params, 1));
	} else {
		if (p->only.n) {
			buf_text(&text, ",\"tool\":");
			json_quote(&text, p->only);
		}
		buf_text(&text, invents(p) ? ",\"invents\":true}" : "}");
	}
	return buf_keep(&text, &p->arena);
}

static void add_tools(struct random_policy *p, struct str tools)
{
	struct str tool;
	size_t cursor = 0;

	while (json_next(tools, &cursor, &tool)) {
		struct str name = JSON_GET(tool, "name");

		if (json_type(name) == JSON_STRING && (!p->only.p || json_is(name, p->only))) {
			p->tools = arena_grow(&p->arena, p->tools, p->count, sizeof(*p->tools));
			p->tools[p->count].json = tool;
			named_values_begin(&p->tools[p->count++].named, &p->arena, tool);
		}
	}
}

/* Chooses what to draw from: the actions, the tool that was named, or all tools. */
static int choose(struct random_policy *p, const struct policy_conf *conf, struct error *err)
{
	if (conf->actions)
		return script_from_text(conf, &p->arena, &p->actions, err);
	if (conf->tool)
		p->only = arena_str(&p->arena, str_from(conf->tool));
	add_tools(p, arena_str(&p->arena, conf->tools));
	return p->only.p ? tool_require(conf->tools, p->only, err) : 0;
}

static int open_seeded(const struct policy_conf *conf, uint64_t seed, struct policy **out,
                       struct error *err)
{
	struct random_policy *p = mem_new(sizeof(*p));

	p->base.ops = &policy_random;
	p->arguments = p->name = BUF(BUF_MAX_MESSAGE);
	rng_seed(&p->rng, seed, 1 + (uint64_t)conf->sample);
	if (choose(p, conf, err)) {
		random_close(&p->base);
		return -1;
	}
	p->params = describe(p, seed);
	*out = &p->base;
	return 0;
}

/* "random:SEED" */
static int read_spec(const char *spec, uint64_t *seed, struct error *err)
{
	const char *colon = strchr(spec, ':');

	return colon && text_u64(str_from(colon + 1), seed)
	               ? 0
	               : error_set(err, FAIL_USAGE,
	                           "\1policy\2 random needs an integer seed: random:7, not '%s'",
	                           spec);
}

static int check_options(const struct policy_conf *conf, struct error *err)
{
	return conf->argument && !conf->actions
	               ? error_set(err, FAIL_USAGE,
	                           "\1argument\2 needs \1actions\2: \1policy\2 random draws all "
	                           "arguments")
	               : script_check_actions(conf->actions, err);
}

static int random_open(const struct policy_conf *conf, struct policy **out, struct error *err)
{
	uint64_t seed = 0;

	if (read_spec(conf->spec, &seed, err) || check_options(conf, err))
		return -1;
	return out ? open_seeded(conf, seed, out, err) : 0;
}

const struct policy_ops policy_random = {
	.kind = POLICY_RANDOM,
	.spelled = "random:SEED",
	.help = "random:SEED draws calls that match the tools' schemas (with \1actions\2: from "
		"those values; with \1tool\2: of that tool)",
	.open = random_open,
	.decide = random_decide,
	.facts = random_facts,
	.close = random_close,
};
