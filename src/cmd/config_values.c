/* Values in configuration files: see config_values.h. */
#include "cmd/config_values.h"

#include "base/text.h"

static void note(struct keyed *k, struct config_variables *used, struct str name)
{
	if (used && used->count < ARRAY_LEN(used->name)) {
		used->name[used->count++] = arena_str(k->arena, name).p;
	}
}

/* Expands the text between ${ and }. */
static int put_variable(struct keyed *k, environment *variable, struct str inner, struct buf *out,
                        struct config_variables *used)
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
		note(k, used, name);
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

int config_expand(struct keyed *k, environment *variable, const char **out,
                  struct config_variables *used)
{
	const char *text, *open;
	struct buf result = BUF(BUF_MAX_MESSAGE);
	int failed = keyed_name(k, &text);

	while (!failed && (open = strstr(text, "${")) && strchr(open, '}')) {
		struct str inner = {open + 2, strcspn(open + 2, "}")};

		buf_str(&result, (struct str){text, (size_t)(open - text)});
		failed = put_variable(k, variable, inner, &result, used);
		text = inner.p + inner.n + 1;
	}
	if (!failed) {
		buf_text(&result, text);
		*out = arena_str(k->arena, (struct str){buf_cstr(&result), result.n}).p;
	}
	buf_release(&result);
	return failed;
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
