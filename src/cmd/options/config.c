/* The project file and named environments: see config.h. */
#include "cmd/options/config.h"

#include "base/log.h"
#include "base/names.h"
#include "base/text.h"
#include "cmd/options/config_keys.h"
#include "cmd/options/credentials.h"
#include "recording/redact/redact.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct keyed keyed_of(struct config *f, struct error *err)
{
	return (struct keyed){.what = "",
	                      .name = f->file.path,
	                      .text = f->file.text,
	                      .arena = &f->arena,
	                      .err = err};
}

/* Reports and forgets an error where the file must not stop the command. */
static bool pass_over(const struct config *f, const struct error *err)
{
	if (f->lenient)
		log_warn("ignored: %s", err->text);
	return f->lenient;
}

int config_open(struct config *f, struct error *err)
{
	const struct config_visitor none = {.setting = NULL};

	if (f->command->no_config)
		return 0;
	int failed = config_file_find(f->context, &f->arena, &f->file, err);
	f->lenient = !f->command->network && !f->file.named;
	if (!failed && f->file.path) {
		struct keyed k = keyed_of(f, err);

		failed = tree_parse(&k, &f->file.root) || config_check(&k, f->file.root, &none);
	}
	return failed && !pass_over(f, err) ? -1 : 0;
}

void config_release(struct config *f)
{
	free(f->applied);
	secrets_free(f->secrets);
	cJSON_Delete(f->file.root);
	arena_release(&f->arena);
	f->applied = NULL;
	f->secrets = NULL;
	f->file.root = NULL;
}

/* ---- applying ---- */

static void note(struct config *f, const struct opt *o, const char *value, const char *origin)
{
	f->applied = mem_grow(f->applied, f->applied_count, sizeof(*f->applied));
	f->applied[f->applied_count++] = (struct applied){o, value, origin};
}

void config_note(void *ctx, const struct opt *o, const char *value)
{
	note(ctx, o, value ? value : "", "command line");
}

static const char *origin_of(struct config *f, const struct keyed *k)
{
	struct buf text = BUF(BUF_MAX_SMALL);

	buf_printf(&text, "%s:%zu", k->name, keyed_line(k));
	return buf_keep(&text, &f->arena).p;
}

/* Resolves a path relative to the project file; other values are returned unchanged. */
static const char *beside(struct config *f, const struct opt *o, const char *value)
{
	AUTO_BUF path = BUF(BUF_MAX_SMALL);

	if (!o->arg || strncmp(o->arg, "FILE", 4) != 0 || value[0] == '/' || !f->file.directory)
		return value;
	buf_printf(&path, "%s/%s", f->file.directory, value);
	return access(buf_cstr(&path), F_OK) ? value : arena_str(&f->arena, buf_view(&path)).p;
}

static int set(struct config *f, struct keyed *k, const struct opt *o, const char *value,
               void *values)
{
	struct error why;

	if (options_set(o, beside(f, o, value), values, &why))
		return keyed_fail(k, "%s", why.text);
	return 0;
}

/* Adds a value to an option by name; every command with an environment has it. */
static int add(struct config *f, struct keyed *k, const char *name, const char *value, void *values)
{
	const struct opt *o = config_option_of(f->opts, f->opt_count, name);

	return o ? set(f, k, o, value, values) : 0;
}

static int add_secrets(struct config *f, struct keyed *k, const struct config_variables *secret,
                       void *values)
{
	f->secrets = f->secrets ? f->secrets : secrets_new();
	for (size_t i = 0; i < secret->count; i++) {
		secrets_add(f->secrets, str_from(f->context->variable(secret->name[i])));
		if (add(f, k, "secret_env", secret->name[i], values))
			return -1;
	}
	return 0;
}

/* Sets one option from a value spelled as on the command line. Its type has been checked. */
static int set_one(struct config *f, struct keyed *k, const struct opt *o, const cJSON *value,
                   void *values)
{
	struct config_variables secret = {.count = 0};
	const char *text;

	tree_at(k, value);
	if (o->type == OPTION_FLAG) {
		*(bool *)((char *)values + o->offset) = cJSON_IsTrue(value);
		note(f, o, cJSON_IsTrue(value) ? "true" : "false", origin_of(f, k));
		return 0;
	}
	if (!cJSON_IsString(value)) { /* as spelled: a double would change a large seed */
		text = json_compact(&f->arena, k->value).p;
	} else if (config_expand_target(k, value, f->context->variable, &text, &secret) ||
	           add_secrets(f, k, &secret, values)) {
		return -1;
	}
	if (set(f, k, o, text, values))
		return -1;
	note(f, o, value->valuestring ? value->valuestring : text, origin_of(f, k));
	return 0;
}

