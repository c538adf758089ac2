/* What a file of settings may set: see config_class.h. */
#include "cmd/options/config_class.h"

#include "base/text.h"
#include "cmd/options/config_values.h"
#include "cmd/options/trusted.h"
#include "recording/words.h"

bool config_is_in_file(const char *env)
{
	return strchr(env, '#') && !strstr(env, "://") && !target_command(env) &&
	       strncmp(env, "builtin:", 8) != 0;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* A target: a name of this file or of another, which has a class of its own, or a place. */
static enum opt_class class_of_target(const struct opt *o, const char *text)
{
	bool named = o->type == OPTION_STRING && (!strchr(text, ':') || config_is_in_file(text));

	return target_command(text)                ? OPT_POWER
	       : named || begins(text, "builtin:") ? OPT_HARMLESS
	                                           : o->class;
}

/* ${VAR} may be a secret, and @FILE any file. A report without ':' is printed. */
static enum opt_class class_of_text(const struct opt *o, const char *text)
{
	if (o->class == OPT_NEVER) {
		return OPT_NEVER;
	}
	if (strstr(text, "${") || (text[0] == '@' && strchr(o->arg, '@'))) {
		return OPT_POWER;
	}
	if (!strcmp(o->arg, "TARGET")) {
		return class_of_target(o, text);
	}
	if (!strcmp(o->arg, "REPORT") && strchr(text, ':')) {
		return OPT_POWER;
	}
	return !strcmp(o->arg, "SOURCE") && begins(text, "tool:") ? OPT_REACH : o->class;
}

static enum opt_class class_of(const struct opt *o, const cJSON *value)
{
	enum opt_class worst = OPT_HARMLESS;
	const cJSON *each;

	if (cJSON_IsFalse(value)) {
		return OPT_HARMLESS; /* as without the setting */
	}
	if (!o->arg) {
		return o->class;
	}
	if (cJSON_IsString(value)) {
		return class_of_text(o, value->valuestring);
	}
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

enum opt_class config_class_of_header(const cJSON *value)
{
	static const struct opt header = {
		.type = OPTION_STRING, .arg = "HEADER", .class = OPT_REACH};

	return class_of(&header, value);
}

enum opt_class config_class_of_target(const cJSON *value)
{
	static const struct opt target = {
		.type = OPTION_STRING, .arg = "TARGET", .class = OPT_REACH};

	return class_of(&target, value);
}

int config_permit(const struct context *c, const struct config_file *f, struct keyed *k,
                  enum opt_class class)
{
	enum trusted trusted;
	struct buf path = BUF(BUF_MAX_SMALL);

	if (f->named || class == OPT_HARMLESS) {
		return 0;
	}
	if (class == OPT_NEVER) {
		keyed_fail(k,
		           "\"%s\" is not taken from a file that was found: use \1%s\2, or name "
		           "the file with --config",
		           k->key, k->key);
		k->err->kind = FAIL_USAGE;
		return -1;
	}
	trusted = trusted_look(c->variable, f->path, f->text);
	if (trusted == TRUSTED_YES) {
		return 0;
	}
	config_shell_word(&path, f->path);
	keyed_fail(
		k, "\"%s\" needs trust (%s)%s: rolldbg trust %s", k->key, option_class_name(class),
		trusted == TRUSTED_CHANGED ? ", and the file has changed since it was trusted" : "",
		buf_cstr(&path));
	k->err->kind = FAIL_USAGE;
	buf_release(&path);
	return -1;
}
