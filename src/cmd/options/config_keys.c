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
	for (size_t i = 0; i < count; i++)
		if (is_key_of(&opts[i], key))
			return &opts[i];
	return NULL;
}

/* A key beside those that are options. */
struct other_key {
	const char *key;
	int type; /* of cJSON */
	const char *wanted;
};

static const struct other_key environment_keys[] = {{"target", cJSON_String, "a string"},
                                                    {"headers", cJSON_Object, "an object"},
                                                    {"description", cJSON_String, "a string"},
                                                    {NULL}};
static const struct other_key top_keys[] = {{"$schema", cJSON_String, "a string"},
                                            {"description", cJSON_String, "a string"},
                                            {"environments", cJSON_Object, "an object"},
                                            {"defaults", cJSON_Object, "an object"},
                                            {NULL}};
static const struct other_key no_keys[] = {{NULL}};

static int unknown_key(struct keyed *k, const struct opt *opts, size_t count,
                       const struct other_key *others)
{
	AUTO_NAMES names = {.count = 0};

	for (; others->key; others++)
		names_add(&names, str_from(others->key));
	for (size_t i = 0; i < count; i++) {
		AUTO_BUF name = BUF(BUF_MAX_SMALL);

		for (const char *c = opts[i].name; *c; c++)
			buf_char(&name, *c == '-' ? '_' : *c);
		names_add(&names, buf_view(&name));
	}
	keyed_fail(k, "unknown key \"%.*s\"", STR_ARG(text_utf8_cut(str_from(k->key), 60)));
	return names_suggest(k->err, str_from(k->key), names.text, names.count);
}

static const struct command *command_of(const char *name)
{
	for (size_t i = 0; i < commands_count; i++)
		if (!commands[i].no_config && !strcmp(name, commands[i].name))
			return &commands[i];
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
	if (value->type & (expected[o->type].types | (takes_object(o) ? cJSON_Object : 0)))
		return 0;
	return keyed_expected(k, takes_object(o) ? "an object" : expected[o->type].wanted);
}

int config_check_type(struct keyed *k, const struct opt *o, const cJSON *value)
{
	const cJSON *each;

	tree_at(k, value);
	if (cJSON_IsNull(value))
		return 0;
	if (!cJSON_IsArray(value))
		return check_value(k, o, value);
	if (o->type != OPTION_LIST)
		return keyed_expected(k, "one value");
	cJSON_ArrayForEach (each, value) {
		if (check_value(k, o, each))
			return -1;
	}
	return 0;
}

/* ---- objects ---- */

static void config_visit(const struct config_visitor *v, struct keyed *k, const cJSON *value,
                         enum opt_class class)
{
	tree_at(k, value);
	if (v->setting && !cJSON_IsNull(value))
		v->setting(v->ctx, k, value, class);
}

/* A key that is no option is one of `others`, occurs once and has the type of its row, or is null. opts: those that
   may be given here, too. */
static int check_other(struct keyed *k, const cJSON *object, const cJSON *m, const struct opt *opts,
                       size_t count, const struct other_key *others)
{
	const struct other_key *row = others;

	while (row->key && strcmp(row->key, m->string) != 0)
		row++;
	if (!row->key)
		return unknown_key(k, opts, count, others);
	if (tree_get(object, m->string) != m) {
		tree_at(k, tree_get(object, m->string));
		return keyed_fail(k, "duplicate key \"%s\"", m->string);
	}
	return cJSON_IsNull(m) || m->type == row->type ? 0 : keyed_expected(k, row->wanted);
}

static int check_keys(struct keyed *k, const cJSON *object, const struct command *cmd,
                      const struct other_key *others, const struct config_visitor *v)
{
	size_t count;
	struct opt *opts;
	int failed = tree_is_object(k, object);

	if (failed)
		return -1;
	opts = options_expand(cmd->code->opts, cmd->code->opt_count, &count);
	for (const cJSON *m = tree_first(object); !failed && m; m = m->next) {
		const struct opt *o = config_option_of(opts, count, m->string);

		o = o ? o : config_option_of(global_group.rows, global_group.count, m->string);
		k->key = m->string;
		tree_at(k, m);
		if (o) {
			failed = config_check_type(k, o, m);
			config_visit(v, k, m, config_class(cmd, o, m));
		} else {
			failed = check_other(k, object, m, opts, count, others);
		}
	}
	free(opts);
	return failed;
}

