/* The keys of a project file: see config_keys.h. */
#include "cmd/options/config_keys.h"

#include "base/names.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

/* True if key is the option's name with underscores: max_turns for --max-turns. */
static bool is_key_of(const struct opt *o, const char *key)
{
	const char *name = o->name;

	while (*key && *name == (*key == '_' ? '-' : *key) && *key != '-') {
		name++;
		key++;
	}
	return !*name && !*key;
}

const struct opt *config_option_of(const struct opt *opts, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++) {
		if (is_key_of(&opts[i], key)) {
			return &opts[i];
		}
	}
	return NULL;
}

static int unknown_key(struct keyed *k, const struct opt *opts, size_t count,
                       const char *const *more)
{
	struct names names = {.count = 0};

	for (; *more; more++) {
		names_add(&names, str_from(*more));
	}
	for (size_t i = 0; opts && i < count; i++) {
		struct buf name = BUF(BUF_MAX_SMALL);

		for (const char *c = opts[i].name; *c; c++) {
			buf_char(&name, *c == '-' ? '_' : *c);
		}
		names_add(&names, buf_view(&name));
		buf_release(&name);
	}
	keyed_fail(k, "unknown key \"%.*s\"", STR_ARG(text_utf8_cut(str_from(k->key), 60)));
	names_suggest(k->err, str_from(k->key), names.text, names.count);
	names_release(&names);
	return -1;
}

static const struct command *command_of(const char *name)
{
	for (size_t i = 0; i < commands_count; i++) {
		if (!commands[i]->no_config && !strcmp(name, commands[i]->name)) {
			return commands[i];
		}
	}
	return NULL;
}

/* ---- types ---- */

/* Strings are always allowed where they can hold a variable: "seed": "${SEED}". */
static const struct {
	int types; /* of cJSON */
	const char *wanted;
} expected[] = {
	[OPTION_FLAG] = {cJSON_True | cJSON_False, "true or false"},
	[OPTION_COUNT] = {cJSON_Number, "a number"},
	[OPTION_STRING] = {cJSON_String, "a string"},
	[OPTION_NUMBER] = {cJSON_Number | cJSON_String, "a number"},
	[OPTION_INTEGER] = {cJSON_Number | cJSON_String, "a number"},
	[OPTION_DURATION] = {cJSON_String, "a duration such as \"30s\""},
	[OPTION_LIST] = {cJSON_String, "a string, or an array of strings"},
	[OPTION_CHOICE] = {cJSON_String, "a string"},
};

static bool takes_object(const struct opt *o)
{
	return o->arg && !strcmp(o->arg, "OBJECT");
}

static int check_value(struct keyed *k, const struct opt *o, const cJSON *value)
{
	tree_at(k, value);
	if (value->type & (expected[o->type].types | (takes_object(o) ? cJSON_Object : 0))) {
		return 0;
	}
	return keyed_expected(k, takes_object(o) ? "an object" : expected[o->type].wanted);
}

int config_check_type(struct keyed *k, const struct opt *o, const cJSON *value)
{
	const cJSON *each;

	tree_at(k, value);
	if (cJSON_IsNull(value)) {
		return 0;
	}
	if (!cJSON_IsArray(value)) {
		return check_value(k, o, value);
	}
	if (o->type != OPTION_LIST) {
		return keyed_expected(k, "one value");
	}
	cJSON_ArrayForEach (each, value) {
		if (check_value(k, o, each)) {
			return -1;
		}
	}
	return 0;
}

/* ---- objects ---- */

static const char *const no_keys[] = {NULL};
static const char *const environment_keys[] = {"target", "headers", "description", NULL};

static bool is_one_of(const char *key, const char *const *words)
{
	while (*words && strcmp(key, *words) != 0) {
		words++;
	}
	return *words;
}

void config_visit(const struct config_visitor *v, struct keyed *k, const cJSON *value,
                  enum opt_class class)
{
	tree_at(k, value);
	if (v->setting && !cJSON_IsNull(value)) {
		v->setting(v->ctx, k, value, class);
	}
}

static int check_single(struct keyed *k, const cJSON *object, const cJSON *m)
{
	const cJSON *last = tree_get(object, m->string);

	tree_at(k, last);
	return last == m ? 0 : keyed_fail(k, "duplicate key \"%s\"", m->string);
}

static int check_keys(struct keyed *k, const cJSON *object, const struct command *cmd,
                      const char *const *more, const struct config_visitor *v)
{
	size_t count;
	struct opt *opts;
	int failed = tree_is_object(k, object);

	if (failed) {
		return -1;
	}
	opts = options_expand(cmd->opts, cmd->opt_count, &count);
	for (const cJSON *m = tree_first(object); !failed && m; m = m->next) {
		const struct opt *o = config_option_of(opts, count, m->string);

		o = o ? o : config_option_of(global_options, global_options_count, m->string);
		k->key = m->string;
		tree_at(k, m);
		if (o) {
			failed = config_check_type(k, o, m);
			config_visit(v, k, m, config_class(cmd, o, m));
		} else if (!is_one_of(m->string, more)) {
			failed = unknown_key(k, opts, count, more);
		} else {
			failed = check_single(k, object, m);
		}
	}
	free(opts);
	return failed;
}

