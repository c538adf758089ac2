/* Log messages on stderr: `rolldbg: ...`, escaped for a terminal, one write per line so that
   threads do not mix. Results are never written here. */
#pragma once

#include "base/buf.h"

enum log_level { LOG_ERROR, LOG_QUIET = LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

void log_set_level(enum log_level level);
/* Sets a filter that every text passes through before it is printed, to redact secrets. NULL: no
   filter. Call it before threads start. */
void log_set_filter(void (*filter)(void *ctx, struct str text, struct buf *out), void *ctx);
/* Sets a function that is called before (begins) and after each line is written, so that a
   progress line can be cleared. NULL: none. Call it before threads start. */
void log_set_guard(void (*guard)(void *ctx, bool begins), void *ctx);
bool log_wants(enum log_level level);
void log_say(enum log_level level, const char *fmt, ...) PRINTF_LIKE(2, 3);

#define log_error(...) log_say(LOG_ERROR, __VA_ARGS__) /* always shown */
#define log_warn(...)  log_say(LOG_WARN, __VA_ARGS__)  /* shown unless -q */
#define log_info(...)  log_say(LOG_INFO, __VA_ARGS__)  /* shown with -v */
#define log_debug(...) log_say(LOG_DEBUG, __VA_ARGS__) /* shown with -vv */
