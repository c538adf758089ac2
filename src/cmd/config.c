/* The project file and named environments: see config.h. */
#include "cmd/config.h"

#include "base/file.h"
#include "base/log.h"
#include "base/names.h"
#include "base/text.h"
#include "cmd/config_keys.h"
#include "cmd/mcp_servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_NAME "/.rolldbg.json"
#define CONFIG_MAX  ((size_t)4 << 20)
#define PATH_BYTES  4096

/* ---- the file ---- */

static struct keyed keyed_of(struct config *f, struct error *err)
{
	return (struct keyed){
		.what = "", .name = f->path, .text = f->text, .arena = &f->arena, .err = err};
}

/* A user who can write to a parent directory could otherwise make rolldbg start programs. */
static bool is_trusted(const char *path)
{
	struct stat st;

	if (stat(path, &st)) {
		return false;
	}
	if (st.st_uid == geteuid() || st.st_uid == 0) {
		return true;
	}
	log_warn("%s belongs to another user and is not used (set ROLLDBG_CONFIG=%s to use it)",
	         path, path);
	return false;
}

static const char *find_upwards(struct arena *arena)
{
	char path[PATH_BYTES + sizeof(CONFIG_NAME)];

	if (!getcwd(path, PATH_BYTES)) {
		return NULL;
	}
	for (size_t n = strlen(path);; n = (size_t)(strrchr(path, '/') - path)) {
		path[n] = '\0';
		n -= n == 1; /* root directory: CONFIG_NAME begins with the slash */
		memcpy(path + n, CONFIG_NAME, sizeof(CONFIG_NAME));
		if (access(path, F_OK) == 0) {
			return is_trusted(path) ? arena_str(arena, str_from(path)).p : NULL;
		}
		path[n] = '\0';
		if (n == 0) {
			return NULL;
		}
	}
}

static const char *choose_path(struct config *f)
{
	const char *given = f->context->variable("ROLLDBG_CONFIG");

	if (given) {
		return *given ? given : NULL;
	}
	return find_upwards(&f->arena);
}

static int read_text(struct config *f, const char *path, struct str *text, struct error *err)
{
	struct buf content = BUF(CONFIG_MAX);
	int failed = file_read_regular("configuration", path, &content, err);

	*text = failed ? STR_NONE : text_trim(arena_str(&f->arena, buf_view(&content)));
	buf_release(&content);
	return failed;
}

static const struct keyed_row top_rows[] = {
	{"$schema", KEYED_IGNORED, .at = 0},
	{"description", KEYED_IGNORED, .at = 0},
	{"environments", KEYED_BY, .read = config_check_environments},
	{"defaults", KEYED_BY, .read = config_check_defaults},
};

int config_open(struct config *f, struct error *err)
{
	static const struct keyed_table top = KEYED_TABLE(top_rows);
	const char *path = choose_path(f), *slash;
	struct str text;
	int unused;

	if (!path) {
		return 0;
	}
	if (read_text(f, path, &text, err)) {
		return -1;
	}
	f->path = path;
	f->text = text;
	slash = strrchr(path, '/');
	f->directory =
		slash ? arena_str(&f->arena, (struct str){path, (size_t)(slash - path)}).p : ".";
	struct keyed k = keyed_of(f, err);
	return keyed_parse(&k) || keyed_read(&k, f->text, &top, &unused) ? -1 : 0;
}

void config_release(struct config *f)
{
	free(f->applied);
	arena_release(&f->arena);
	f->applied = NULL;
}

/* ---- applying ---- */

static size_t line_of(const struct keyed *k)
{
	size_t line = 1;

	for (const char *p = k->text.p; p < k->value.p; p++) {
		line += *p == '\n';
	}
	return line;
}

static void note(struct config *f, const struct opt *o, const char *value, const char *origin)
{
	/* the array is full at 0 and powers of two */
	if ((f->applied_count & (f->applied_count - 1)) == 0) {
		f->applied = mem_resize(f->applied, f->applied_count ? 2 * f->applied_count : 1,
		                        sizeof(*f->applied));
	}
	f->applied[f->applied_count++] = (struct applied){o, value, origin};
}

void config_note(void *ctx, const struct opt *o, const char *value)
{
	note(ctx, o, value ? value : "", "command line");
}

static const char *origin_of(struct config *f, const struct keyed *k)
{
	struct buf text = BUF(BUF_MAX_SMALL);

	buf_printf(&text, "%s:%zu", k->name, line_of(k));
	const char *origin = arena_str(&f->arena, buf_view(&text)).p;
	buf_release(&text);
	return origin;
}

/* Resolves a path relative to the project file; other values are returned unchanged. */
static const char *beside(struct config *f, const struct opt *o, const char *value)
{
	struct buf path = BUF(BUF_MAX_SMALL);
	const char *found = value;

	if (o->arg && !strncmp(o->arg, "FILE", 4) && value[0] != '/' && f->directory) {
		buf_printf(&path, "%s/%s", f->directory, value);
		if (access(buf_cstr(&path), F_OK) == 0) {
			found = arena_str(&f->arena, buf_view(&path)).p;
		}
	}
	buf_release(&path);
	return found;
}

