/* Points in time as users write them: 2d (ago), 2026-11-22, 2026-11-22T12:30. */
#ifndef ROLLDBG_CMD_AGE_H
#define ROLLDBG_CMD_AGE_H

#include "base/base.h"

#define AGE_TEXT 32

/* Writes it as 2026-11-22T12:30:00 (UTC), so that times compare as strings; false if the text is
   not a point in time. */
bool age_parse(const char *text, uint64_t now_unix_ms, char out[AGE_TEXT]);
/* Accepts only an age: 30d. */
bool age_parse_ago(const char *text, uint64_t now_unix_ms, char out[AGE_TEXT]);

#endif
