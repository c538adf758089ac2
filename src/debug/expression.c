/* Parses expressions: see expression.h. An operator-precedence parser with an explicit stack; the
   result is in postfix order. */
#include "debug/expression_internal.h"

#include "base/names.h"
#include "base/text.h"
#include "check/check.h"

#include <stdlib.h>

const struct named_fact_row named_facts[FACTS_NAMED] = {
#define NAMED_FACT(id, name, before, meaning) {name, before, meaning},
#include "debug/facts.def"
#undef NAMED_FACT
};

struct expression_parser {
	struct str text;
	size_t at;    /* after the token */
	size_t begin; /* start of the token */
	struct str token;
	enum { TOKEN_END, TOKEN_WORD, TOKEN_TEXT, TOKEN_OPERATOR } kind;
	struct expression *out;
	enum term_kind waiting[EXPRESSION_TERMS]; /* stack of operators and TERM_OPEN */
	size_t waiting_count;
	struct error *err;
};

static int fail(struct expression_parser *p, size_t at, const char *what)
{
	p->begin = at;
	return error_set(p->err, FAIL_USAGE, "%s", what);
}

/* ---- tokens ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_operator(char c)
{
	return c && strchr("()!<>=~&|", c) != NULL;
}

/* 2 for a two-byte operator, otherwise 1. */
static size_t operator_length(struct str rest)
{
	static const char *const two[] = {"==", "!=", "<=", ">=", "&&", "||"};

	for (size_t i = 0; i < ARRAY_LEN(two); i++)
		if (str_starts(rest, str_from(two[i])))
			return 2;
	return 1;
}

static int next_text(struct expression_parser *p)
{
	struct str rest = str_skip(p->text, p->at);
	struct json_fault fault;
	size_t used;

	if (json_validate_first(rest, &used, &fault))
		return fail(p, p->at, "unterminated or invalid JSON string");
	p->kind = TOKEN_TEXT;
	p->token = (struct str){rest.p, used};
	p->at += used;
	return 0;
}

static int next(struct expression_parser *p)
{
	while (p->at < p->text.n && is_blank(p->text.p[p->at]))
		p->at++;
	struct str rest = str_skip(p->text, p->at);
	size_t n = 0;

	p->begin = p->at;
	if (!rest.n) {
		p->kind = TOKEN_END;
		p->token = STR("");
		return 0;
	}
	if (rest.p[0] == '"')
		return next_text(p);
	p->kind = is_operator(rest.p[0]) ? TOKEN_OPERATOR : TOKEN_WORD;
	if (p->kind == TOKEN_OPERATOR)
		n = operator_length(rest);
	while (p->kind == TOKEN_WORD && n < rest.n && !is_blank(rest.p[n]) &&
	       !is_operator(rest.p[n])) {
		n++;
	}
	p->token = (struct str){rest.p, n};
	p->at += n;
	return 0;
}

/* ---- paths and values ---- */

static bool fact_of(struct str name, enum named_fact *out)
{
	for (size_t i = 0; i < FACTS_NAMED; i++) {
		if (str_is(name, named_facts[i].name)) {
			*out = (enum named_fact)i;
			return true;
		}
	}
	return false;
}

static size_t name_length(struct str text)
{
	size_t n = 0;

	while (n < text.n && text.p[n] != '.' && text.p[n] != '/')
		n++;
	return n;
}

/* ".class.code" becomes the pointer "/class/code"; text that begins with a slash is kept. */
static struct str pointer_of(struct str rest, struct arena *arena)
{
	struct buf pointer = BUF(BUF_MAX_MESSAGE);

	if (rest.n && rest.p[0] == '.')
		rest = str_skip(rest, 1);
	if (!rest.n || rest.p[0] == '/')
		return rest;
	buf_char(&pointer, '/');
	for (size_t i = 0; i < rest.n; i++)
		buf_char(&pointer, rest.p[i] == '.' ? '/' : rest.p[i]);
	return buf_keep(&pointer, arena);
}

static int no_such_fact(struct str name, struct error *err)
{
	const char *names[FACTS_NAMED];

	for (size_t i = 0; i < FACTS_NAMED; i++)
		names[i] = named_facts[i].name;
	error_set(err, FAIL_USAGE, "unknown name '%.*s'", STR_ARG(name));
	return names_suggest(err, name, names, FACTS_NAMED);
}

/* Refuses a misspelt member of `error`, whose members are known. */
static int check_member(const struct path *p, struct error *err)
{
	const char *names[32];
	size_t n = 0;
	struct str member = str_skip(p->pointer, 1);

	if (p->fact != FACT_ERROR || !p->pointer.n)
		return 0;
	member.n = name_length(member);
	for (size_t i = 0; i < line_parts_count && n < ARRAY_LEN(names); i++) {
		if (line_parts[i].key == KEY_ERROR) {
			names[n++] = line_parts[i].name;
			if (str_is(member, line_parts[i].name))
				return 0;
		}
	}
	error_set(err, FAIL_USAGE, "'error' has no member '%.*s'", STR_ARG(member));
	return names_suggest(err, member, names, n);
}

