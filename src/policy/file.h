/* Policy files: JSON that runs as it is (policies/ holds ready ones).

     {"kind":"script", "name":"...", "tool":"lake_move", "actions":["DOWN", ...],
      "calls":[{"name":"...","arguments":{...}}, ...],        either actions or calls
      "on_end":"stop|cycle|repeat", "on_error":"continue" or {"stop_after":3}}
     {"kind":"random", "name":"...", "seed":7}
     {"kind":"llm", ...}                                     see policy/llm/conf.h */
#ifndef ROLLDBG_POLICY_FILE_H
#define ROLLDBG_POLICY_FILE_H

#include "policy/policy.h"

/* FAIL_INPUT with file, line and column, or the key; unknown keys are refused with the
 * nearest name. */
MUST_USE int policy_file_open(const struct policy_conf *conf, struct policy **out,
                              struct error *err);

/* Appends the whole file. FAIL_INPUT, also for a name that was perhaps to be a kind. */
MUST_USE int policy_file_read(const char *path, struct buf *out, struct error *err);

/* The same from the text of such a file; conf->spec is its name, for messages. */
MUST_USE int policy_text_open(const struct policy_conf *conf, struct str text,
                              struct policy **out, struct error *err);

#endif
