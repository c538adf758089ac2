/* What a file of settings may set, and the files that the user trusts: path and content hash of each, in the directory trusted/ of the
   state directory. Another content, or the same at another path, is not trusted. */
#pragma once

#include "cmd/options/config_file.h"
#include "cmd/options/policies.h"
#include "json/tree.h"

/* Appends the path of a file as it is remembered. */
void trusted_path(const char *path, struct buf *out);

/* Trusts the file with this text. FAIL_SYSTEM. */
MUST_USE int trusted_add(environment *variable, const struct config_file *f, struct error *err);
/* ---- what a file may set ---- */

/* The class of a command's setting with that value: that of its option,
   unless the value says more. */
enum opt_class config_class(const struct command *cmd, const struct opt *o, const cJSON *value);
/* The same for a key that is no option, taken as this argument: HEADER or TARGET. */
enum opt_class config_class_as(const char *arg, const cJSON *value);

/* True if the value of an env option names a setting of a file rather than a target: FILE#NAME. */
bool config_is_in_file(const char *env);

/* May the file give the setting k->key? FAIL_USAGE, with the cure. */
MUST_USE int config_permit(const struct context *c, const struct config_file *f, struct keyed *k,
                           enum opt_class class);
