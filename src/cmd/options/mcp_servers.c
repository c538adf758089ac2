/* Servers of an mcp.json: see mcp_servers.h. */
#include "cmd/options/mcp_servers.h"

#include "base/names.h"

#include <stdio.h>

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

static int unknown(struct keyed *k, const cJSON *servers, const char *name)
{
	struct names names = {.count = 0};

	for (const cJSON *m = tree_first(servers); m; m = m->next) {
		names_add(&names, str_from(m->string));
	}
	tree_at(k, servers);
	keyed_fail(k, "no server \"%s\"", name);
	names_suggest(k->err, str_from(name), names.text, names.count);
	names_release(&names);
	return -1;
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
		if (config_expand_target(k, each, variable, &word, secret)) {
			return -1;
		}
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
	if (tree_is_null(value)) {
		return 0;
	}
	k->key = key;
	return config_expand_target(k, value, variable, out, secret);
}

static int read_command(struct keyed *k, environment *variable, const cJSON *server,
                        const char *program, struct buf *command, struct config_variables *secret)
{
	const char *directory;

	if (text_of(k, variable, server, "cwd", &directory, secret)) {
		return -1;
	}
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
	if (out->target) {
		return 0;
	}
	if (!program) {
		tree_at(k, server);
		return keyed_fail(k, "\"url\" or \"command\" is missing");
	}
	int failed = read_command(k, variable, server, program, &command, &out->secret);
	out->target = arena_str(k->arena, buf_view(&command)).p;
	buf_release(&command);
	return failed;
}

/* What a key of a server can do; OPT_HARMLESS: it is not used. */
static enum opt_class class_of(const char *key, const cJSON *value)
{
	static const char *const program[] = {"command", "args", "cwd"};
	enum opt_class class = config_class_of_target(value);

	if (!strcmp(key, "url")) {
		return class > OPT_REACH ? class : OPT_REACH;
	}
	for (size_t i = 0; i < ARRAY_LEN(program); i++) {
		if (!strcmp(key, program[i])) {
			return OPT_POWER;
		}
	}
	return OPT_HARMLESS;
}

static void visit_server(struct keyed *k, const cJSON *server, const struct config_visitor *v)
{
	for (const cJSON *m = tree_first(server); m; m = m->next) {
		k->key = m->string;
		if (class_of(k->key, m) != OPT_HARMLESS) {
			config_visit(v, k, m, class_of(k->key, m));
		}
	}
	for (const cJSON *m = tree_first(tree_get(server, "headers")); m; m = m->next) {
		k->key = m->string;
		config_visit(v, k, m, config_class_of_header(m));
	}
	for (const cJSON *m = tree_first(tree_get(server, "env")); m; m = m->next) {
		k->key = m->string;
		config_visit(v, k, m, OPT_POWER);
	}
}

int mcp_servers_visit(struct keyed *k, const cJSON *file, const struct config_visitor *v)
{
	const cJSON *servers;

	if (open_servers(k, file, &servers)) {
		return -1;
	}
	for (const cJSON *m = tree_first(servers); m; m = m->next) {
		snprintf(k->place, sizeof(k->place), "%.60s", m->string);
		if (tree_is_object(k, m)) {
			return -1;
		}
		visit_server(k, m, v);
	}
	return 0;
}

int mcp_servers_find(struct keyed *k, const cJSON *file, environment *variable, const char *name,
                     struct mcp_server *out)
{
	const cJSON *servers, *server;

	if (open_servers(k, file, &servers)) {
		return -1;
	}
	server = tree_get(servers, name);
	if (!server) {
		return unknown(k, servers, name);
	}
	snprintf(k->place, sizeof(k->place), "%.60s", name);
	out->headers = tree_get(server, "headers");
	out->env = tree_get(server, "env");
	out->key = tree_is_null(tree_get(server, "url")) ? "command" : "url";
	out->value = tree_get(server, out->key);
	out->class = class_of(out->key, out->value);
	return tree_is_object(k, server) || read_target(k, variable, server, out);
}
