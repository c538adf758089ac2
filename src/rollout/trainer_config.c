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
	struct buf path; /* of the present key, as in grpo.num_prompts_per_step */
	struct {
		size_t column, path; /* its length, with the key */
	} levels[32];
	size_t depth;
};

/* True if settings may be below it. */
static bool is_section(struct str path)
{
	for (size_t i = 0; i < trainer_rows_count; i++) {
		const char *of = trainer_rows[i].path;

		if (str_starts(str_from(of), path) && of[path.n] == '.')
			return true;
	}
	return false;
}

static bool is_null(struct str value)
{
	return !value.n || str_is(value, "null") || str_is(value, "None") || str_is(value, "~");
}

/* A staleness of 0 is used as 1. A limit of sessions that was switched off is no number of sessions. */
static int set_number(const struct config_lines *c, uint64_t *at, struct str value,
                      struct error *err)
{
	uint64_t number;
	bool may_be_0 = at == &c->settings->max_staleness;

	if (is_null(value) && at != &c->settings->max_concurrent) {
		if (at == &c->settings->eval_prompts)
			*at = TRAINER_NEVER;
		return 0;
	}
	if (!text_u64(value, &number) || (number == 0 && !may_be_0)) {
		return error_set(err, FAIL_INPUT,
		                 "%s:%lld: %s: expected a whole number from 1, got '%.*s'", c->name,
		                 (long long)c->line, buf_cstr(&c->path), STR_ARG(value));
	}
	*at = number ? number : 1;
	return 0;
}

/* `text`: what to show if it is not read. */
static int set_row(const struct config_lines *c, size_t row, struct str value, struct str text,
                   struct error *err)
{
	const struct trainer_row *r = &trainer_rows[row];
	struct trainer_settings *s = c->settings;
	uint64_t *at = trainer_setting_at(s, row);
	bool any = r->kind == TRAINER_ANY;

	if ((!at && !str_is(value, "1") && !is_null(value)) || str_starts(value, STR("${")) ||
	    (!any && s->kind_given && s->kind != r->kind)) {
		c->skipped(c->ctx, c->line, text);
		return 0;
	}
	s->kind = any ? s->kind : r->kind;
	if (at && r->is_switch)
		*at = trainer_switch(value);
	return !at || r->is_switch ? 0 : set_number(c, at, value, err);
}

/* The key is the end of the path. */
static int set_member(const struct config_lines *c, struct str key, struct str value,
                      struct str text, struct error *err)
{
	struct str path = buf_view(&c->path), above = {path.p, path.n - key.n};
	bool elsewhere = false;

	for (size_t i = 0; i < trainer_rows_count; i++) {
		if (str_is(path, trainer_rows[i].path))
			return set_row(c, i, value, text, err);
		elsewhere |= str_is(key, trainer_rows[i].path);
	}
	above.n -= above.n ? 1 : 0;
	bool merged = str_is(key, "<<") && is_section(above);
	bool hidden =
		is_section(path) && value.n && (value.p[0] == '*' || memchr(value.p, '{', value.n));
	if ((elsewhere && c->settings->kind < TRAINER_NEMO_RL) || hidden || merged ||
	    str_is(path, "defaults"))
		c->skipped(c->ctx, c->line, text);
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
		buf_set(&c->path, m.key);
		if (set_member(c, m.key, string ? json_inner(m.value) : m.value, m.key, err))
			return -1;
	}
	return 0;
}

/* ---- YAML and TOML ---- */

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

/* A key that begins in this column ends all that began there or behind it. */
static void add_key(struct config_lines *c, size_t column, struct str key)
{
	while (c->depth && c->levels[c->depth - 1].column >= column)
		c->depth--;
	buf_cut(&c->path, c->depth ? c->levels[c->depth - 1].path : 0);
	if (c->path.n)
		buf_char(&c->path, '.');
	buf_str(&c->path, key);
	if (c->depth < ARRAY_LEN(c->levels)) {
		c->levels[c->depth].column = column;
		c->levels[c->depth++].path = c->path.n;
	}
}

static int read_yaml(struct config_lines *c, struct str line, struct error *err)
{
	struct str bare = text_trim(line), rest = bare;
	size_t column = 0;

	if (!bare.n || bare.p[0] == '#' || str_is(bare, "---") || str_is(bare, "..."))
		return 0;
	while (line.p[column] == ' ' || line.p[column] == '\t')
		column++;
	for (; str_starts(rest, STR("- ")); rest = str_skip(rest, 2), column += 2)
		add_key(c, column + 1, STR("-"));
	const char *colon = memchr(rest.p, ':', rest.n);
	if (!colon) {
		if (!column)
			c->skipped(c->ctx, c->line, bare);
		return 0;
	}
	struct str key = scalar((struct str){rest.p, (size_t)(colon - rest.p)});
	add_key(c, column, key);
	rest = str_skip(rest, (size_t)(colon - rest.p) + 1);
	return set_member(c, key, scalar(rest), bare, err);
}

static int read_toml(struct config_lines *c, struct str line, struct error *err)
{
	struct str text = text_trim(line), rest = text, bare = scalar(line);

	if (str_starts(bare, STR("[")) && str_ends(bare, STR("]"))) {
		c->depth = 0;
		add_key(c, 0, text_trim((struct str){bare.p + 1, bare.n - 2}));
		return 0;
	}
	if (!text.n || text.p[0] == '#' || !memchr(text.p, '=', text.n))
		return 0;
	struct str key = scalar(str_cut(&rest, '='));
	add_key(c, 1, key);
	return set_member(c, key, scalar(rest), text, err);
}

int trainer_config_read(struct str text, const char *name, struct trainer_settings *s,
                        void (*skipped)(void *ctx, int64_t line, struct str text), void *ctx,
                        struct error *err)
{
	struct config_lines c = {.name = name,
	                         .settings = s,
	                         .skipped = skipped,
	                         .ctx = ctx,
	                         .path = BUF(BUF_MAX_SMALL)};
	bool toml = str_ends(str_from(name), STR(".toml"));
	struct str first = text_trim(text);
	int failed = 0;

	if (!toml && first.n && first.p[0] == '{') {
		failed = read_object(&c, text, err);
		text.n = 0;
	}
	while (!failed && text.n) {
		struct str line = str_cut(&text, '\n');

		c.line++;
		failed = toml ? read_toml(&c, line, err) : read_yaml(&c, line, err);
	}
	buf_release(&c.path);
	return failed;
}
