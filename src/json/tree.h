/* Trees for what people write by hand (policies, configs): the one file that includes
   cJSON.h. The strict scanner runs first, so cJSON only ever sees valid JSON, without
   \u0000 and within depth. Peers' bytes never come here: they stay slices (json/scan.h).
 */
#ifndef ROLLDBG_JSON_TREE_H
#define ROLLDBG_JSON_TREE_H

#include "base/error.h"
#include "json/scan.h"

struct json_tree;      /* owns the nodes */
struct json_tree_node; /* borrowed from its tree */

/* `name` is for messages: "name:LINE:COLUMN: why", FAIL_INPUT. */
MUST_USE int json_tree_parse(struct str text, const char *name, struct json_tree **out,
                             struct error *err);
void json_tree_free(struct json_tree *t); /* NULL is fine */

const struct json_tree_node *json_tree_root(const struct json_tree *t);
const struct json_tree_node *json_tree_get(const struct json_tree_node *object,
                                           const char *key);
const struct json_tree_node *json_tree_first(const struct json_tree_node *container);
const struct json_tree_node *json_tree_next(const struct json_tree_node *child);
const char *json_tree_key(const struct json_tree_node *member);
enum json_type json_tree_type(const struct json_tree_node *n); /* NULL: JSON_ABSENT */
const char *json_tree_string(const struct json_tree_node *n);  /* NULL unless a string */
bool json_tree_i64(const struct json_tree_node *n, int64_t *out); /* false unless exact */
bool json_tree_bool(const struct json_tree_node *n, bool *out);

/* Appends the node as JSON, without blanks, number tokens as spelled in the source. */
void json_tree_write(const struct json_tree *t, const struct json_tree_node *n,
                     struct buf *out);

#endif
