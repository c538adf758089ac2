/* Evaluates expressions: see expression.h. */
#include "base/names.h"
#include "base/text.h"
#include "debug/expression_internal.h"
#include "json/canon.h"

/* ---- the facts ---- */

static struct str effect_word(enum effect e)
{
	return e == EFFECT_CHANGED     ? STR("\"changed\"")
	       : e == EFFECT_UNCHANGED ? STR("\"unchanged\"")
	                               : STR("\"unknown\"");
}

struct str fact_value(enum named_fact fact, const struct known *k)
{
	static const int keys[FACTS_NAMED] = {
		[FACT_TURN] = KEY_TURN,
		[FACT_STEP] = KEY_STEP,
		[FACT_TOOL_CALL] = KEY_TOOL_CALL,
		[FACT_BEFORE] = KEY_STATE,
		[FACT_OUTCOME] = KEY_OUTCOME,
		[FACT_ERROR] = KEY_ERROR,
		[FACT_OBSERVATION] = KEY_OBSERVATION,
		[FACT_STRUCTURED] = KEY_STRUCTURED,
		[FACT_RAW] = KEY_RAW,
		[FACT_REWARD] = KEY_REWARD,
		[FACT_TERMINATED] = KEY_TERMINATED,
		[FACT_TRUNCATED] = KEY_TRUNCATED,
		[FACT_ENV_STEPS] = KEY_ENV_STEPS,
		[FACT_MESSAGES] = KEY_MESSAGES,
		[FACT_LLM] = KEY_LLM,
		[FACT_META] = KEY_META,
	};
	const struct moment *m = k->moment;
	struct str call = m->line->value[KEY_TOOL_CALL];

	switch (fact) {
	case FACT_TOOL:
		return JSON_GET(call, "name");
	case FACT_ARGUMENTS:
		return JSON_GET(call, "arguments");
	case FACT_STATE:
		return m->after;
	case FACT_EFFECT:
	case FACT_CHANGED:
		return effect_word(m->effect);
	case FACT_RULE:
		return STR_NONE;
	default:
		return m->line->value[keys[fact]];
	}
}

struct str path_value(const struct path *p, const struct known *k, struct buf *scratch)
{
	struct str value = fact_value(p->fact, k);

	return p->pointer.n ? json_point(value, p->pointer, scratch) : value;
}

/* ---- tests ---- */

static bool by_order(enum compare c, double left, double right)
{
	return c == COMPARE_LESS   ? left < right
	       : c == COMPARE_MOST ? left <= right
	       : c == COMPARE_MORE ? left > right
	                           : left >= right;
}

static bool equal(struct str a, struct str b)
{
	double x, y;

	if (json_is_null(a) || json_is_null(b))
		return json_is_null(a) && json_is_null(b);
	if (json_double(a, &x) && json_double(b, &y))
		return !(x < y) && !(x > y);
	return json_equal(a, b);
}

static bool matches(struct str value, struct str pattern)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE), glob = BUF(BUF_MAX_MESSAGE);

	json_text_or_json(value, &text);
	json_text_or_json(pattern, &glob);
	return value.p && text_glob(buf_view(&glob), buf_view(&text));
}

static bool holds_alone(struct str value)
{
	double number;

	if (json_is_null(value) || str_is(value, "false") || str_is(value, "\"\""))
		return false;
	return !json_double(value, &number) || number < 0 || number > 0;
}

/* True if that member of the state changed; false if unknown. */
static bool member_changed(struct expression *e, struct str pointer, const struct known *k)
{
	const struct moment *m = k->moment;
	struct str before = m->line->type == LINE_STEP ? m->line->value[KEY_STATE] : STR_NONE;

	if (json_is_null(before) || json_is_null(m->after))
		return false;
	return !json_equal(json_point(before, pointer, &e->scratch),
	                   json_point(m->after, pointer, &e->other));
}

static bool rule_test(const struct test *t, const struct known *k)
{
	AUTO_BUF rule = BUF(BUF_MAX_SMALL);
	bool begins;

	json_decode(t->literal, &rule);
	begins = k->begins && k->begins(k->ctx, buf_view(&rule), k->moment);
	return t->compare == COMPARE_UNEQUAL ? !begins : begins;
}

static bool test(struct expression *e, const struct test *t, const struct known *k)
{
	double left, right;

	if (t->left.fact == FACT_CHANGED) {
		return t->left.pointer.n ? member_changed(e, t->left.pointer, k)
		                         : k->moment->effect == EFFECT_CHANGED;
	}
	if (t->left.fact == FACT_RULE)
		return rule_test(t, k);
	struct str a = path_value(&t->left, k, &e->scratch);
	struct str b = t->right_is_path ? path_value(&t->right, k, &e->other) : t->literal;
	if (t->compare == COMPARE_NONE)
		return holds_alone(a);
	if (t->compare == COMPARE_EQUAL || t->compare == COMPARE_UNEQUAL)
		return equal(a, b) == (t->compare == COMPARE_EQUAL);
	if (t->compare == COMPARE_GLOB)
		return matches(a, b);
	return json_double(a, &left) && json_double(b, &right) && by_order(t->compare, left, right);
}

