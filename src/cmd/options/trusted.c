/* The files that the user trusts: see trusted.h. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "cmd/options/trusted.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/new_file.h"
#include "cmd/options/config_file.h"
#include "cmd/store/store.h"

#include <stdlib.h>

#define FOLDER    "/trusted"
#define ENTRY_MAX ((size_t)64 << 10)

void trusted_path(const char *path, struct buf *out)
{
	char *real = realpath(path, NULL);

	buf_text(out, real ? real : path);
	free(real);
}

static void put_hash(struct str text, struct buf *out)
{
	unsigned char hash[HASH_SHA256_BYTES];

	hash_sha256(text, hash);
	for (size_t i = 0; i < sizeof(hash); i++)
		buf_printf(out, "%02x", hash[i]);
}

/* An entry is named by the hash of the path, and contains "HASH PATH\n" with that of the text. */
static int entry_of(environment *variable, const char *path, struct buf *entry, struct error *err)
{
	AUTO_BUF real = BUF(BUF_MAX_SMALL);
	int failed = store_directory(variable, entry, err);

	trusted_path(path, &real);
	buf_text(entry, FOLDER "/");
	put_hash(buf_view(&real), entry);
	return failed;
}

static void put_content(const char *path, struct str text, struct buf *out)
{
	put_hash(text, out);
	buf_char(out, ' ');
	trusted_path(path, out);
	buf_char(out, '\n');
}

enum trusted { TRUSTED_NOT, TRUSTED_CHANGED, TRUSTED_YES };

/* Is the file as it was when the user trusted it? */
static enum trusted trusted_look(environment *variable, const char *path, struct str text)
{
	AUTO_BUF entry = BUF(BUF_MAX_SMALL), is = BUF(ENTRY_MAX), wanted = BUF(ENTRY_MAX);
	enum trusted trusted = TRUSTED_NOT;

	put_content(path, text, &wanted);
	if (!entry_of(variable, path, &entry, ERROR_IGNORED) &&
	    !file_read("entry", buf_cstr(&entry), &is, ERROR_IGNORED)) {
		trusted = str_eq(buf_view(&is), buf_view(&wanted)) ? TRUSTED_YES : TRUSTED_CHANGED;
	}
	return trusted;
}

int trusted_add(environment *variable, const struct config_file *f, struct error *err)
{
	AUTO_BUF folder = BUF(BUF_MAX_SMALL), entry = BUF(BUF_MAX_SMALL), text = BUF(ENTRY_MAX);

	if (store_directory(variable, &folder, err))
		return -1;
	buf_text(&folder, FOLDER);
	if (store_make_directories(&folder, "set XDG_STATE_HOME to use another", err) ||
	    entry_of(variable, f->path, &entry, err))
		return -1;
	put_content(f->path, f->text, &text);
	return new_file_put(&(struct new_file_conf){.path = buf_cstr(&entry), .replace = true},
	                    buf_view(&text), err);
}

/* ---- what a file may set ---- */

bool config_is_in_file(const char *env)
{
	return strchr(env, '#') && !strstr(env, "://") && !target_command(env) &&
	       strncmp(env, "builtin:", 8) != 0;
}

/* A target: a name of this file or of another, which has a class of its own, or a place. */
static enum opt_class class_of_target(const struct opt *o, const char *text)
{
	bool named = o->type == OPTION_STRING && (!strchr(text, ':') || config_is_in_file(text));

	return target_command(text)                                   ? OPT_POWER
	       : named || str_starts(str_from(text), STR("builtin:")) ? OPT_HARMLESS
	                                                              : o->class;
}

/* ${VAR} may be a secret, and @FILE any file. A report without ':' is printed. */
static enum opt_class class_of_text(const struct opt *o, const char *text)
{
	if (o->class == OPT_NEVER)
		return OPT_NEVER;
	if (strstr(text, "${") || (text[0] == '@' && strchr(o->arg, '@')))
		return OPT_POWER;
	if (!strcmp(o->arg, "TARGET"))
		return class_of_target(o, text);
	if (!strcmp(o->arg, "REPORT") && strchr(text, ':'))
		return OPT_POWER;
	return !strcmp(o->arg, "SOURCE") && str_starts(str_from(text), STR("tool:")) ? OPT_REACH
	                                                                             : o->class;
}

static enum opt_class class_of(const struct opt *o, const cJSON *value)
{
	enum opt_class worst = OPT_HARMLESS;
	const cJSON *each;

	if (cJSON_IsFalse(value))
		return OPT_HARMLESS; /* as without the setting */
	if (!o->arg)
		return o->class;
	if (cJSON_IsString(value))
		return class_of_text(o, value->valuestring);
	if (cJSON_IsObject(value)) {
		char *text = cJSON_PrintUnformatted(value);

		worst = class_of_text(o, text);
		cJSON_free(text);
		return worst;
	}
	cJSON_ArrayForEach (each, value) {
		enum opt_class class =
			cJSON_IsString(each) ? class_of_text(o, each->valuestring) : o->class;

		worst = class > worst ? class : worst;
	}
	return value && value->child ? worst : o->class;
}

/* Commands that look read no file that a clone names: it may be a pipe, or any file of the user. */
enum opt_class config_class(const struct command *cmd, const struct opt *o, const cJSON *value)
{
	enum opt_class class = class_of(o, value);
	bool reads = o->arg && strstr(o->arg, "FILE");

	return cmd->network || (class == OPT_HARMLESS && !reads) ? class : OPT_NEVER;
}

enum opt_class config_class_as(const char *arg, const cJSON *value)
{
	return class_of(&(struct opt){.type = OPTION_STRING, .arg = arg, .class = OPT_REACH},
	                value);
}

int config_permit(const struct context *c, const struct config_file *f, struct keyed *k,
                  enum opt_class class)
{
	enum trusted trusted;
	AUTO_BUF path = BUF(BUF_MAX_SMALL);

	if (f->named || class == OPT_HARMLESS)
		return 0;
	if (class == OPT_NEVER) {
		keyed_fail(k,
		           "\"%s\" is not taken from a file that was found: use \1%s\2, or name "
		           "the file with --config",
		           k->key, k->key);
		k->err->kind = FAIL_USAGE;
		return -1;
	}
	trusted = trusted_look(c->variable, f->path, f->text);
	if (trusted == TRUSTED_YES)
		return 0;
	config_shell_word(&path, f->path);
	keyed_fail(
		k, "\"%s\" needs trust (%s)%s: rolldbg trust %s", k->key, option_class_name(class),
		trusted == TRUSTED_CHANGED ? ", and the file has changed since it was trusted" : "",
		buf_cstr(&path));
	k->err->kind = FAIL_USAGE;
	return -1;
}
