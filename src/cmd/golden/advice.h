/* Sentences about a golden that differs, on standard error. */
#pragma once

#include "cmd/golden/driver.h"
#include "cmd/golden/goldens.h"

/* A change of a tool that is no difference, unless it was said before. */
void advise_tool(struct names *said, const struct golden *g, const struct tool_change *t);
/* The golden is of another environment, or calls tools by other names. */
void advise_tools(struct names *said, const struct golden *g);
void advise_not_compared(const struct golden *g);
/* Why a rollout was not compared, or NULL. */
const char *advice_problem(const struct golden *g);
/* Is it in the reset or the first state? */
bool difference_is_at_begin(const struct difference *first);

/* One more session for a golden whose episode began differently: has the environment changed, or does
   it begin differently each time? Opens a session as the replay did, sends no call, and compares its
   begin with the replay's; says nothing if no session was opened. */
void begin_again(struct driver *d, struct golden *g, const struct compare_conf *conf);
