/* The object or array that a value is, or that a string holds as JSON. */
#ifndef ROLLDBG_JSON_HELD_H
#define ROLLDBG_JSON_HELD_H

#include "json/scan.h"

/* The value itself if it is an object or an array; of a string that holds one its text, decoded
   into *text, which must be empty; else absent. */
struct str json_held(struct str value, struct buf *text);

#endif
