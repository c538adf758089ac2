/* The one tool of the lake's server: its listing and its calls, faults included. */
#ifndef ROLLDBG_SERVE_LAKE_MOVE_H
#define ROLLDBG_SERVE_LAKE_MOVE_H

#include "serve/gym.h"

/* The result of tools/list. */
struct str lake_move_list(const struct gym *g);
/* How long a call waits before it acts; WAIT_FOREVER under the fault `hang`. */
uint64_t lake_move_wait_ms(const struct gym *g);
/* tool and arguments are raw JSON, arguments may be absent or null. Appends the result of
   tools/call. False: there shall be no answer, only the end of the connection. */
bool lake_move_call(struct gym *g, struct transport *t, struct str tool,
                    struct str arguments, struct buf *result);

#endif
