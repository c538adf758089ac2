/* Values in configuration files: see config_values.h. */
#include "cmd/options/config_values.h"

#include "base/text.h"
#include "recording/redact/credentials.h"
#include "recording/words.h"

static void note(struct config_variables *used, const char *name, size_t at)
{
	if (used && used->count < ARRAY_LEN(used->name)) {
		used->at[used->count] = at;
		used->name[used->count++] = name;
	}
}

/* Expands the text between ${ and }. *used: the variable, if its value was. */
static int put_variable(struct keyed *k, environment *variable, struct str inner, struct buf *out,
                        const char **used)
{
	struct str name = str_starts(inner, STR("env:")) ? str_skip(inner, 4) : inner;
	const char *fallback = NULL;

	for (size_t i = 0; i + 1 < name.n && !fallback; i++) {
		if (name.p[i] == ':' && name.p[i + 1] == '-') {
			fallback = name.p + i + 2;
			name.n = i;
		}
	}
	const char *value = variable(arena_str(k->arena, name).p);
	if (value && (*value || !fallback)) {
		buf_text(out, value);
		*used = arena_str(k->arena, name).p;
		return 0;
	}
	if (fallback) {
		buf_str(out, (struct str){fallback, (size_t)(inner.p + inner.n - fallback)});
		return 0;
	}
	if (memchr(name.p, ':', name.n)) {
		return keyed_fail(k, "\"%s\": '${%.*s}' does not name a variable", k->key,
		                  STR_ARG(text_utf8_cut(inner, 60)));
	}
	return keyed_fail(k, "\"%s\": the variable %.*s is not set", k->key,
	                  STR_ARG(text_utf8_cut(name, 60)));
}

int config_expand(struct keyed *k, const cJSON *string, environment *variable, const char **out,
                  struct config_variables *used)
{
	const char *text = string->valuestring, *begin = text, *open, *name;
	struct buf result = BUF(BUF_MAX_MESSAGE);
	int failed = 0;

	tree_at(k, string);
	if (!cJSON_IsString(string) || !*text) {
		return keyed_expected(k, text ? "a non-empty string" : "a string");
	}

	while (!failed && (open = strstr(text, "${")) && strchr(open, '}')) {
		struct str inner = {open + 2, strcspn(open + 2, "}")};

		buf_str(&result, (struct str){text, (size_t)(open - text)});
		name = NULL;
		failed = put_variable(k, variable, inner, &result, &name);
		if (name) {
			note(used, name, (size_t)(inner.p - begin));
		}
		text = inner.p + inner.n + 1;
	}
	if (!failed) {
		buf_text(&result, text);
		*out = arena_str(k->arena, (struct str){buf_cstr(&result), result.n}).p;
	}
	buf_release(&result);
	return failed;
}

int config_expand_target(struct keyed *k, const cJSON *string, environment *variable,
                         const char **out, struct config_variables *secret)
{
	struct config_variables used = {.count = 0};
	const char *text = string->valuestring, *host;

	if (config_expand(k, string, variable, out, &used)) {
		return -1;
	}
	host = target_command(text) ? NULL : strstr(text, "://");
	for (size_t i = 0; i < used.count; i++) {
		bool behind = host && text + used.at[i] > host + 3 + strcspn(host + 3, "/?#");

		if (behind || credentials_named(str_from(used.name[i]))) {
			note(secret, used.name[i], used.at[i]);
		}
	}
	return 0;
}

void config_shell_word(struct buf *out, const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_-+=,./:@%";

	if (*word && strspn(word, safe) == strlen(word)) {
		buf_text(out, word);
		return;
	}
	buf_char(out, '\'');
	for (; *word; word++) {
		buf_text(out, *word == '\'' ? "'\\''" : "");
		if (*word != '\'') {
			buf_char(out, *word);
		}
	}
	buf_char(out, '\'');
}
