/* Servers of an mcp.json: see mcp_servers.h. */
#include "cmd/mcp_servers.h"

#include "base/names.h"

#include <stdio.h>

/* {"name": {..}}; Visual Studio Code uses the key "servers". */
static struct str servers_of(struct str file)
{
	struct str servers = JSON_GET(file, "mcpServers");

	return servers.p ? servers : JSON_GET(file, "servers");
}

bool mcp_servers_given(struct str file)
{
	return servers_of(file).p && !JSON_GET(file, "defaults").p &&
	       !JSON_GET(file, "environments").p;
}

static int open_servers(struct keyed *k, struct str *servers)
{
	*servers = servers_of(k->text);
	k->value = k->text;
	return json_type(*servers) == JSON_OBJECT ? 0 : keyed_fail(k, "\"mcpServers\" is missing");
}

static int unknown(struct keyed *k, struct str servers, const char *name)
{
	struct names names = {.count = 0};
	struct json_member m;

	for (size_t cursor = 0; json_next_member(servers, &cursor, &m);) {
		names_add(&names, json_key_text(k->arena, m.key));
	}
	k->value = servers;
	keyed_fail(k, "no server \"%s\"", name);
	names_suggest(k->err, str_from(name), names.text, names.count);
	names_release(&names);
	return -1;
}

static int add_words(struct keyed *k, environment *variable, struct str args, struct buf *command,
                     struct config_variables *secret)
{
	struct str each;
	const char *word;

	if (args.p && json_type(args) != JSON_ARRAY) {
		k->value = args;
		return keyed_expected(k, "an array");
	}
	for (size_t cursor = 0; json_next(args, &cursor, &each);) {
		k->value = each;
		if (json_is(each, STR(""))) {
			buf_text(command, " ''");
			continue;
		}
		if (config_expand_target(k, variable, &word, secret)) {
			return -1;
		}
		buf_char(command, ' ');
		config_shell_word(command, word);
	}
	return 0;
}

static int text_of(struct keyed *k, environment *variable, struct str server, const char *key,
                   const char **out, struct config_variables *secret)
{
	struct str value = json_get(server, str_from(key));

	*out = NULL;
	if (json_is_null(value)) {
		return 0;
	}
	k->key = key;
	k->value = value;
	return config_expand_target(k, variable, out, secret);
}

static int read_command(struct keyed *k, environment *variable, struct str server,
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
	return add_words(k, variable, JSON_GET(server, "args"), command, secret);
}

static int read_target(struct keyed *k, environment *variable, struct str server,
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
		k->value = server;
		return keyed_fail(k, "\"url\" or \"command\" is missing");
	}
	int failed = read_command(k, variable, server, program, &command, &out->secret);
	out->target = arena_str(k->arena, buf_view(&command)).p;
	buf_release(&command);
	return failed;
}

/* What a key of a server can do; OPT_HARMLESS: it is not used. */
static enum opt_class class_of(const char *key, struct str value)
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

static void visit_server(struct keyed *k, struct str server, const struct config_visitor *v)
{
	struct json_member m;

	for (size_t cursor = 0; json_next_member(server, &cursor, &m);) {
		k->key = json_key_text(k->arena, m.key).p;
		enum opt_class class = class_of(k->key, m.value);

		if (class != OPT_HARMLESS) {
			config_visit(v, k, m.value, class);
		}
	}
	for (size_t cursor = 0; json_next_member(JSON_GET(server, "headers"), &cursor, &m);) {
		k->key = json_key_text(k->arena, m.key).p;
		config_visit(v, k, m.value, config_class_of_header(m.value));
	}
	for (size_t cursor = 0; json_next_member(JSON_GET(server, "env"), &cursor, &m);) {
		k->key = json_key_text(k->arena, m.key).p;
		config_visit(v, k, m.value, OPT_POWER);
	}
}

int mcp_servers_visit(struct keyed *k, const struct config_visitor *v)
{
	struct str servers;
	struct json_member m;

	if (open_servers(k, &servers)) {
		return -1;
	}
	for (size_t cursor = 0; json_next_member(servers, &cursor, &m);) {
		snprintf(k->place, sizeof(k->place), "%.60s", json_key_text(k->arena, m.key).p);
		if (keyed_is_object(k, m.value)) {
			return -1;
		}
		visit_server(k, m.value, v);
	}
	return 0;
}

int mcp_servers_find(struct keyed *k, environment *variable, const char *name,
                     struct mcp_server *out)
{
	struct str servers, server;

	if (open_servers(k, &servers)) {
		return -1;
	}
	server = json_get(servers, str_from(name));
	if (!server.p) {
		return unknown(k, servers, name);
	}
	snprintf(k->place, sizeof(k->place), "%.60s", name);
	out->headers = JSON_GET(server, "headers");
	out->env = JSON_GET(server, "env");
	out->key = json_is_null(JSON_GET(server, "url")) ? "command" : "url";
	out->value = json_get(server, str_from(out->key));
	out->class = class_of(out->key, out->value);
	return keyed_is_object(k, server) || read_target(k, variable, server, out);
}