static int unknown_command(struct keyed *k, const char *name)
{
	AUTO_NAMES names = {.count = 0};

	for (size_t i = 0; i < commands_count; i++)
		if (!commands[i].no_config)
			names_add(&names, str_from(commands[i].name));
	keyed_fail(k, "defaults: unknown command \"%.*s\"",
	           STR_ARG(text_utf8_cut(str_from(name), 60)));
	return names_suggest(k->err, str_from(name), names.text, names.count);
}

static int check_defaults(struct keyed *k, const cJSON *defaults, const struct config_visitor *v)
{
	for (const cJSON *m = tree_first(defaults); m; m = m->next) {
		const struct command *cmd = command_of(m->string);

		tree_at(k, m);
		if (!cmd)
			return unknown_command(k, m->string);
		snprintf(k->place, sizeof(k->place), "defaults.%s", cmd->name);
		if (check_keys(k, m, cmd, no_keys, v))
			return -1;
		k->place[0] = '\0';
	}
	return 0;
}

static int check_headers(struct keyed *k, const cJSON *headers, const struct config_visitor *v)
{
	for (const cJSON *m = tree_first(headers); m; m = m->next) {
		k->key = m->string;
		tree_at(k, m);
		if (!cJSON_IsString(m))
			return keyed_expected(k, "a string");
		config_visit(v, k, m, config_class_as("HEADER", m));
	}
	return 0;
}

static int check_environment(struct keyed *k, const cJSON *entry, const struct config_visitor *v)
{
	const cJSON *target = tree_get(entry, "target");

	if (tree_is_null(target)) {
		tree_at(k, entry);
		return keyed_fail(k, "\"target\" is missing");
	}
	k->key = "target";
	config_visit(v, k, target, config_class_as("TARGET", target));
	return check_headers(k, tree_get(entry, "headers"), v);
}

