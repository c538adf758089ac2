/* Targets of the built-in server: settings, and messages about invalid ones. */
#include "serve/fault/fault.h"
#include "serve/serve.h"

#include "tap.h"

static int parse(const char *target, struct serve_conf *c, struct error *err)
{
	serve_conf_init(c, clock_real());
	err->text[0] = '\0';
	err->kind = FAIL_NONE;
	return serve_conf_target(c, str_from(target), err);
}

static void check_good(void)
{
	struct serve_conf c;
	struct error err;

	is_int(parse("frozen_lake", &c, &err), 0, "a world without settings");
	is_int(c.max_envs, DEFAULT_MAX_ENVS, "room for eight");
	ok(c.world_conf.map == LAKE_4X4 && !c.world_conf.slippery && c.faults == 0 &&
	           c.delay_ms == 0,
	   "the standard lake, healthy");
	is_int(parse("frozen_lake?map=8x8&slippery=1&max_envs=3&delay=20ms&protocol=mcp&"
	             "fault=capacity&fault=slow",
	             &c, &err),
	       0, "all settings: %s", err.text);
	ok(c.world_conf.map == LAKE_8X8 && c.world_conf.slippery, "map and slips");
	is_int(c.max_envs, 3, "room for three");
	is_int(c.delay_ms, 20, "a delay with its unit");
	int active = 0;

	for (size_t i = 0; i < serve_faults_count; i++) {
		bool on = c.faults >> i & 1;

		active += on;
		ok(!on || strcmp(serve_faults[i].name, "capacity") == 0 ||
		           strcmp(serve_faults[i].name, "slow") == 0,
		   "%s is %s", serve_faults[i].name, on ? "on" : "off");
	}
	is_int(active, 2, "two faults");
	is_int(parse("frozen_lake?", &c, &err), 0, "no setting after the question mark");
}

static void check_bad(void)
{
	static const struct {
		const char *target, *says;
	} rows[] = {
		{"", "unknown built-in environment ''"},
		{"frozen_lak", "; did you mean 'frozen_lake'?"},
		{"zzz", "available: frozen_lake, desk"},
		{"desk?map=4x4", "unknown setting 'map'; available: protocol, max_envs, "
	                         "delay, fault"},
		{"desc", "; did you mean 'desk'?"},
		{"frozen_lake?mup=4x4", "unknown setting 'mup'; did you mean 'map'?"},
		{"frozen_lake?map", "unknown map ''"},
		{"frozen_lake?map=8x9", "; did you mean '8x8'?"},
		{"frozen_lake?slippery=yes", "invalid slippery 'yes': expected 0 or 1"},
		{"frozen_lake?max_envs=0", "max_envs is '0', not a positive integer"},
		{"frozen_lake?max_envs=-1", "max_envs is '-1'"},
		{"frozen_lake?delay=20", "delay is '20', not a duration"},
		{"frozen_lake?fault=capasity",
	         "unknown fault 'capasity'; did you mean 'capacity'?"},
		{"frozen_lake?protocol=ftp", "unknown protocol 'ftp'"},
		{"frozen_lake?&map=4x4", "unknown setting ''"},
	};
	struct serve_conf c;
	struct error err;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		is_int(parse(rows[i].target, &c, &err), -1, "'%s' is refused", rows[i].target);
		is_int(err.kind, FAIL_USAGE, "as a usage error");
		if (!ok(strstr(err.text, rows[i].says) != NULL, "that says: %s", rows[i].says))
			tap_note("got", err.text);
	}
}

static void check_variable(void)
{
	static const char *const bad[] = {
		"", "0", "-3", "3.5", "three", " 4", "4 ", "1e3", "99999999999999999999"};
	struct serve_conf c;
	struct error err;

	serve_conf_init(&c, clock_real());
	is_int(serve_conf_max_envs(&c, NULL, &err), 0, "not set");
	is_int(c.max_envs, DEFAULT_MAX_ENVS, "leaves the default");
	is_int(serve_conf_max_envs(&c, "12", &err), 0, "set");
	is_int(c.max_envs, 12, "is the room there is");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		char says[128];

		snprintf(says, sizeof(says), "MAX_CONCURRENT_ENVS is '%s', not a positive integer",
		         bad[i]);
		is_int(serve_conf_max_envs(&c, bad[i], &err), -1, "'%s' is refused", bad[i]);
		is_str(err.text, says, "by name and value");
	}
}

int main(void)
{
	check_good();
	check_bad();
	check_variable();
	return done();
}
