/* Lists of chat messages, as used by several formats. */
#ifndef ROLLDBG_CONVERT_MESSAGES_H
#define ROLLDBG_CONVERT_MESSAGES_H

#include "convert/import.h"
#include "json/write.h"

/* True for an array whose first element is an object with a role. */
bool messages_is(struct str value);
/* True for an object with a list of messages, none of whose other members names another format. */
bool messages_are_plain(struct str value);
/* The same, or an empty array. */
bool messages_may_be(struct str value);
/* True if the first call in it has its arguments as an object. */
bool messages_have_objects(struct str messages);

/* Begins a message with its role; add further members, then call message_end. Until then, nothing
   else may be written to the import's value. The result is in the import's arena. */
struct json_writer message_begin(struct import *m, const char *role);
struct str message_end(struct import *m, struct json_writer *j);
/* A message with that content, raw JSON. */
struct str message_new(struct import *m, const char *role, struct str content);

#endif