static int unknown_command(struct keyed *k, const char *name)
{
	struct names names = {.count = 0};

	for (size_t i = 0; i < commands_count; i++) {
		if (!commands[i]->no_config) {
			names_add(&names, str_from(commands[i]->name));
		}
	}
	keyed_fail(k, "defaults: unknown command \"%.*s\"",
	           STR_ARG(text_utf8_cut(str_from(name), 60)));
	names_suggest(k->err, str_from(name), names.text, names.count);
	names_release(&names);
	return -1;
}

static int check_defaults(struct keyed *k, const cJSON *defaults, const struct config_visitor *v)
{

	if (!cJSON_IsObject(defaults)) {
		return keyed_expected(k, "an object");
	}
	for (const cJSON *m = tree_first(defaults); m; m = m->next) {
		const struct command *cmd = command_of(m->string);

		tree_at(k, m);
		if (!cmd) {
			return unknown_command(k, m->string);
		}
		snprintf(k->place, sizeof(k->place), "defaults.%s", cmd->name);
		if (check_keys(k, m, cmd, no_keys, v)) {
			return -1;
		}
		k->place[0] = '\0';
	}
	return 0;
}

/* The member is of that type (of cJSON), `wanted` in messages; or null or absent. */
static int check_member(struct keyed *k, const cJSON *m, int type, const char *wanted)
{
	if (tree_is_null(m) || m->type == type) {
		return 0;
	}
	k->key = m->string;
	tree_at(k, m);
	return keyed_expected(k, wanted);
}

static int check_headers(struct keyed *k, const cJSON *headers, const struct config_visitor *v)
{

	if (check_member(k, headers, cJSON_Object, "an object")) {
		return -1;
	}
	for (const cJSON *m = tree_first(headers); m; m = m->next) {
		k->key = m->string;
		tree_at(k, m);
		if (!cJSON_IsString(m)) {
			return keyed_expected(k, "a string");
		}
		config_visit(v, k, m, config_class_of_header(m));
	}
	return 0;
}

static int check_environment(struct keyed *k, const cJSON *entry, const struct config_visitor *v)
{
	const cJSON *target = tree_get(entry, "target");

	if (!target) {
		tree_at(k, entry);
		return keyed_fail(k, "\"target\" is missing");
	}
	k->key = "target";
	tree_at(k, target);
	if (!cJSON_IsString(target)) {
		return keyed_expected(k, "a string");
	}
	config_visit(v, k, target, config_class_of_target(target));
	return check_member(k, tree_get(entry, "description"), cJSON_String, "a string") ||
	                       check_headers(k, tree_get(entry, "headers"), v)
	               ? -1
	               : 0;
}

/* All options of `run` are allowed; each command uses those it has. */
static int check_environments(struct keyed *k, const cJSON *environments,
                              const struct config_visitor *v)
{

	if (!cJSON_IsObject(environments)) {
		return keyed_expected(k, "an object");
	}
	for (const cJSON *m = tree_first(environments); m; m = m->next) {
		snprintf(k->place, sizeof(k->place), "environments.%.*s",
		         STR_ARG(text_utf8_cut(str_from(m->string), 40)));
		if (!cJSON_IsObject(m)) {
			return keyed_fail(k, "must be an object such as "
			                     "{\"target\": \"http://HOST/mcp\"}");
		}
		if (check_keys(k, m, command_of("run"), environment_keys, v) ||
		    check_environment(k, m, v)) {
			return -1;
		}
		k->place[0] = '\0';
	}
	return 0;
}

static const char *const top_keys[] = {"$schema", "description", "environments", "defaults", NULL};

static int check_top(struct keyed *k, const cJSON *m, const struct config_visitor *v)
{
	k->key = m->string;
	tree_at(k, m);
	if (!is_one_of(m->string, top_keys)) {
		return unknown_key(k, NULL, 0, top_keys);
	}
	if (cJSON_IsNull(m)) {
		return 0;
	}
	if (!strcmp(m->string, "environments")) {
		return check_environments(k, m, v);
	}
	if (!strcmp(m->string, "defaults")) {
		return check_defaults(k, m, v);
	}
	return cJSON_IsString(m) ? 0 : keyed_expected(k, "a string");
}

int config_check(struct keyed *k, const cJSON *root, const struct config_visitor *v)
{

	if (tree_is_object(k, root)) {
		return -1;
	}
	for (const cJSON *m = tree_first(root); m; m = m->next) {
		if (check_single(k, root, m) || check_top(k, m, v)) {
			return -1;
		}
	}
	return 0;
}
