/* Lists of chat messages, as several formats have them. */
#ifndef ROLLDBG_CONVERT_MESSAGES_H
#define ROLLDBG_CONVERT_MESSAGES_H

#include "convert/import.h"
#include "json/write.h"

/* Is it an array whose first element is an object with a role? */
bool messages_is(struct str value);
/* The same, or an empty array. */
bool messages_may_be(struct str value);
/* Does the first call in it have its arguments as an object? */
bool messages_have_objects(struct str messages);

/* A message that has its role, and gets its other members before message_end: meanwhile nothing else
   is written to the import's value. In its arena. */
struct json_writer message_begin(struct import *m, const char *role);
struct str message_end(struct import *m, struct json_writer *j);
/* One with that content, raw JSON. */
struct str message_new(struct import *m, const char *role, struct str content);

#endif
