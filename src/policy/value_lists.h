/* Lists and ranges of values in a server's prose: "one of a, b or c", "a|b|c", "'a' or 'b'",
   "rooms: hall, bath", "0=left, 1=right", "LEFT(0), DOWN(1)", "0-3", "between 1 and 9". Which
   parameter a list belongs to is decided in parameter_values.h. */
#ifndef ROLLDBG_POLICY_VALUE_LISTS_H
#define ROLLDBG_POLICY_VALUE_LISTS_H

#include "policy/text_tokens.h"

#define VALUE_LISTS_MAX 16 /* of one text */
#define VALUES_MAX      32 /* of one list */

struct listed_value {
	struct str text;   /* "LEFT" of "LEFT(0)", "0" of "0=left" */
	struct str number; /* the number in it; absent: none */
};

enum list_shape {
	LIST_RANGE,
	LIST_LABELED, /* 0=left, 1=right */
	LIST_MARKED,  /* quoted, or separated by '|' */
	LIST_NUMBERS,
	LIST_WORDS,
};

struct value_list {
	enum list_shape shape;
	struct listed_value item[VALUES_MAX];
	size_t count;
	double low, high;  /* of a range, both included; it may have no items */
	size_t begin, end; /* tokens of the list; `end` follows the last */
	bool joined;       /* its items are joined by more than commas: "or", '|' */
	bool cued;         /* its sentence says so before it: "one of", "valid", "must be" */
	bool introduced;   /* directly after "of", "be", "from" and the like, or a bracket */
	bool colon;        /* directly after ':' */
	bool counts_text;  /* a range of lengths: "1-50 characters" */
};

/* The lists in the text, in order; their slices point into it. Lists that the text excludes
   ("must not be a or b", "reserved: a, b") are left out. In the arena. */
size_t value_lists_read(const struct tokens *t, struct arena *arena, struct value_list **out);

/* Is it clearly a list of values, whoever they belong to? */
bool value_list_is_clear(const struct value_list *l);

#endif
