/* The keys of a project file: see config_keys.h. */
#include "cmd/config_keys.h"

#include "base/names.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

/* True if key is the option's name with underscores: max_turns for --max-turns. */
static bool is_key_of(const struct opt *o, struct str key)
{
	size_t n = strlen(o->name), i = 0;

	while (i < n && i < key.n && o->name[i] == (key.p[i] == '_' ? '-' : key.p[i]) &&
	       key.p[i] != '-') {
		i++;
	}
	return i == n && i == key.n;
}

const struct opt *config_option_of(const struct opt *opts, size_t count, struct str key)
{
	for (size_t i = 0; i < count; i++) {
		if (is_key_of(&opts[i], key)) {
			return &opts[i];
		}
	}
	return NULL;
}

static int unknown_key(struct keyed *k, const struct opt *opts, size_t count, struct str key,
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
	keyed_fail(k, "unknown key \"%.*s\"", STR_ARG(text_utf8_cut(key, 60)));
	names_suggest(k->err, key, names.text, names.count);
	names_release(&names);
	return -1;
}

static const struct command *command_of(struct str name)
{
	for (size_t i = 0; i < commands_count; i++) {
		if (!commands[i]->no_config && str_is(name, commands[i]->name)) {
			return commands[i];
		}
	}
	return NULL;
}

/* ---- types ---- */

#define IS(type) (1u << JSON_##type)

/* Strings are always allowed where they can hold a variable: "seed": "${SEED}". */
static const struct {
	unsigned types;
	const char *wanted;
} expected[] = {
	[OPTION_FLAG] = {IS(TRUE) | IS(FALSE), "true or false"},
	[OPTION_COUNT] = {IS(NUMBER), "a number"},
	[OPTION_STRING] = {IS(STRING), "a string"},
	[OPTION_NUMBER] = {IS(NUMBER) | IS(STRING), "a number"},
	[OPTION_INTEGER] = {IS(NUMBER) | IS(STRING), "a number"},
	[OPTION_DURATION] = {IS(STRING), "a duration such as \"30s\""},
	[OPTION_LIST] = {IS(STRING), "a string, or an array of strings"},
	[OPTION_CHOICE] = {IS(STRING), "a string"},
};

static bool takes_object(const struct opt *o)
{
	return o->arg && !strcmp(o->arg, "OBJECT");
}

static int check_value(struct keyed *k, const struct opt *o)
{
	enum json_type type = json_type(k->value);

	if ((expected[o->type].types & 1u << type) || (type == JSON_OBJECT && takes_object(o))) {
		return 0;
	}
	return keyed_expected(k, takes_object(o) ? "an object" : expected[o->type].wanted);
}

int config_check_type(struct keyed *k, const struct opt *o, struct str value)
{
	size_t cursor = 0;

	k->value = value;
	if (json_is_null(value)) {
		return 0;
	}
	if (json_type(value) != JSON_ARRAY) {
		return check_value(k, o);
	}
	if (o->type != OPTION_LIST) {
		return keyed_expected(k, "one value");
	}
	while (json_next(value, &cursor, &k->value)) {
		if (check_value(k, o)) {
			return -1;
		}
	}
	return 0;
}

/* ---- objects ---- */

static const char *const no_keys[] = {NULL};
static const char *const environment_keys[] = {"target", "headers", "description", NULL};

static bool is_one_of(struct str key, const char *const *words)
{
	while (*words && !str_is(key, *words)) {
		words++;
	}
	return *words;
}

void config_visit(const struct config_visitor *v, struct keyed *k, struct str value,
                  enum opt_class class)
{
	k->value = value;
	if (v->setting && !json_is_null(value)) {
		v->setting(v->ctx, k, class);
	}
}

static int check_keys(struct keyed *k, struct str object, const struct command *cmd,
                      const char *const *more, const struct config_visitor *v)
{
	struct json_member m;
	size_t count;
	struct opt *opts;
	int failed = keyed_is_object(k, object);

	if (failed) {
		return -1;
	}
	opts = options_expand(cmd->opts, cmd->opt_count, &count);
	for (size_t cursor = 0; !failed && json_next_member(object, &cursor, &m);) {
		const struct opt *o = config_option_of(opts, count, m.key);

		o = o ? o : config_option_of(global_options, global_options_count, m.key);
		k->key = arena_str(k->arena, m.key).p;
		k->value = m.value;
		if (o) {
			failed = config_check_type(k, o, m.value);
			config_visit(v, k, m.value, config_class(cmd, o, m.value));
		} else if (!is_one_of(m.key, more)) {
			failed = unknown_key(k, opts, count, m.key, more);
		}
	}
	free(opts);
	return failed;
}