int path_parse(struct str text, struct arena *arena, struct path *out, size_t *at,
               struct error *err)
{
	size_t n = name_length(text);
	struct str name = {text.p, n}, rest = str_skip(text, n);

	*at = 0;
	*out = (struct path){.fact = FACT_STATE};
	if (n && !fact_of(name, &out->fact))
		return no_such_fact(name, err);
	if (!n && str_is(rest, ""))
		return error_set(err, FAIL_USAGE, "expected a name or a JSON Pointer");
	out->pointer = pointer_of(rest, arena);
	*at = n;
	return check_member(out, err);
}

static bool is_number(struct str word)
{
	double unused;
	struct json_fault fault;

	return !json_validate(word, &fault) && json_double(word, &unused);
}

/* Numbers, true, false and null are JSON literals; any other word is a string. */
static struct str literal_of(struct expression_parser *p)
{
	struct arena *arena = &p->out->arena;
	struct buf quoted = BUF(BUF_MAX_MESSAGE);

	if (p->kind == TOKEN_TEXT || is_number(p->token) || str_is(p->token, "true") ||
	    str_is(p->token, "false") || str_is(p->token, "null")) {
		return arena_str(arena, p->token);
	}
	json_quote(&quoted, p->token);
	return buf_keep(&quoted, arena);
}

/* ---- words that must be known ---- */

#define WORDS_MAX 64

/* The words of a closed list that the left side can equal; returns their number, 0: any word. */
static size_t words_of(const struct path *left, const char **what, const char *names[WORDS_MAX])
{
	size_t n = 0;

	if (left->fact == FACT_OUTCOME) {
		*what = "outcome";
		for (; n + 1 < outcome_count && n < WORDS_MAX; n++)
			names[n] = outcome_name((enum outcome)(n + 1));
	} else if (left->fact == FACT_ERROR && str_is(left->pointer, "/class")) {
		*what = "error class";
		for (; n + 1 < error_class_count && n < WORDS_MAX; n++)
			names[n] = error_class_name((enum error_class)(n + 1));
	} else if (left->fact == FACT_EFFECT) {
		*what = "effect";
		names[n++] = effect_name(EFFECT_CHANGED);
		names[n++] = effect_name(EFFECT_UNCHANGED);
		names[n++] = effect_name(EFFECT_UNKNOWN);
	}
	return n;
}

/* Refuses a misspelt word of a closed list: a breakpoint on it would never stop. */
static int check_word(struct expression_parser *p, const struct test *t)
{
	bool equality = t->compare == COMPARE_EQUAL || t->compare == COMPARE_UNEQUAL;
	const char *names[WORDS_MAX], *what;

	if (p->kind != TOKEN_WORD || !equality || str_is(p->token, "null"))
		return 0;
	if (t->left.fact == FACT_RULE)
		return check_find(p->token) ? 0 : check_unknown(p->token, p->err);
	size_t n = words_of(&t->left, &what, names);
	for (size_t i = 0; i < n; i++)
		if (str_is(p->token, names[i]))
			return 0;
	if (!n)
		return 0;
	error_set(p->err, FAIL_USAGE, "unknown %s '%.*s'", what, STR_ARG(p->token));
	return names_suggest(p->err, p->token, names, n);
}

/* ---- tests ---- */

static int take_term(struct expression_parser *p, const struct term *term)
{
	if (p->out->count == EXPRESSION_TERMS)
		return fail(p, p->begin, "the expression is too long");
	p->out->terms[p->out->count++] = *term;
	return 0;
}

static bool compare_of(struct str token, enum compare *out)
{
	static const char *const spelled[] = {
		[COMPARE_EQUAL] = "==", [COMPARE_UNEQUAL] = "!=", [COMPARE_LESS] = "<",
		[COMPARE_MOST] = "<=",  [COMPARE_MORE] = ">",     [COMPARE_LEAST] = ">=",
		[COMPARE_GLOB] = "~"};

	for (size_t i = COMPARE_EQUAL; i < ARRAY_LEN(spelled); i++) {
		if (str_is(token, spelled[i])) {
			*out = (enum compare)i;
			return true;
		}
	}
	return false;
}

static int read_path(struct expression_parser *p, struct path *out)
{
	size_t at;

	if (path_parse(arena_str(&p->out->arena, p->token), &p->out->arena, out, &at, p->err)) {
		p->begin += at;
		return -1;
	}
	return next(p);
}

/* Reads the right side of a comparison, starting with the current token. */
static int read_value(struct expression_parser *p, struct test *t)
{
	enum named_fact fact;
	size_t n = name_length(p->token);

	if (p->kind == TOKEN_END || p->kind == TOKEN_OPERATOR)
		return fail(p, p->begin, "expected a value");
	if (p->kind == TOKEN_WORD && n < p->token.n &&
	    fact_of((struct str){p->token.p, n}, &fact)) {
		t->right_is_path = true;
		return read_path(p, &t->right);
	}
	if (check_word(p, t))
		return -1;
	t->literal = literal_of(p);
	return next(p);
}

