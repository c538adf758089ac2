/* Writes settings in messages of lower layers (base/settings.h) as option names. */
#pragma once

#include "base/buf.h"

/* In place, because the length stays the same: --max-turns. */
void settings_as_options(char *text, size_t n);

/* A filter for log_set_filter that writes settings as options. */
void settings_filter(void *ctx, struct str text, struct buf *out);

/* Appends a message with its settings as options. */
void settings_put(struct buf *out, const char *text);
