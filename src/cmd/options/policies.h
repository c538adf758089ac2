/* Ready-made policies by name: --policy lake-goal is lake-goal.json in the first directory that
   contains it: policies/ of the working directory, the user's directory, then the installed ones.
   */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/names.h"

typedef const char *environment(const char *name); /* getenv */

/* The policy to open: `spec` itself if it is a kind, a file or NULL, else the path of the policy
   with that name, stored in `path`. FAIL_INPUT if there is none. */
MUST_USE int policies_find(environment *variable, const char *spec, struct buf *path,
                           const char **out, struct error *err);

/* Adds the names of all policies in those directories, without duplicates. */
void policies_names(environment *variable, struct names *out);
