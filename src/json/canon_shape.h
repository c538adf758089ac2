/* The canonical form of objects that resemble each other, as the lines of a recording do: it is put
   together from the scalars, because the canonical order of a known shape is known. */
#ifndef ROLLDBG_JSON_CANON_SHAPE_H
#define ROLLDBG_JSON_CANON_SHAPE_H

#include "json/canon_object.h"
#include "json/shape.h"

/* For objects with the same keys argument; ended by json_shapes_free. */
struct json_shapes *json_canon_shapes_new(void);

/* The same as json_canon_members, but NULL instead of false, and faster if an object of the same shape
   was read before. Returns `other`, filled, or an object of `s`, which is valid until the next
   call. */
const struct json_canon_object *json_canon_shaped(struct json_shapes *s, struct str text,
                                                  const struct json_canon_keys *keys,
                                                  struct json_canon_object *other, struct buf *out);

#endif
