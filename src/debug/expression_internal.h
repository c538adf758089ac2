/* Internals of expressions, for expression.c (parsing) and evaluate.c. */
#pragma once

#include "base/mem.h"
#include "debug/expression.h"
#include "json/write.h"

#define EXPRESSION_TERMS 64

enum compare {
	COMPARE_NONE, /* no operator: is the value true? */
	COMPARE_EQUAL,
	COMPARE_UNEQUAL,
	COMPARE_LESS,
	COMPARE_MOST,
	COMPARE_MORE,
	COMPARE_LEAST,
	COMPARE_GLOB,
};

/* Operators from loose to tight binding, after the opening bracket. */
enum term_kind { TERM_TEST, TERM_OPEN, TERM_IF, TERM_OR, TERM_AND, TERM_NOT };

struct test {
	struct path left;
	enum compare compare;
	bool right_is_path;
	struct path right;
	struct str literal; /* raw JSON */
};

struct term {
	enum term_kind kind;
	struct test test;
};

struct expression {
	struct str text;
	struct arena arena;
	struct term terms[EXPRESSION_TERMS]; /* in postfix order */
	size_t count;
	struct buf scratch, other; /* scratch for evaluation */
};
