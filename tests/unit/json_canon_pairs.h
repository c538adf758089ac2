/* The two implementations of the canonical form give the same result: the loop for values
   without masks, and the masking loop with nothing to mask. Every token is tested at every
   position of a block, up to the end of readable memory. */
#ifndef TESTS_JSON_CANON_PAIRS_H
#define TESTS_JSON_CANON_PAIRS_H

#include "guard.h"
#include "json/canon.h"
#include "json/scan.h"
#include "tap.h"

struct pairs {
	struct guard guard;
	struct json_paths *none;
	size_t values, wrong;
};

static void compare_ways(struct pairs *p, struct str value)
{
	struct buf a = BUF(BUF_MAX_SMALL), b = BUF(BUF_MAX_SMALL);
	struct json_fault fault;
	struct str text = guard_put(&p->guard, value);

	if (json_validate(text, &fault)) {
		tap_note("not JSON", value.p);
		p->wrong++;
		return;
	}
	json_canon(text, NULL, JSON_EDIT_MASK, &a);
	json_canon(text, p->none, JSON_EDIT_MASK, &b);
	p->values++;
	if (!str_eq(buf_view(&a), buf_view(&b))) {
		tap_note("one way", buf_cstr(&a));
		tap_note("the other", buf_cstr(&b));
		p->wrong++;
	}
	buf_release(&a);
	buf_release(&b);
}

/* The token after `before` bytes of a string and before `after` of them. */
static void in_a_string(struct pairs *p, const char *token, int before, int after)
{
	static const char x[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
	struct buf text = BUF(BUF_MAX_SMALL);

	buf_printf(&text, "\"%.*s%s%.*s\"", before, x, token, after, x);
	compare_ways(p, buf_view(&text));
	buf_clear(&text);
	buf_printf(&text, "{\"b\":\"%.*s%s%.*s\",\"a\":[\"%s\"]}", before, x, token, after, x,
	           token);
	compare_ways(p, buf_view(&text));
	buf_clear(&text);
	buf_printf(&text, "{\"y%.*s%s\":1,\"x%.*s%s\":{\"c\":2,\"b\":3}}", before, x, token, after,
	           x, token);
	compare_ways(p, buf_view(&text));
	buf_release(&text);
}

static void strings(struct pairs *p)
{
	static const char *const tokens[] = {
		"",        "\\\"",           "\\\\",    "\\\\\\\"", "\\n",
		"\\/",     "\\b\\f",         "\\r\\t",  "\\u0041",  "\\u001F",
		"\\u00e9", "\\ud83d\\ude00", "\\uD800", "\xc3\xa9", "{\\\"a\\\":[1,\\\"b\\\"]}"};

	for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
		for (int before = 0; before < 35; before++) {
			for (int after = 0; after < 18; after++) {
				in_a_string(p, tokens[i], before, after);
			}
		}
	}
}

static void words(struct pairs *p)
{
	static const char *const blanks[] = {"", " ", "\n\t ", "\r\n"};
	struct buf text = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(blanks); i++) {
		for (int digits = 1; digits < 40; digits++) {
			const char *b = blanks[i];

			buf_clear(&text);
			buf_printf(
				&text,
				"%s[%s1%0*d%s,%snull%s,{%s\"b\"%s:%strue%s,%s\"a\"%s:%s-0.5e3%s},{%s},[%s]]",
				b, b, digits, 0, b, b, b, b, b, b, b, b, b, b, b, b, b);
			compare_ways(p, buf_view(&text));
			buf_clear(&text);
			buf_printf(&text, "1%0*d", digits, 0);
			compare_ways(p, buf_view(&text));
		}
	}
	buf_release(&text);
}

/* More than the fast path has room for. */
static void large(struct pairs *p)
{
	struct buf text = BUF(BUF_MAX_SMALL);

	for (int n = 1; n < 300; n++) {
		buf_clear(&text);
		for (int i = 0; i < n; i++) {
			buf_printf(&text, "%c\"k%d\":%d", i ? ',' : '{', (i * 7919) % 1000, i);
		}
		buf_char(&text, '}');
		compare_ways(p, buf_view(&text));
	}
	for (int n = 1; n < 100; n++) {
		buf_clear(&text);
		for (int i = 0; i < n; i++) {
			buf_text(&text, i % 2 ? "[0," : "{\"z\":0,\"a\":");
		}
		buf_text(&text, "[]");
		for (int i = n; i > 0; i--) {
			buf_char(&text, i % 2 ? '}' : ']');
		}
		compare_ways(p, buf_view(&text));
	}
	buf_release(&text);
}

static inline int canon_pairs(void)
{
	struct pairs p = {.guard = guard_new(1 << 16), .none = json_paths_new(false)};

	strings(&p);
	words(&p);
	large(&p);
	ok(p.values > 10000, "values were compared");
	is_int(p.wrong, 0, "both ways give the same bytes");
	json_paths_free(p.none);
	guard_free(&p.guard);
	return done();
}

#endif