static int set(struct config *f, struct keyed *k, const struct opt *o, const char *value,
               void *values)
{
	struct error why;

	if (options_set(o, beside(f, o, value), values, &why)) {
		return keyed_fail(k, "%s", why.text);
	}
	return 0;
}

/* Sets one option from a value spelled as on the command line. Its type has been checked. */
static int set_one(struct config *f, struct keyed *k, const struct opt *o, void *values)
{
	enum json_type type = json_type(k->value);
	const char *text;

	if (o->type == OPTION_FLAG) {
		*(bool *)((char *)values + o->offset) = type == JSON_TRUE;
		note(f, o, type == JSON_TRUE ? "true" : "false", origin_of(f, k));
		return 0;
	}
	if (type != JSON_STRING) {
		text = arena_str(&f->arena, keyed_compact(k, k->value)).p;
	} else if (config_expand(k, f->context->variable, &text, NULL)) {
		return -1;
	}
	if (set(f, k, o, text, values)) {
		return -1;
	}
	note(f, o, json_text(&f->arena, k->value).p ? json_text(&f->arena, k->value).p : text,
	     origin_of(f, k));
	return 0;
}

static int set_option(struct config *f, struct keyed *k, const struct opt *o, struct str value,
                      void *values)
{
	struct str each;

	k->value = value;
	if (json_type(value) != JSON_ARRAY) {
		return set_one(f, k, o, values);
	}
	for (size_t cursor = 0; json_next(value, &cursor, &each);) {
		k->value = each;
		if (set_one(f, k, o, values)) {
			return -1;
		}
	}
	return 0;
}

/* Applies the settings that the command has an option for. */
static int apply(struct config *f, struct keyed *k, struct str settings, void *values)
{
	struct json_member m;

	for (size_t cursor = 0; json_next_member(settings, &cursor, &m);) {
		const struct opt *o = config_option_of(f->opts, f->opt_count, m.key);

		if (!o || m.type == JSON_NULL || o == config_env_option(f->opts, f->opt_count)) {
			continue;
		}
		k->key = arena_str(k->arena, m.key).p;
		if (set_option(f, k, o, m.value, values)) {
			return -1;
		}
	}
	return 0;
}

int config_defaults(struct config *f, void *values, struct error *err)
{
	struct keyed k = keyed_of(f, err);
	struct str mine = json_get(JSON_GET(f->text, "defaults"), str_from(f->command->name));
	struct str env = JSON_GET(mine, "env");
	const struct opt *o = config_env_option(f->opts, f->opt_count);

	snprintf(k.place, sizeof(k.place), "defaults.%s", f->command->name);
	k.key = "env";
	return apply(f, &k, mine, values) ||
	                       (o && !json_is_null(env) && set_option(f, &k, o, env, values))
	               ? -1
	               : 0;
}

/* ---- environments ---- */

const struct opt *config_env_option(const struct opt *opts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(opts[i].name, "env") && opts[i].type == OPTION_STRING &&
		    !strcmp(opts[i].arg, "TARGET")) {
			return &opts[i];
		}
	}
	return NULL;
}

static bool is_in_file(const char *env)
{
	return strchr(env, '#') && !strstr(env, "://") && strncmp(env, "stdio:", 6) != 0 &&
	       strncmp(env, "builtin:", 8) != 0;
}

bool config_is_name(const struct config *f, const char *env)
{
	return is_in_file(env) || (f->path && !strchr(env, ':'));
}

/* Adds a value to an option by name; every command with an environment has it. */
static int add(struct config *f, struct keyed *k, const char *name, const char *value, void *values)
{
	const struct opt *o = config_option_of(f->opts, f->opt_count, str_from(name));

	return o ? set(f, k, o, value, values) : 0;
}

/* {"Authorization": "Bearer ${TOKEN}"}: values of variables are secret. */
static int add_headers(struct config *f, struct keyed *k, struct str headers, void *values)
{
	struct json_member m;
	const struct opt *header = config_option_of(f->opts, f->opt_count, STR("header"));

	if (headers.p && keyed_is_object(k, headers)) {
		return -1;
	}
	for (size_t cursor = 0; header && json_next_member(headers, &cursor, &m);) {
		struct config_variables used = {.count = 0};
		struct buf line = BUF(BUF_MAX_MESSAGE), shown = BUF(BUF_MAX_MESSAGE);
		const char *value;

		k->key = json_key_text(k->arena, m.key).p;
		k->value = m.value;
		int failed = config_expand(k, f->context->variable, &value, &used);
		if (!failed) {
			buf_printf(&line, "%s: %s", k->key, value);
			buf_printf(&shown, "%s: %s", k->key, json_text(k->arena, m.value).p);
			failed = set(f, k, header, arena_str(k->arena, buf_view(&line)).p, values);
			note(f, header, arena_str(k->arena, buf_view(&shown)).p, origin_of(f, k));
		}
		for (size_t i = 0; i < used.count && !failed; i++) {
			failed = add(f, k, "secret_env", used.name[i], values);
		}
		buf_release(&line);
		buf_release(&shown);
		if (failed) {
			return -1;
		}
	}
	return 0;
}