/* All options of `run` are allowed; each command uses those it has. */
static int check_environments(struct keyed *k, const cJSON *environments,
                              const struct config_visitor *v)
{
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

int config_check(struct keyed *k, const cJSON *root, const struct config_visitor *v)
{
	if (tree_is_object(k, root))
		return -1;
	for (const cJSON *m = tree_first(root); m; m = m->next) {
		k->key = m->string;
		tree_at(k, m);
		if (check_other(k, root, m, NULL, 0, top_keys))
			return -1;
	}
	return check_environments(k, tree_get(root, "environments"), v) ||
	                       check_defaults(k, tree_get(root, "defaults"), v)
	               ? -1
	               : 0;
}

/* ---- servers of an mcp.json ---- */

/* {"name": {..}}; Visual Studio Code uses the key "servers". */
static const cJSON *servers_of(const cJSON *file)
{
	const cJSON *servers = tree_get(file, "mcpServers");

	return servers ? servers : tree_get(file, "servers");
}

bool mcp_servers_given(const cJSON *file)
{
	return servers_of(file) && !tree_get(file, "defaults") && !tree_get(file, "environments");
}

static int open_servers(struct keyed *k, const cJSON *file, const cJSON **servers)
{
	*servers = servers_of(file);
	tree_at(k, file);
	return cJSON_IsObject(*servers) ? 0 : keyed_fail(k, "\"mcpServers\" is missing");
}

void config_suggest(struct error *err, const char *name, const cJSON *object)
{
	AUTO_NAMES names = {.count = 0};

	for (const cJSON *m = tree_first(object); m; m = m->next)
		names_add(&names, str_from(m->string));
	if (names.count)
		names_suggest(err, str_from(name), names.text, names.count);
}

static int add_words(struct keyed *k, environment *variable, const cJSON *args, struct buf *command,
                     struct config_variables *secret)
{
	const cJSON *each;
	const char *word;

	if (args && !cJSON_IsArray(args)) {
		tree_at(k, args);
		return keyed_expected(k, "an array");
	}
	cJSON_ArrayForEach (each, args) {
		if (cJSON_IsString(each) && !*each->valuestring) {
			buf_text(command, " ''");
			continue;
		}
		if (config_expand_target(k, each, variable, &word, secret))
			return -1;
		buf_char(command, ' ');
		config_shell_word(command, word);
	}
	return 0;
}

static int text_of(struct keyed *k, environment *variable, const cJSON *server, const char *key,
                   const char **out, struct config_variables *secret)
{
	const cJSON *value = tree_get(server, key);

	*out = NULL;
	if (tree_is_null(value))
		return 0;
	k->key = key;
	return config_expand_target(k, value, variable, out, secret);
}

static int read_command(struct keyed *k, environment *variable, const cJSON *server,
                        const char *program, struct buf *command, struct config_variables *secret)
{
	const char *directory;

	if (text_of(k, variable, server, "cwd", &directory, secret))
		return -1;
	buf_text(command, "stdio:");
	if (directory) {
		buf_text(command, "cd ");
		config_shell_word(command, directory);
		buf_text(command, " && exec ");
	}
	config_shell_word(command, program);
	k->key = "args";
	return add_words(k, variable, tree_get(server, "args"), command, secret);
}

static int read_target(struct keyed *k, environment *variable, const cJSON *server,
                       struct mcp_server *out)
{
	struct buf command = BUF(BUF_MAX_MESSAGE);
	const char *program;

	if (text_of(k, variable, server, "url", &out->target, &out->secret) ||
	    text_of(k, variable, server, "command", &program, &out->secret)) {
		return -1;
	}
	if (out->target)
		return 0;
	if (!program) {
		tree_at(k, server);
		return keyed_fail(k, "\"url\" or \"command\" is missing");
	}
	int failed = read_command(k, variable, server, program, &command, &out->secret);
	out->target = buf_keep(&command, k->arena).p;
	return failed;
}

/* What a key of a server can do; OPT_HARMLESS: it is not used. */
static enum opt_class class_of(const char *key, const cJSON *value)
{
	static const char *const program[] = {"command", "args", "cwd"};
	enum opt_class class = config_class_as("TARGET", value);

	if (!strcmp(key, "url"))
		return class > OPT_REACH ? class : OPT_REACH;
	for (size_t i = 0; i < ARRAY_LEN(program); i++)
		if (!strcmp(key, program[i]))
			return OPT_POWER;
	return OPT_HARMLESS;
}

static void visit_server(struct keyed *k, const cJSON *server, const struct config_visitor *v)
{
	for (const cJSON *m = tree_first(server); m; m = m->next) {
		k->key = m->string;
		if (class_of(k->key, m) != OPT_HARMLESS)
			config_visit(v, k, m, class_of(k->key, m));
	}
	for (const cJSON *m = tree_first(tree_get(server, "headers")); m; m = m->next) {
		k->key = m->string;
		config_visit(v, k, m, config_class_as("HEADER", m));
	}
	for (const cJSON *m = tree_first(tree_get(server, "env")); m; m = m->next) {
		k->key = m->string;
		config_visit(v, k, m, OPT_POWER);
	}
}

int mcp_servers_visit(struct keyed *k, const cJSON *file, const struct config_visitor *v)
{
	const cJSON *servers;

	if (open_servers(k, file, &servers))
		return -1;
	for (const cJSON *m = tree_first(servers); m; m = m->next) {
		snprintf(k->place, sizeof(k->place), "%.60s", m->string);
		if (tree_is_object(k, m))
			return -1;
		visit_server(k, m, v);
	}
	return 0;
}

int mcp_servers_find(struct keyed *k, const cJSON *file, environment *variable, const char *name,
                     struct mcp_server *out)
{
	const cJSON *servers, *server;

	if (open_servers(k, file, &servers))
		return -1;
	server = tree_get(servers, name);
	if (!server) {
		tree_at(k, servers);
		keyed_fail(k, "no server \"%s\"", name);
		config_suggest(k->err, name, servers);
		return -1;
	}
	snprintf(k->place, sizeof(k->place), "%.60s", name);
	out->headers = tree_get(server, "headers");
	out->env = tree_get(server, "env");
	out->key = tree_is_null(tree_get(server, "url")) ? "command" : "url";
	out->value = tree_get(server, out->key);
	out->class = class_of(out->key, out->value);
	return tree_is_object(k, server) || read_target(k, variable, server, out);
}
