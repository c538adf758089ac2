/* An event as one line of text, for the table. */
#pragma once

#include "recording/line.h"

/* Appends the event's name and, from its detail, the reason, the message from the server, or the
   other members: "retry: the reused connection was closed; sent again", "notification:
   notifications/message, level info, disk almost full". Not escaped yet. */
void event_text(struct buf *out, const struct line *event);
