/* The container in a value: the value itself, or JSON held in a string. */
#ifndef ROLLDBG_JSON_HELD_H
#define ROLLDBG_JSON_HELD_H

#include "json/scan.h"

/* The value itself if it is an object or array; if it is a string that holds one, the decoded
   text, stored in *text, which must be empty; otherwise absent. */
struct str json_held(struct str value, struct buf *text);

#endif
