/* rolldbg trust: shows what a file asks for, and lets it from then on. */
#include "base/mem.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/options/config_keys.h"
#include "cmd/options/credentials.h"
#include "cmd/options/output.h"
#include "cmd/options/trusted.h"
#include "recording/redact/redact.h"

#define OPTIONS trust
#include "cmd/options/table.h"

/* A credential that the file contains is not printed; what it sends of ours is. */
static bool is_hidden(const struct keyed *k, const cJSON *value)
{
	return cJSON_IsString(value) && !strstr(value->valuestring, "${") &&
	       credentials_named(str_from(k->key));
}

/* The value with the secrets of a command line and of URLs replaced. */
static void put_value(struct keyed *k, const cJSON *value, struct buf *out)
{
	struct secrets *secrets = secrets_new();
	AUTO_BUF command = BUF(BUF_MAX_MESSAGE);
	const cJSON *word;

	buf_text(&command, "stdio:");
	cJSON_ArrayForEach (word, value) {
		if (cJSON_IsString(word))
			buf_printf(&command, "%s ", word->valuestring);
	}
	buf_text(&command, cJSON_IsString(value) ? value->valuestring : "");
	credentials_add_target(secrets, buf_cstr(&command));
	secrets_redact(secrets, json_compact(k->arena, k->value), out);
	secrets_free(secrets);
}

static void put_setting(void *ctx, struct keyed *k, const cJSON *value, enum opt_class class)
{
	AUTO_BUF line = BUF(BUF_MAX_MESSAGE);

	buf_printf(&line, "%s:%zu: %s: \"%s\" = ", k->name, keyed_line(k), k->place, k->key);
	if (is_hidden(k, value))
		buf_text(&line, "(not shown)");
	else
		put_value(k, value, &line);
	buf_printf(&line, " (%s)",
	           class == OPT_NEVER ? "never taken from a file that was found"
	                              : option_class_name(class));
	text_escape_line(ctx, buf_view(&line));
}

static int show(const struct config_file *f, const char *name, struct arena *arena, struct buf *out,
                struct error *err)
{
	struct keyed k = {.what = "", .name = name, .text = f->text, .arena = arena, .err = err};
	struct config_visitor visitor = {put_setting, out};

	cJSON *root;
	int failed = tree_parse(&k, &root) ||
	             (mcp_servers_given(root) ? mcp_servers_visit(&k, root, &visitor)
	                                      : config_check(&k, root, &visitor));

	cJSON_Delete(root);
	return failed ? -1 : 0;
}

static int trust_file(const struct context *c, const struct trust_options *o, const char *path,
                      struct arena *arena, struct buf *out, struct error *err)
{
	struct config_file f = {.named = false};
	AUTO_BUF name = BUF(BUF_MAX_SMALL);

	trusted_path(path, &name);
	int failed = config_file_read(path, arena, &f, err) ||
	             show(&f, buf_cstr(&name), arena, out, err) ||
	             (!o->dry_run && trusted_add(c->variable, &f, err));
	if (!failed && !o->dry_run)
		text_put_path(out, "trusted", buf_cstr(&name));
	return failed ? -1 : 0;
}

static int trust_main(const struct context *c, const void *opts, int argc, char **argv,
                      struct error *err)
{
	const struct trust_options *o = opts;
	struct output out = output_to_stdout();
	AUTO_ARENA arena = {.last = NULL};
	const char *path = argc ? argv[0] : config_file_upwards(&arena);
	int failed;

	if (!path)
		failed = error_set(err, FAIL_USAGE, "no .rolldbg.json here or above: name a file");
	else
		failed = trust_file(c, o, path, &arena, &out.text, err);
	failed = failed || output_flush(&out, err);
	output_release(&out);
	return failed ? -1 : 0;
}

CODE(trust)
