/* Sets of pointer patterns: parsed once, then matched with a list of open positions. */
#include "json/paths.h"

#include "base/mem.h"
#include "json/lex.h"
#include "json/paths_internal.h"
#include "json/scan.h"

#include <stdlib.h>

enum token_kind { TOKEN_TEXT, TOKEN_ANY, TOKEN_DEEP, TOKEN_END };

struct path_token {
	enum token_kind kind;
	size_t at, n; /* in json_paths.text */
};

struct json_paths {
	bool wild;
	struct buf text;
	/* the tokens of all patterns, each pattern followed by TOKEN_END */
	struct path_token *tokens;
	size_t tokens_n;
};

struct json_paths *json_paths_new(bool wild)
{
	struct json_paths *p = mem_new(sizeof(*p));

	*p = (struct json_paths){.wild = wild, .text = BUF(BUF_MAX_MESSAGE)};
	return p;
}

void json_paths_free(struct json_paths *p)
{
	if (!p)
		return;
	buf_release(&p->text);
	free(p->tokens);
	free(p);
}

bool paths_are_wild(const struct json_paths *p)
{
	return p->wild;
}

static void add_token(struct json_paths *p, struct path_token t)
{
	p->tokens = mem_grow(p->tokens, p->tokens_n, sizeof(*p->tokens));
	p->tokens[p->tokens_n++] = t;
}

static bool add_raw_token(struct json_paths *p, struct str raw)
{
	struct path_token t = {.kind = TOKEN_TEXT, .at = p->text.n};

	if (p->wild && str_is(raw, "*"))
		t.kind = TOKEN_ANY;
	else if (p->wild && str_is(raw, "**"))
		t.kind = TOKEN_DEEP;
	else if (!lex_token(raw, p->wild, &p->text))
		return false;
	t.n = p->text.n - t.at;
	add_token(p, t);
	return true;
}

int json_paths_add(struct json_paths *p, struct str pointer, struct error *err)
{
	struct str rest = pointer;
	size_t before = p->tokens_n;

	while (rest.n > 0) {
		bool good = rest.p[0] == '/' && add_raw_token(p, lex_first_token(&rest));

		if (!good) {
			p->tokens_n = before;
			return error_set(err, FAIL_INPUT, "'%.*s' is not a JSON Pointer: %s",
			                 STR_ARG(pointer),
			                 pointer.p[0] != '/' ? "it must start with '/'"
			                 : p->wild ? "write '~' as ~0, '/' as ~1 and '*' as ~2"
			                           : "write '~' as ~0 and '/' as ~1");
		}
	}
	if (p->text.full || p->tokens_n >= UINT32_MAX)
		return error_set(err, FAIL_INPUT, "too many JSON Pointers");
	add_token(p, (struct path_token){.kind = TOKEN_END});
	return 0;
}

void path_states_release(struct path_states *s)
{
	free(s->at);
}

static void push_state(struct path_states *s, uint32_t at)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 64;
		s->at = mem_resize(s->at, s->cap, sizeof(*s->at));
	}
	s->at[s->n++] = at;
}

static bool is_open(const struct path_states *s, size_t begin, uint32_t at)
{
	for (size_t i = begin; i < s->n; i++)
		if (s->at[i] == at)
			return true;
	return false;
}

/* Opens a position, and also the next one after "**", which may match nothing. */
static bool open_at(const struct json_paths *paths, struct path_states *s, size_t begin,
                    uint32_t at)
{
	while (paths->tokens[at].kind != TOKEN_END) {
		if (!is_open(s, begin, at))
			push_state(s, at);
		if (paths->tokens[at].kind != TOKEN_DEEP)
			return false;
		at++;
	}
	return true;
}

bool paths_root(const struct json_paths *paths, struct path_states *s)
{
	bool picked = false, begins = true;
	size_t begin = s->n, count = paths ? paths->tokens_n : 0;

	for (size_t i = 0; i < count; i++) {
		if (begins)
			picked = open_at(paths, s, begin, (uint32_t)i) || picked;
		begins = paths->tokens[i].kind == TOKEN_END;
	}
	return picked;
}

static bool fits(const struct json_paths *paths, const struct path_token *t, struct str text)
{
	return t->kind == TOKEN_ANY ||
	       (t->kind == TOKEN_TEXT &&
	        str_eq(text, (struct str){buf_view(&paths->text).p + t->at, t->n}));
}

bool paths_child(const struct json_paths *paths, struct path_states *s, size_t from, size_t count,
                 struct str token)
{
	size_t begin = s->n;
	bool picked = false;

	for (size_t i = from; i < from + count; i++) {
		uint32_t at = s->at[i];
		const struct path_token *t = &paths->tokens[at];

		if (t->kind == TOKEN_DEEP)
			picked = open_at(paths, s, begin, at) || picked;
		else if (fits(paths, t, token))
			picked = open_at(paths, s, begin, at + 1) || picked;
	}
	return picked;
}

/* ---- pointers as text ---- */

void json_pointer_add(struct buf *pointer, struct str token)
{
	size_t from = 0;

	buf_char(pointer, '/');
	for (size_t i = 0; i < token.n; i++) {
		if (token.p[i] == '~' || token.p[i] == '/') {
			buf_add(pointer, token.p + from, i - from);
			buf_text(pointer, token.p[i] == '~' ? "~0" : "~1");
			from = i + 1;
		}
	}
	buf_str(pointer, str_skip(token, from));
}

void json_pointer_add_key(struct buf *pointer, struct str key)
{
	AUTO_BUF text = BUF(2 * key.n + 8);

	if (!json_has_escape(key)) {
		json_pointer_add(pointer, key);
		return;
	}
	json_decode_key(key, &text);
	json_pointer_add(pointer, buf_view(&text));
}

bool json_pattern_fits(struct str pattern, struct str pointer)
{
	struct json_paths *paths = json_paths_new(true);
	struct path_states states = {.n = 0};
	AUTO_BUF token = BUF(pointer.n);
	struct error ignored;
	bool fits = json_paths_add(paths, pattern, &ignored) == 0 && paths_root(paths, &states);
	size_t from = 0;

	while (pointer.n) {
		size_t count = states.n - from;

		buf_clear(&token);
		fits = lex_token(lex_first_token(&pointer), false, &token) &&
		       paths_child(paths, &states, from, count, buf_view(&token));
		from += count;
	}
	path_states_release(&states);
	json_paths_free(paths);
	return fits;
}
