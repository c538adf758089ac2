/* Configurations of trainers: see trainer.h. */
#include "rollout/trainer.h"

#include "base/text.h"
#include "json/scan.h"

struct config_lines {
	const char *name;
	int64_t line;
	struct trainer_settings *settings;
	void (*skipped)(void *ctx, int64_t line, struct str text);
	void *ctx;
};

/* The index of a number of that name; trainer_numbers_count: none. */
static size_t number_named(struct str key)
{
	size_t i = 0;

	while (i < trainer_numbers_count && !str_is(key, trainer_numbers[i].name))
		i++;
	return i;
}

static bool is_setting(struct str key)
{
	return str_is(key, "eval_strategy") || number_named(key) < trainer_numbers_count;
}

static bool is_null(struct str value)
{
	return !value.n || str_is(value, "null") || str_is(value, "None") || str_is(value, "~");
}

/* A staleness of 0 is used as 1. */
static int set(const struct config_lines *c, struct str key, struct str value, struct error *err)
{
	size_t i = number_named(key);
	uint64_t number;

	if (str_is(key, "eval_strategy"))
		c->settings->evaluates = trainer_evaluates(value);
	if (i == trainer_numbers_count || is_null(value))
		return 0;
	bool staleness = str_is(key, "max_staleness");
	if (!text_u64(value, &number) || (number == 0 && !staleness)) {
		return error_set(err, FAIL_INPUT,
		                 "%s:%lld: %.*s: expected a whole number from 1, got '%.*s'",
		                 c->name, (long long)c->line, STR_ARG(key), STR_ARG(value));
	}
	*trainer_number_at(c->settings, i) = number ? number : 1;
	return 0;
}

/* ---- JSON ---- */

static int read_object(struct config_lines *c, struct str text, struct error *err)
{
	struct json_member m;
	struct json_fault fault;
	size_t cursor = 0;

	if (json_validate(text, &fault))
		return error_set(err, FAIL_INPUT, "%s: not JSON: %s", c->name, fault.why);
	text = text_trim(text);
	while (json_next_member(text, &cursor, &m)) {
		bool string = json_type(m.value) == JSON_STRING;

		c->line = 1;
		for (const char *p = text.p; p < m.value.p; p++)
			c->line += *p == '\n';
		if (set(c, m.key, string ? json_inner(m.value) : m.value, err))
			return -1;
	}
	return 0;
}

/* ---- YAML ---- */

/* Up to a comment, without quotes. */
static struct str scalar(struct str s)
{
	s = text_trim(s);
	if (s.n && (s.p[0] == '"' || s.p[0] == '\'')) {
		const char *end = memchr(s.p + 1, s.p[0], s.n - 1);

		return end ? (struct str){s.p + 1, (size_t)(end - s.p) - 1} : s;
	}
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '#' && (i == 0 || s.p[i - 1] == ' ' || s.p[i - 1] == '\t'))
			s.n = i;
	return text_trim(s);
}

static int read_line(struct config_lines *c, struct str line, struct error *err)
{
	struct str bare = text_trim(line);
	const char *colon = memchr(bare.p, ':', bare.n);
	bool item = bare.n > 1 && bare.p[0] == '-' && bare.p[1] == ' ';
	bool nested = item || (line.n && (line.p[0] == ' ' || line.p[0] == '\t'));

	if (!bare.n || bare.p[0] == '#' || str_is(bare, "---") || str_is(bare, "..."))
		return 0;
	const char *start = bare.p + (item ? 2 : 0);
	struct str key = colon ? scalar((struct str){start, (size_t)(colon - start)}) : bare;
	if (nested || !colon) {
		if (is_setting(key) || !nested)
			c->skipped(c->ctx, c->line, bare);
		return 0;
	}
	struct str value = {colon + 1, (size_t)(bare.p + bare.n - colon) - 1};
	return set(c, key, scalar(value), err);
}

int trainer_config_read(struct str text, const char *name, struct trainer_settings *s,
                        void (*skipped)(void *ctx, int64_t line, struct str text), void *ctx,
                        struct error *err)
{
	struct config_lines c = {.name = name, .settings = s, .skipped = skipped, .ctx = ctx};
	struct str first = text_trim(text);

	if (first.n && first.p[0] == '{')
		return read_object(&c, text, err);
	while (text.n) {
		c.line++;
		if (read_line(&c, str_cut(&text, '\n'), err))
			return -1;
	}
	return 0;
}