static int set_option(struct config *f, struct keyed *k, const struct opt *o, const cJSON *value,
                      void *values)
{
	const cJSON *each;

	if (config_check_type(k, o, value))
		return -1;
	tree_at(k, value);
	if (config_permit(f->context, &f->file, k, config_class(f->command, o, value)))
		return -1;
	if (!cJSON_IsArray(value))
		return set_one(f, k, o, value, values);
	cJSON_ArrayForEach (each, value) {
		if (set_one(f, k, o, each, values))
			return -1;
	}
	return 0;
}

/* Applies the settings that the command has an option for. */
static int apply(struct config *f, struct keyed *k, const cJSON *settings, void *values)
{
	for (const cJSON *m = tree_first(settings); m; m = m->next) {
		const struct opt *o = config_option_of(f->opts, f->opt_count, m->string);

		if (!o || cJSON_IsNull(m) || o == config_env_option(f->opts, f->opt_count))
			continue;
		k->key = m->string;
		if (set_option(f, k, o, m, values) && !pass_over(f, k->err))
			return -1;
	}
	return 0;
}

int config_defaults(struct config *f, void *values, struct error *err)
{
	struct keyed k = keyed_of(f, err);
	const cJSON *mine = tree_get(tree_get(f->file.root, "defaults"), f->command->name);
	const cJSON *env = tree_get(mine, "env");
	const struct opt *o = config_env_option(f->opts, f->opt_count);

	if (f->no_defaults)
		return 0;
	snprintf(k.place, sizeof(k.place), "defaults.%s", f->command->name);
	k.key = "env";
	return apply(f, &k, mine, values) ||
	                       (o && !tree_is_null(env) && set_option(f, &k, o, env, values))
	               ? -1
	               : 0;
}

