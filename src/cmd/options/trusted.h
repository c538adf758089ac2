/* The files that the user trusts: path and content hash of each, in the directory trusted/ of the
   state directory. Another content, or the same at another path, is not trusted. */
#ifndef ROLLDBG_CMD_OPTIONS_TRUSTED_H
#define ROLLDBG_CMD_OPTIONS_TRUSTED_H

#include "cmd/options/config_file.h"
#include "cmd/options/policies.h"

enum trusted { TRUSTED_NOT, TRUSTED_CHANGED, TRUSTED_YES };

/* Is the file as it was when the user trusted it? */
enum trusted trusted_look(environment *variable, const char *path, struct str text);
/* Appends the path of a file as it is remembered. */
void trusted_path(const char *path, struct buf *out);

/* Trusts the file with this text. FAIL_SYSTEM. */
MUST_USE int trusted_add(environment *variable, const struct config_file *f, struct error *err);
/* FAIL_INPUT if it is not trusted. */
MUST_USE int trusted_remove(environment *variable, const char *path, struct error *err);
/* Appends a line for each trusted file. FAIL_SYSTEM. */
MUST_USE int trusted_list(environment *variable, struct buf *out, struct error *err);

#endif
