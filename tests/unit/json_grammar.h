/* Runs the cases of tests/vectors/json_grammar.test against a build of the strict scanner.
   */
#pragma once

#include "guard.h"
#include "json/scan.h"
#include "json_cases.h"
#include "tap.h"

/* -1 if the text is accepted, otherwise the offset of the fault. */
static inline long grammar_fault(struct str text)
{
	struct json_fault fault = {.at = SIZE_MAX};

	return json_validate(text, &fault) == 0 ? -1 : (long)fault.at;
}

static inline void grammar_case(const struct guard *g, struct str name, struct str want,
                                struct str bytes)
{
	struct str text = guard_put(g, bytes);
	long at = str_is(want, "+") ? -1 : strtol(want.p, NULL, 10);

	is_int(grammar_fault(text), at, "%.*s", STR_ARG(name));

	/* at every position of a register, with other text around it */
	struct buf around = BUF(BUF_MAX_SMALL);
	int moved = 0;
	for (long pad = 1; pad <= 33; pad++) {
		buf_clear(&around);
		for (long i = 0; i < pad; i++)
			buf_char(&around, ' ');
		buf_str(&around, bytes);
		long got = grammar_fault(guard_put(g, buf_view(&around)));
		moved += got == (at < 0 ? -1 : at + pad);
	}
	is_int(moved, 33, "%.*s after blanks", STR_ARG(name));
	buf_release(&around);
}

static inline void grammar_cases(void)
{
	struct guard g = guard_new(1 << 16);
	struct cases c;

	cases_open(&c, "tests/vectors/json_grammar.test");
	while (cases_next(&c))
		grammar_case(&g, c.field[0], c.field[1], c.field[2]);
	cases_close(&c);
	guard_free(&g);
}
