/* The keys of a project file, and the servers of an mcp.json. Keys of an environment and of a command's defaults are option
   names. */
#pragma once

#include "cmd/options/config_file.h"
#include "cmd/options/trusted.h"

/* The option for a key such as max_turns; NULL: no such option. */
const struct opt *config_option_of(const struct opt *opts, size_t count, const char *key);

/* Called for each setting of a file, in order: k->place, k->key, and the value. */
struct config_visitor {
	void (*setting)(void *ctx, struct keyed *k, const cJSON *value,
	                enum opt_class class); /* NULL: no call */
	void *ctx;
};

/* Adds to an error the nearest name, or all, of an object's members. */
void config_suggest(struct error *err, const char *name, const cJSON *object);

/* Refuses unknown keys and values of another type in a file, parsed by tree_parse. FAIL_INPUT. */
MUST_USE int config_check(struct keyed *k, const cJSON *root, const struct config_visitor *v);
/* Refuses a value of another type than the option takes. FAIL_INPUT. */
MUST_USE int config_check_type(struct keyed *k, const struct opt *o, const cJSON *value);

/* ---- servers of an mcp.json ---- */

struct mcp_server {
	const char *target;         /* a URL or stdio:COMMAND */
	const cJSON *headers, *env; /* objects of the file; NULL: none */
	const char *key;            /* url or command, with its value and class */
	const cJSON *value;
	enum opt_class class;
	struct config_variables secret; /* in the target */
};

/* Has the file servers, and no key of a project file? */
bool mcp_servers_given(const cJSON *file);
/* Visits every setting of every server in the file, parsed by tree_parse. FAIL_INPUT. */
MUST_USE int mcp_servers_visit(struct keyed *k, const cJSON *file, const struct config_visitor *v);

/* Finds the server by name in the same. FAIL_INPUT, with the available names. */
MUST_USE int mcp_servers_find(struct keyed *k, const cJSON *file, environment *variable,
                              const char *name, struct mcp_server *out);
