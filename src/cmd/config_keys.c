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
		if (!commands[i]->hidden && str_is(name, commands[i]->name)) {
			return commands[i];
		}
	}
	return NULL;
}

static const char *const no_keys[] = {NULL};
static const char *const environment_keys[] = {"target", "headers", "description", NULL};

static bool is_one_of(struct str key, const char *const *words)
{
	while (*words && !str_is(key, *words)) {
		words++;
	}
	return *words;
}

static int check_keys(struct keyed *k, struct str object, const struct command *cmd,
                      const char *const *more)
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
		if (!is_one_of(m.key, more) && !config_option_of(opts, count, m.key) &&
		    !config_option_of(global_options, global_options_count, m.key)) {
			k->value = m.value;
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
		if (!commands[i]->hidden) {
			names_add(&names, str_from(commands[i]->name));
		}
	}
	keyed_fail(k, "defaults: unknown command \"%.*s\"", STR_ARG(text_utf8_cut(name, 60)));
	names_suggest(k->err, name, names.text, names.count);
	names_release(&names);
	return -1;
}

int config_check_defaults(struct keyed *k, struct str defaults, void *to)
{
	struct json_member m;

	(void)to;
	if (keyed_is_object(k, defaults)) {
		return -1;
	}
	for (size_t cursor = 0; json_next_member(defaults, &cursor, &m);) {
		const struct command *cmd = command_of(m.key);

		k->value = m.value;
		if (!cmd) {
			return unknown_command(k, m.key);
		}
		snprintf(k->place, sizeof(k->place), "defaults.%s", cmd->name);
		if (check_keys(k, m.value, cmd, no_keys)) {
			return -1;
		}
		k->place[0] = '\0';
	}
	return 0;
}

/* All options of `run` are allowed; each command uses those it has. */
int config_check_environments(struct keyed *k, struct str environments, void *to)
{
	struct json_member m;

	(void)to;
	if (keyed_is_object(k, environments)) {
		return -1;
	}
	for (size_t cursor = 0; json_next_member(environments, &cursor, &m);) {
		snprintf(k->place, sizeof(k->place), "environments.%.*s",
		         STR_ARG(text_utf8_cut(m.key, 40)));
		if (check_keys(k, m.value, command_of(STR("run")), environment_keys)) {
			return -1;
		}
		if (!JSON_GET(m.value, "target").p) {
			return keyed_fail(k, "\"target\" is missing");
		}
		k->place[0] = '\0';
	}
	return 0;
}
