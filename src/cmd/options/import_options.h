/* What the user says about the logs of other programs: options of commands that read recordings. */
#pragma once

#include "cmd/options/options.h"

#define MEMBERS import
#include "cmd/options/members.h"

/* For all files read from now on; call before the first thread. tools: memory of the list, which
   must outlive the reading; release it. FAIL_INPUT: the file of tools cannot be used. */
MUST_USE int import_options_apply(const struct import_options *o, struct buf *tools,
                                  struct error *err);