bool expression_holds(struct expression *e, const struct known *k)
{
	bool stack[EXPRESSION_TERMS] = {false};
	size_t n = 0;

	for (size_t i = 0; i < e->count; i++) {
		const struct term *term = &e->terms[i];

		switch (term->kind) {
		case TERM_TEST:
			stack[n++] = test(e, &term->test, k);
			break;
		case TERM_NOT:
			stack[n - 1] = !stack[n - 1];
			break;
		case TERM_AND:
		case TERM_IF:
			n--;
			stack[n - 1] = stack[n - 1] && stack[n];
			break;
		case TERM_OR:
			n--;
			stack[n - 1] = stack[n - 1] || stack[n];
			break;
		case TERM_OPEN:
			break;
		}
	}
	return stack[0];
}

/* ---- about an expression ---- */

bool expression_is_before(const struct expression *e)
{
	bool before = true;

	for (size_t i = 0; i < e->count; i++) {
		const struct test *t = &e->terms[i].test;

		if (e->terms[i].kind == TERM_TEST) {
			before = before && named_facts[t->left.fact].before &&
			         (!t->right_is_path || named_facts[t->right.fact].before);
		}
	}
	return before;
}

bool expression_asks_rules(const struct expression *e)
{
	for (size_t i = 0; i < e->count; i++) {
		const struct test *t = &e->terms[i].test;

		if (e->terms[i].kind == TERM_TEST &&
		    (t->left.fact == FACT_RULE ||
		     (t->right_is_path && t->right.fact == FACT_RULE))) {
			return true;
		}
	}
	return false;
}

/* `changed` refers to a member of the state. */
static struct path plain_path(struct path p)
{
	p.fact = p.fact == FACT_CHANGED ? FACT_STATE : p.fact;
	return p;
}

void expression_each_path(const struct expression *e, void (*take)(void *ctx, const struct path *p),
                          void *ctx)
{
	for (size_t i = 0; i < e->count; i++) {
		const struct test *t = &e->terms[i].test;

		const struct path left = plain_path(t->left), right = plain_path(t->right);

		if (e->terms[i].kind == TERM_TEST && left.pointer.n)
			take(ctx, &left);
		if (e->terms[i].kind == TERM_TEST && t->right_is_path && right.pointer.n)
			take(ctx, &right);
	}
}

/* ---- suggestions for a pointer that has no value ---- */

/* Adds the pointers one level below a value, with that prefix. */
static void add_members(struct str value, struct str prefix, struct names *names)
{
	AUTO_BUF pointer = BUF(BUF_MAX_SMALL);
	struct json_member m;
	struct str element;
	size_t cursor = 0, index = 0;
	bool array = json_type(value) == JSON_ARRAY;

	while (array ? json_next(value, &cursor, &element) : json_next_member(value, &cursor, &m)) {
		buf_set(&pointer, prefix);
		if (array) {
			buf_printf(&pointer, "/%zu", index++);
		} else {
			buf_char(&pointer, '/');
			buf_str(&pointer, m.key);
		}
		names_add(names, buf_view(&pointer));
	}
}

/* JSON inside a string has members as well. */
static struct str unfold(struct str value, struct buf *text)
{
	AUTO_BUF inner = BUF(BUF_MAX_MESSAGE);
	struct json_fault fault;

	while (json_type(value) == JSON_STRING) {
		buf_clear(&inner);
		json_decode(value, &inner);
		if (json_validate(buf_view(&inner), &fault))
			break;
		buf_set(text, buf_view(&inner));
		value = buf_view(text);
	}
	return value;
}

int nearest_pointer(const struct path *p, const struct known *k, struct error *err)
{
	AUTO_BUF scratch = BUF(BUF_MAX_MESSAGE);
	struct path part = *p;
	AUTO_NAMES names = {.count = 0};
	struct str value = STR_NONE;
	const char *fact = named_facts[p->fact].name;

	if (json_is_null(fact_value(p->fact, k))) {
		return error_set(err, FAIL_USAGE, "%s is %s here", fact,
		                 fact_value(p->fact, k).p ? "null" : "unknown");
	}
	while (!value.p && part.pointer.n) { /* the longest prefix with a value */
		while (part.pointer.n && part.pointer.p[--part.pointer.n] != '/') {
		}
		value = path_value(&part, k, &scratch);
	}
	value = unfold(value, &scratch);
	add_members(value, part.pointer, &names);
	error_set(err, FAIL_USAGE, "%s has no member %.*s here", fact, STR_ARG(p->pointer));
	if (names.count)
		names_suggest(err, p->pointer, names.text, names.count);
	return -1;
}