/* {"NAME": "value"}: the environment of a stdio: server. */
static int add_variables(struct config *f, struct keyed *k, struct str env, void *values)
{
	struct json_member m;
	struct buf text = BUF(BUF_MAX_MESSAGE);

	if (env.p && keyed_is_object(k, env)) {
		return -1;
	}
	for (size_t cursor = 0; json_next_member(env, &cursor, &m);) {
		const char *value = "";

		k->key = json_key_text(k->arena, m.key).p;
		k->value = m.value;
		if (!json_is(m.value, STR("")) &&
		    config_expand(k, f->context->variable, &value, NULL)) {
			return -1;
		}
		buf_clear(&text);
		buf_printf(&text, "%s=%s", k->key, value);
		if (add(f, k, "pass_env", arena_str(k->arena, buf_view(&text)).p, values)) {
			buf_release(&text);
			return -1;
		}
	}
	buf_release(&text);
	return 0;
}

/* Applies FILE#NAME, a server of an mcp.json. */
static int apply_server(struct config *f, const char *spec, void *values, const char **target,
                        struct error *err)
{
	const char *hash = strchr(spec, '#');
	const char *path = arena_str(&f->arena, (struct str){spec, (size_t)(hash - spec)}).p;
	struct keyed k = {.what = "", .name = path, .arena = &f->arena, .err = err};
	struct mcp_server server = {.target = NULL};

	if (read_text(f, path, &k.text, err) || keyed_parse(&k) ||
	    mcp_servers_find(&k, f->context->variable, hash + 1, &server) ||
	    add_headers(f, &k, server.headers, values) ||
	    add_variables(f, &k, server.env, values)) {
		return -1;
	}
	*target = server.target;
	return 0;
}

static int unknown_environment(struct config *f, const char *name, struct error *err)
{
	struct names names = {.count = 0};
	struct json_member m;
	struct str all = JSON_GET(f->text, "environments");

	for (size_t cursor = 0; json_next_member(all, &cursor, &m);) {
		names_add(&names, json_key_text(&f->arena, m.key));
	}
	error_set(err, FAIL_USAGE, "unknown environment '%s': neither a target nor a name in %s",
	          name, f->path);
	if (names.count) {
		names_suggest(err, str_from(name), names.text, names.count);
	}
	names_release(&names);
	return -1;
}

static int target_of(struct config *f, struct keyed *k, struct str entry, void *values,
                     const char **target)
{
	k->key = "target";
	k->value = JSON_GET(entry, "target");
	if (config_expand(k, f->context->variable, target, NULL)) {
		return -1;
	}
	return is_in_file(*target) ? apply_server(f, *target, values, target, k->err) : 0;
}

int config_environment(struct config *f, const char *name, void *values, const char **target,
                       struct error *err)
{
	struct keyed k = keyed_of(f, err);
	struct str entry;

	if (is_in_file(name)) {
		return apply_server(f, name, values, target, err);
	}
	entry = json_get(JSON_GET(f->text, "environments"), str_from(name));
	if (!entry.p) {
		return unknown_environment(f, name, err);
	}
	snprintf(k.place, sizeof(k.place), "environments.%.40s", name);
	return target_of(f, &k, entry, values, target) || apply(f, &k, entry, values) ||
	                       add_headers(f, &k, JSON_GET(entry, "headers"), values)
	               ? -1
	               : 0;
}

/* ---- showing ---- */

/* Values that may be secret because they were written literally, without a variable. */
static bool is_hidden(const struct applied *a)
{
	static const char *const names[] = {"header", "secret", "pass-env"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!strcmp(a->opt->name, names[i]) && !strstr(a->value, "${") &&
		    a->value[0] != '@') {
			return true;
		}
	}
	return false;
}

static bool is_overridden(const struct config *f, size_t index)
{
	for (size_t i = index + 1; i < f->applied_count; i++) {
		if (f->applied[i].opt == f->applied[index].opt &&
		    f->applied[i].opt->type != OPTION_LIST) {
			return true;
		}
	}
	return false;
}

void config_print(const struct config *f, const char *target, struct buf *out)
{
	buf_printf(out, "# project file: %s\n", f->path ? f->path : "none");
	for (size_t i = 0; i < f->applied_count; i++) {
		const struct applied *a = &f->applied[i];
		size_t name = strcspn(a->value, ":=");

		if (is_overridden(f, i) || !strcmp(a->opt->name, "print-config")) {
			continue;
		}
		buf_printf(out, "%-16s ", a->opt->name);
		if (is_hidden(a)) {
			text_escape(out,
			            (struct str){a->value, name < strlen(a->value) ? name : 0});
			buf_text(out, name < strlen(a->value) ? ": (not shown)" : "(not shown)");
		} else {
			text_escape(out, str_from(*a->value ? a->value : "true"));
		}
		if (target && a->opt == config_env_option(f->opts, f->opt_count)) {
			buf_text(out, " = ");
			text_escape(out, str_from(target));
		}
		buf_printf(out, "  # %s\n", a->origin);
	}
}