static int unknown_command(struct keyed *k, struct str name)
{
	struct names names = {.count = 0};

	for (size_t i = 0; i < commands_count; i++) {
		if (!commands[i]->no_config) {
			names_add(&names, str_from(commands[i]->name));
		}
	}
	keyed_fail(k, "defaults: unknown command \"%.*s\"", STR_ARG(text_utf8_cut(name, 60)));
	names_suggest(k->err, name, names.text, names.count);
	names_release(&names);
	return -1;
}

static int check_defaults(struct keyed *k, struct str defaults, void *visitor)
{
	struct json_member m;

	if (json_type(defaults) != JSON_OBJECT) {
		return keyed_expected(k, "an object");
	}
	for (size_t cursor = 0; json_next_member(defaults, &cursor, &m);) {
		const struct command *cmd = command_of(m.key);

		k->value = m.value;
		if (!cmd) {
			return unknown_command(k, m.key);
		}
		snprintf(k->place, sizeof(k->place), "defaults.%s", cmd->name);
		if (check_keys(k, m.value, cmd, no_keys, visitor)) {
			return -1;
		}
		k->place[0] = '\0';
	}
	return 0;
}

static int check_headers(struct keyed *k, struct str headers, const struct config_visitor *v)
{
	struct json_member m;

	k->key = "headers";
	k->value = headers;
	if (!headers.p || json_is_null(headers)) {
		return 0;
	}
	if (json_type(headers) != JSON_OBJECT) {
		return keyed_expected(k, "an object");
	}
	for (size_t cursor = 0; json_next_member(headers, &cursor, &m);) {
		k->key = json_key_text(k->arena, m.key).p;
		k->value = m.value;
		if (json_type(m.value) != JSON_STRING) {
			return keyed_expected(k, "a string");
		}
		config_visit(v, k, m.value, config_class_of_header(m.value));
	}
	return 0;
}

static int check_environment(struct keyed *k, struct str entry, const struct config_visitor *v)
{
	k->key = "target";
	k->value = JSON_GET(entry, "target");
	if (!k->value.p) {
		k->value = entry;
		return keyed_fail(k, "\"target\" is missing");
	}
	if (json_type(k->value) != JSON_STRING) {
		return keyed_expected(k, "a string");
	}
	config_visit(v, k, k->value, config_class_of_target(k->value));
	k->key = "description";
	k->value = JSON_GET(entry, "description");
	if (k->value.p && !json_is_null(k->value) && json_type(k->value) != JSON_STRING) {
		return keyed_expected(k, "a string");
	}
	return check_headers(k, JSON_GET(entry, "headers"), v);
}

/* All options of `run` are allowed; each command uses those it has. */
static int check_environments(struct keyed *k, struct str environments, void *visitor)
{
	struct json_member m;

	if (json_type(environments) != JSON_OBJECT) {
		return keyed_expected(k, "an object");
	}
	for (size_t cursor = 0; json_next_member(environments, &cursor, &m);) {
		snprintf(k->place, sizeof(k->place), "environments.%.*s",
		         STR_ARG(text_utf8_cut(m.key, 40)));
		if (check_keys(k, m.value, command_of(STR("run")), environment_keys, visitor) ||
		    check_environment(k, m.value, visitor)) {
			return -1;
		}
		k->place[0] = '\0';
	}
	return 0;
}

static const struct keyed_row top_rows[] = {
	{"$schema", KEYED_IGNORED, .at = 0},
	{"description", KEYED_IGNORED, .at = 0},
	{"environments", KEYED_BY, .read = check_environments},
	{"defaults", KEYED_BY, .read = check_defaults},
};

int config_check(struct keyed *k, struct config_visitor *v)
{
	static const struct keyed_table top = KEYED_TABLE(top_rows);

	return keyed_read(k, k->text, &top, v);
}
