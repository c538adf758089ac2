/* Objects that resemble each other, as the lines of a recording do: the same keys and brackets, other
   strings and numbers. What is between the scalars is compared as a whole. Users add what they learn
   about each shape: json/canon_shape.c, trajectory/line_shape.c. */
#ifndef ROLLDBG_JSON_SHAPE_H
#define ROLLDBG_JSON_SHAPE_H

#include "base/buf.h"
#include "json/scan.h"

#define SHAPES_MAX        16
#define SHAPE_SCALARS_MAX 128

/* The scalars of an object, and what is before, between and after them. An array of scalars counts
   as one. */
struct pieces {
	size_t count;                                   /* of scalars */
	struct str gaps[SHAPE_SCALARS_MAX + 1];         /* gaps[i] is before scalar i */
	const unsigned char *at[SHAPE_SCALARS_MAX + 1]; /* where the scalars begin, and the end */
};

/* A gap of a known shape. One that is not longer than two loads matches if all bits of `mask` are set
   for the first bytes and for those from `last` on; 0: it is longer. */
struct gap {
	struct str text;
	unsigned mask, last;
};

struct shape {
	bool used;       /* lately */
	struct buf text; /* an object of this shape, with numbers for its scalars (shape_number) */
	size_t count;    /* of scalars */
	struct gap gaps[SHAPE_SCALARS_MAX + 1];
};

/* What a user of this file adds to a shape. */
struct shape_user {
	size_t size; /* of a struct that begins with struct shape */
	/* What to know of a shape whose text has these pieces. False: nothing is to be gained. */
	bool (*learn)(struct shape *one, const struct pieces *pieces, const void *context);
	void (*release)(struct shape *one); /* what learn() allocated; may be NULL */
};

struct json_shapes;
struct json_shapes *shapes_new(const struct shape_user *user);
void json_shapes_free(struct json_shapes *s); /* NULL is fine */

/* The shape of the object at the start of the text, if it is known; *at: where its scalars begin,
   and its end. NULL if the object is not valid, or with `canonical` if one of its strings is
   not in canonical form. */
struct shape *shapes_find(struct json_shapes *s, struct str text, bool canonical,
                          const unsigned char *const **at);

/* For a valid object after shapes_find returned NULL: may learn its shape. */
void shapes_missed(struct json_shapes *s, struct str object, const void *context);

/* False if there are blanks between the tokens, or too many scalars. */
bool shape_split(struct str object, struct pieces *out);

/* Which scalar the number at p stands for. */
size_t shape_number(const unsigned char *p);

/* `back` bytes before a scalar or the end of the object. */
struct place {
	uint16_t scalar, back;
};

struct range {
	struct place begin, end;
};

/* The range of a slice of the text that begins at `text`. */
struct range shape_range(const struct pieces *pieces, const char *text, struct str slice);

ALWAYS_INLINE const unsigned char *place_in(const unsigned char *const *at, struct place place)
{
	return at[place.scalar] - place.back;
}

#endif
