/* The settings of a server: see serve.h. */
#include "serve/serve.h"

#include "base/names.h"
#include "base/text.h"
#include "serve/fault/fault.h"
#include "serve/world/world.h"

const char *const serve_protocols[] = {[SERVE_MCP] = "mcp", [SERVE_OPENENV] = "openenv"};
const size_t serve_protocols_count = ARRAY_LEN(serve_protocols);

#define SETTINGS_MAX 64
#define PING_MS      20000 /* uvicorn's */

void serve_conf_init(struct serve_conf *c, struct clock clock)
{
	*c = (struct serve_conf){.world = worlds[0],
	                         .max_envs = DEFAULT_MAX_ENVS,
	                         .ping_ms = PING_MS,
	                         .ping_timeout_ms = PING_MS,
	                         .clock = clock};
}

static int unknown(const char *what, struct str typed, const char *const *names, size_t count,
                   struct error *err)
{
	error_set(err, FAIL_USAGE, "unknown %s '%.*s'", what, STR_ARG(typed));
	return names_suggest(err, typed, names, count);
}

/* The list of faults is too long for a message. */
static int unknown_fault(struct str typed, const char *const *names, size_t count,
                         struct error *err)
{
	if (text_nearest(typed, names, count))
		return unknown("fault", typed, names, count, err);
	return error_set(err, FAIL_USAGE, "unknown fault '%.*s'; see rolldbg serve \1help\2",
	                 STR_ARG(typed));
}

static int choose(const char *what, struct str typed, const char *const *names, size_t count,
                  size_t *chosen, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		if (str_is(typed, names[i])) {
			*chosen = i;
			return 0;
		}
	}
	return unknown(what, typed, names, count, err);
}

static int set_protocol(struct serve_conf *c, struct str value, struct error *err)
{
	size_t chosen = 0;

	if (choose("protocol", value, serve_protocols, serve_protocols_count, &chosen, err) != 0)
		return -1;
	c->protocol = (enum serve_protocol)chosen;
	return 0;
}

static int set_map(struct serve_conf *c, struct str value, struct error *err)
{
	size_t chosen = 0;

	if (choose("map", value, lake_map_names, lake_map_count, &chosen, err) != 0)
		return -1;
	c->world_conf.map = (enum lake_map)chosen;
	return 0;
}

static int set_slippery(struct serve_conf *c, struct str value, struct error *err)
{
	if (!str_is(value, "0") && !str_is(value, "1")) {
		return error_set(err, FAIL_USAGE, "invalid slippery '%.*s': expected 0 or 1",
		                 STR_ARG(value));
	}
	c->world_conf.slippery = str_is(value, "1");
	return 0;
}

static int read_max_envs(struct serve_conf *c, const char *name, struct str value,
                         struct error *err)
{
	if (!text_u64(value, &c->max_envs) || c->max_envs == 0) {
		return error_set(err, FAIL_USAGE, "%s is '%.*s', not a positive integer", name,
		                 STR_ARG(value));
	}
	return 0;
}

static int set_max_envs(struct serve_conf *c, struct str value, struct error *err)
{
	return read_max_envs(c, "max_envs", value, err);
}

static int set_delay(struct serve_conf *c, struct str value, struct error *err)
{
	if (!text_duration_ms(value, &c->delay_ms)) {
		return error_set(err, FAIL_USAGE,
		                 "delay is '%.*s', not a duration such as 20ms (at most 1000h)",
		                 STR_ARG(value));
	}
	return 0;
}

int serve_conf_fault(struct serve_conf *c, struct str fault, struct error *err)
{
	const char *names[SETTINGS_MAX];

	for (size_t i = 0; i < serve_faults_count; i++) {
		names[i] = serve_faults[i].name;
		if (str_is(fault, names[i])) {
			c->faults |= UINT64_C(1) << i;
			return 0;
		}
	}
	return unknown_fault(fault, names, serve_faults_count, err);
}

static const struct {
	const char *key;
	int (*set)(struct serve_conf *c, struct str value, struct error *err);
	const struct world *of; /* NULL: every world has it */
} settings[] = {
	{"protocol", set_protocol, NULL},
	{"map", set_map, &world_frozen_lake},
	{"slippery", set_slippery, &world_frozen_lake},
	{"max_envs", set_max_envs, NULL},
	{"delay", set_delay, NULL},
	{"fault", serve_conf_fault, NULL},
};

int serve_conf_set(struct serve_conf *c, struct str key, struct str value, struct error *err)
{
	const char *names[ARRAY_LEN(settings)];
	size_t rows[ARRAY_LEN(settings)], count = 0, chosen = 0;

	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		if (!settings[i].of || settings[i].of == c->world) {
			names[count] = settings[i].key;
			rows[count++] = i;
		}
	}
	if (choose("setting", key, names, count, &chosen, err) != 0)
		return -1;
	return settings[rows[chosen]].set(c, value, err);
}

int serve_conf_target(struct serve_conf *c, struct str target, struct error *err)
{
	struct str world = str_cut(&target, '?');
	const char *names[SETTINGS_MAX];
	size_t chosen = 0;

	for (size_t i = 0; i < worlds_count; i++)
		names[i] = worlds[i]->name;
	if (choose("built-in environment", world, names, worlds_count, &chosen, err) != 0)
		return -1;
	c->world = worlds[chosen];
	while (target.n > 0) {
		struct str value = str_cut(&target, '&'), key = str_cut(&value, '=');

		if (serve_conf_set(c, key, value, err) != 0)
			return -1;
	}
	return 0;
}

int serve_conf_max_envs(struct serve_conf *c, const char *value, struct error *err)
{
	return value ? read_max_envs(c, "MAX_CONCURRENT_ENVS", str_from(value), err) : 0;
}

int serve_conf_check(const struct serve_conf *c, struct error *err)
{
	for (size_t i = 0; i < serve_faults_count; i++) {
		const struct fault *f = &serve_faults[i];

		if (c->faults >> i & 1 && !(f->protocols >> c->protocol & 1)) {
			return error_set(err, FAIL_USAGE, "fault '%s' needs protocol %s", f->name,
			                 serve_protocols[!c->protocol]);
		}
	}
	return allowed_origins_check(&c->origins, err);
}
