/* Lists of chat messages, as several formats have them. */
#ifndef ROLLDBG_CONVERT_MESSAGES_H
#define ROLLDBG_CONVERT_MESSAGES_H

#include "json/scan.h"

/* Is it an array whose first element is an object with a role? */
bool messages_is(struct str value);
/* The same, or an empty array. */
bool messages_may_be(struct str value);
/* Does the first call in it have its arguments as an object? */
bool messages_have_objects(struct str messages);

#endif
