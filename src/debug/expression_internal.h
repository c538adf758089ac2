/* The inside of an expression: for expression.c (parsing) and evaluate.c. */
#ifndef ROLLDBG_DEBUG_EXPRESSION_INTERNAL_H
#define ROLLDBG_DEBUG_EXPRESSION_INTERNAL_H

#include "base/mem.h"
#include "debug/expression.h"
#include "json/write.h"

#define EXPRESSION_ITEMS 64

enum compare {
	COMPARE_NONE, /* does it hold by itself? */
	COMPARE_EQUAL,
	COMPARE_UNEQUAL,
	COMPARE_LESS,
	COMPARE_MOST,
	COMPARE_MORE,
	COMPARE_LEAST,
	COMPARE_GLOB,
};

/* Operators from loose to tight, behind what opens a bracket. */
enum item_kind { ITEM_TEST, ITEM_OPEN, ITEM_IF, ITEM_OR, ITEM_AND, ITEM_NOT };

struct test {
	struct path left;
	enum compare compare;
	bool right_is_path;
	struct path right;
	struct str literal; /* raw JSON */
	bool is_number;
	double number;
};

struct item {
	enum item_kind kind;
	struct test test;
};

struct expression {
	struct str text;
	struct arena arena;
	struct item items[EXPRESSION_ITEMS]; /* each operator behind its operands */
	size_t count;
	struct buf scratch, other; /* of the evaluation */
};

#endif