/* `changed` accepts a pointer into the state. */
static int read_changed(struct expression_parser *p, struct test *t)
{
	struct path member;
	size_t begin = p->begin;

	if (p->kind != TOKEN_WORD || str_is(p->token, "if"))
		return 0;
	if (read_path(p, &member))
		return -1;
	t->left.pointer = member.pointer;
	return member.fact == FACT_STATE ? 0 : fail(p, begin, "expected a pointer into the state");
}

static int read_comparison(struct expression_parser *p, struct test *t)
{
	bool named = p->kind == TOKEN_OPERATOR && compare_of(p->token, &t->compare);
	bool value = (p->kind == TOKEN_WORD && !str_is(p->token, "if")) || p->kind == TOKEN_TEXT;

	if (named)
		return next(p) || read_value(p, t);
	if (p->kind == TOKEN_OPERATOR && str_is(p->token, "="))
		return fail(p, p->begin, "'=' is not an operator; use '=='");
	if (value) {
		t->compare = COMPARE_EQUAL;
		return read_value(p, t);
	}
	return 0;
}

static int read_test(struct expression_parser *p)
{
	struct term term = {.kind = TERM_TEST};
	struct test *t = &term.test;

	if (p->kind != TOKEN_WORD) {
		return fail(p, p->begin,
		            p->kind == TOKEN_END ? "unexpected end of the expression"
		                                 : "expected a name");
	}
	if (is_number(p->token)) {
		t->left = (struct path){.fact = FACT_STEP, .pointer = STR("")};
		t->compare = COMPARE_EQUAL;
		return read_value(p, t) || take_term(p, &term);
	}
	if (read_path(p, &t->left))
		return -1;
	if (t->left.fact == FACT_CHANGED ? read_changed(p, t) : read_comparison(p, t))
		return -1;
	return take_term(p, &term);
}

/* ---- operators ---- */

static int push_operator(struct expression_parser *p, enum term_kind kind)
{
	if (p->waiting_count == EXPRESSION_TERMS)
		return fail(p, p->begin, "the expression is too long");
	p->waiting[p->waiting_count++] = kind;
	return next(p);
}

/* Emits the operators on the stack that bind at least as tightly. */
static int pop_operators(struct expression_parser *p, enum term_kind loosest)
{
	while (p->waiting_count && p->waiting[p->waiting_count - 1] >= loosest) {
		struct term term = {.kind = p->waiting[--p->waiting_count]};

		if (take_term(p, &term))
			return -1;
	}
	return 0;
}

static int close_parenthesis(struct expression_parser *p)
{
	if (pop_operators(p, TERM_IF))
		return -1;
	if (!p->waiting_count)
		return fail(p, p->begin, "unmatched ')'");
	p->waiting_count--;
	return next(p);
}

/* Reads a test, and "!" and "(" before it. */
static int read_operand(struct expression_parser *p)
{
	while (p->kind == TOKEN_OPERATOR && (str_is(p->token, "!") || str_is(p->token, "(")))
		if (push_operator(p, str_is(p->token, "!") ? TERM_NOT : TERM_OPEN))
			return -1;
	return read_test(p);
}

static int read_operator(struct expression_parser *p)
{
	static const struct {
		const char *spelled;
		enum term_kind kind;
	} operators[] = {{"&&", TERM_AND}, {"||", TERM_OR}, {"if", TERM_IF}};

	while (str_is(p->token, ")") && p->kind == TOKEN_OPERATOR)
		if (close_parenthesis(p))
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
		if (p->kind != TOKEN_TEXT && str_is(p->token, operators[i].spelled)) {
			return pop_operators(p, operators[i].kind) ||
			       push_operator(p, operators[i].kind) || read_operand(p);
		}
	}
	return p->kind == TOKEN_END ? 0 : fail(p, p->begin, "expected an operator");
}

static int parse(struct expression_parser *p)
{
	if (next(p) || read_operand(p))
		return -1;
	while (p->kind != TOKEN_END)
		if (read_operator(p))
			return -1;
	if (pop_operators(p, TERM_IF))
		return -1;
	return p->waiting_count ? fail(p, p->begin, "missing ')'") : 0;
}

int expression_parse(struct str text, struct expression **out, size_t *at, struct error *err)
{
	struct expression *e = mem_new(sizeof(*e));
	struct expression_parser p = {.out = e, .err = err};

	e->text = arena_str(&e->arena, text_trim(text));
	e->scratch = BUF(BUF_MAX_MESSAGE);
	e->other = BUF(BUF_MAX_MESSAGE);
	p.text = e->text;
	if (parse(&p)) {
		*at = p.begin;
		expression_free(e);
		return -1;
	}
	*out = e;
	return 0;
}

void expression_free(struct expression *e)
{
	if (e) {
		BUFS_RELEASE(&e->scratch, &e->other);
		arena_release(&e->arena);
		free(e);
	}
}

struct str expression_text(const struct expression *e)
{
	return e->text;
}
