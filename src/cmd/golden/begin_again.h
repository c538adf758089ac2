/* One more session for a golden whose episode began differently: is it the environment that has changed,
   or does it begin differently each time? */
#ifndef ROLLDBG_CMD_GOLDEN_BEGIN_AGAIN_H
#define ROLLDBG_CMD_GOLDEN_BEGIN_AGAIN_H

#include "cmd/golden/driver.h"
#include "cmd/golden/goldens.h"

/* Opens a session as the replay did, sends no call, compares its begin with the replay's, and says on
   standard error what that means; nothing if no session was opened. */
void begin_again(struct driver *d, struct golden *g, const struct compare_conf *conf);

#endif