bool config_pass_over_defaults(struct config *f, const struct error *err)
{
	bool set = tree_first(tree_get(tree_get(f->file.root, "defaults"), f->command->name));

	if (err->kind != FAIL_USAGE || !f->lenient || f->no_defaults || !set)
		return false;
	log_warn("ignored: %s: defaults.%s: %s", f->file.path, f->command->name, err->text);
	config_release(f);
	*f = (struct config){.context = f->context,
	                     .command = f->command,
	                     .opts = f->opts,
	                     .opt_count = f->opt_count,
	                     .no_defaults = true};
	return true;
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

bool config_is_name(const struct config *f, const char *env)
{
	return config_is_in_file(env) || (f->file.path && !strchr(env, ':'));
}

/* An object of names and values, each of which is added to an option as one text. */
struct pair_kind {
	const char *option, *between;
	const char *arg; /* as config_class_as takes it; NULL: permitted with their server */
	bool may_be_empty;
	bool all_are_secret; /* the values of all variables; else of those that are named so */
};

/* {"Authorization": "Bearer ${TOKEN}"} */
static const struct pair_kind headers_kind = {"header", ": ", "HEADER", false, true};
/* {"NAME": "value"}: the environment of a stdio: server */
static const struct pair_kind variables_kind = {"pass_env", "=", NULL, true, false};

static int add_pair(struct config *f, const struct config_file *file, struct keyed *k,
                    const struct pair_kind *kind, const cJSON *m, void *values)
{
	const struct opt *o = config_option_of(f->opts, f->opt_count, kind->option);
	struct config_variables secret = {.count = 0};
	AUTO_BUF line = BUF(BUF_MAX_MESSAGE), shown = BUF(BUF_MAX_MESSAGE);
	const char *value = "";

	k->key = m->string;
	tree_at(k, m);
	bool empty = kind->may_be_empty && cJSON_IsString(m) && !*m->valuestring;
	if ((kind->arg && config_permit(f->context, file, k, config_class_as(kind->arg, m))) ||
	    (!empty && (kind->all_are_secret ? config_expand : config_expand_target)(
			       k, m, f->context->variable, &value, &secret))) {
		return -1;
	}
	buf_printf(&line, "%s%s%s", k->key, kind->between, value);
	buf_printf(&shown, "%s%s%s", k->key, kind->between, m->valuestring);
	if (!o)
		return 0;
	note(f, o, arena_str(k->arena, buf_view(&shown)).p, origin_of(f, k));
	return set(f, k, o, arena_str(k->arena, buf_view(&line)).p, values) ||
	       add_secrets(f, k, &secret, values);
}

static int add_pairs(struct config *f, const struct config_file *file, struct keyed *k,
                     const struct pair_kind *kind, const cJSON *object, void *values)
{
	if (!tree_is_null(object) && tree_is_object(k, object))
		return -1;
	for (const cJSON *m = tree_first(object); m; m = m->next)
		if (add_pair(f, file, k, kind, m, values))
			return -1;
	return 0;
}

static int permit_server(const struct config *f, const struct config_file *file, struct keyed *k,
                         const struct mcp_server *server)
{
	k->key = server->key;
	tree_at(k, server->value);
	return config_permit(f->context, file, k, server->class);
}

/* Applies FILE#NAME, a server of an mcp.json. The user vouches for it if they vouch for the file that
   names it. */
static int apply_server(struct config *f, const char *spec, bool named, void *values,
                        const char **target, struct error *err)
{
	const char *hash = strchr(spec, '#');
	const char *path = arena_str(&f->arena, (struct str){spec, (size_t)(hash - spec)}).p;
	struct keyed k = {.what = "", .name = path, .arena = &f->arena, .err = err};
	struct mcp_server server = {.target = NULL};
	struct config_file file = {.named = named};

	if (config_file_read(path, &f->arena, &file, err))
		return -1;
	k.text = file.text;
	int failed = tree_parse(&k, &file.root) ||
	             mcp_servers_find(&k, file.root, f->context->variable, hash + 1, &server) ||
	             permit_server(f, &file, &k, &server) ||
	             add_pairs(f, &file, &k, &headers_kind, server.headers, values) ||
	             add_pairs(f, &file, &k, &variables_kind, server.env, values) ||
	             add_secrets(f, &k, &server.secret, values);
	*target = server.target;
	cJSON_Delete(file.root);
	return failed ? -1 : 0;
}

static int target_of(struct config *f, struct keyed *k, const cJSON *entry, void *values,
                     const char **target)
{
	struct config_variables secret = {.count = 0};
	const cJSON *named = tree_get(entry, "target");

	k->key = "target";
	tree_at(k, named);
	if (config_permit(f->context, &f->file, k, config_class_as("TARGET", named)) ||
	    config_expand_target(k, named, f->context->variable, target, &secret) ||
	    add_secrets(f, k, &secret, values)) {
		return -1;
	}
	return config_is_in_file(*target)
	               ? apply_server(f, *target, f->file.named, values, target, k->err)
	               : 0;
}

int config_environment(struct config *f, const char *name, bool typed, void *values,
                       const char **target, struct error *err)
{
	struct keyed k = keyed_of(f, err);
	const cJSON *entry;

	if (config_is_in_file(name))
		return apply_server(f, name, f->file.named && !typed, values, target, err);
	entry = tree_get(tree_get(f->file.root, "environments"), name);
	if (!entry) {
		error_set(err, FAIL_USAGE,
		          "unknown environment '%s': neither a target nor a name in %s", name,
		          f->file.path);
		config_suggest(err, name, tree_get(f->file.root, "environments"));
		return -1;
	}
	snprintf(k.place, sizeof(k.place), "environments.%.40s", name);
	return target_of(f, &k, entry, values, target) || apply(f, &k, entry, values) ||
	                       add_pairs(f, &f->file, &k, &headers_kind, tree_get(entry, "headers"),
	                                 values)
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

/* What a run with these settings would redact. */
static void find_secrets(struct config *f, const char *target)
{
	f->secrets = f->secrets ? f->secrets : secrets_new();
	for (size_t i = 0; i < f->applied_count; i++) {
		const struct applied *a = &f->applied[i];

		if (!strcmp(a->opt->name, "secret"))
			secrets_add(f->secrets, str_from(a->value));
		else if (!strcmp(a->opt->name, "secret-env"))
			secrets_add(f->secrets, str_from(f->context->variable(a->value)));
		else if (a->opt->arg && !strcmp(a->opt->arg, "TARGET"))
			credentials_add_target(f->secrets, a->value);
		else
			credentials_add_url(f->secrets, a->value);
	}
	credentials_add_target(f->secrets, target ? target : "");
}

static void show(const struct config *f, const char *text, struct buf *out)
{
	AUTO_BUF plain = BUF(BUF_MAX_MESSAGE);

	secrets_redact(f->secrets, str_from(text), &plain);
	text_escape(out, buf_view(&plain));
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

void config_print(struct config *f, const char *target, struct buf *out)
{
	find_secrets(f, target);
	text_put_path(out, "# project file", f->file.path ? f->file.path : "none");
	for (size_t i = 0; i < f->applied_count; i++) {
		const struct applied *a = &f->applied[i];
		size_t name = strcspn(a->value, ":=");

		if (is_overridden(f, i) || !strcmp(a->opt->name, "print-config"))
			continue;
		buf_printf(out, "%-16s ", a->opt->name);
		if (is_hidden(a)) {
			text_escape(out,
			            (struct str){a->value, name < strlen(a->value) ? name : 0});
			buf_text(out, name < strlen(a->value) ? ": (not shown)" : "(not shown)");
		} else {
			show(f, *a->value ? a->value : "true", out);
		}
		if (target && a->opt == config_env_option(f->opts, f->opt_count)) {
			buf_text(out, " = ");
			show(f, target, out);
		}
		buf_printf(out, "  # %s\n", a->origin);
	}
}
