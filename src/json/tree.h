/* Files of settings as trees of cJSON: project files and mcp.json. (Where the spelling of values
   must be kept, keyed.h reads the text itself.) The scanner validates the text first, because cJSON
   accepts what is not JSON; messages are keyed.h's. */
#pragma once

#include "json/keyed.h"

#include <cjson/cJSON.h>

/* Fails like keyed_parse, and if a string contains a NUL or lone surrogate or a number is longer than
   63 bytes. Free *root with cJSON_Delete. valueint of its nodes is used by this module. */
MUST_USE int tree_parse(struct keyed *k, cJSON **root);

/* The last member with that key; NULL if there is none, or object is NULL or no object. */
const cJSON *tree_get(const cJSON *object, const char *key);

/* The first member, for a loop along ->next; NULL if there is none, or object is NULL or no object. */
static inline const cJSON *tree_first(const cJSON *object)
{
	return object && cJSON_IsObject(object) ? object->child : NULL;
}

static inline bool tree_is_null(const cJSON *node) /* null or absent */
{
	return !node || cJSON_IsNull(node);
}

/* Sets k->value, which messages are about, to the text of the node. */
void tree_at(struct keyed *k, const cJSON *node);
/* The same; fails unless the node is an object. */
MUST_USE int tree_is_object(struct keyed *k, const cJSON *node);
