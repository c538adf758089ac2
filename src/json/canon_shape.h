/* The canonical form of objects that resemble each other, as the lines of a recording do: the same
   keys and brackets, other strings and numbers. What is between the scalars is compared as a whole,
   and the canonical order is known. */
#ifndef ROLLDBG_JSON_CANON_SHAPE_H
#define ROLLDBG_JSON_CANON_SHAPE_H

#include "json/canon_object.h"

/* Structures of objects read before. */
struct json_shapes;
struct json_shapes *json_shapes_new(void);
void json_shapes_free(struct json_shapes *s); /* NULL is fine */

/* The same as json_canon_members, but NULL instead of false, and faster if an object with the same
   structure was read before. The keys must be those of the first call. The result is valid until the
   next call. */
const struct json_canon_object *json_canon_shaped(struct json_shapes *s, struct str text,
                                                  const struct json_canon_keys *keys,
                                                  struct buf *out);

#endif
