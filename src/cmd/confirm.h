/* run --confirm: sends the history experiment (rollout/history.h) with the calls of the first rollout,
   which tells whether an environment that seemed to move keeps anything. Where the protocol gives each
   session an environment of its own, a fresh one costs nobody anything: there it is sent unasked, if
   nothing is known to have moved. */
#pragma once

#include "check/judge.h"
#include "cmd/golden/driver.h"
#include "rollout/history.h"

struct confirm;

/* asked: by --confirm. hints is borrowed. */
struct confirm *confirm_new(bool asked, const struct hints *hints);
void confirm_free(struct confirm *c); /* NULL is fine */

/* A line of any rollout, in order; those of the first one are used. */
void confirm_line(struct confirm *c, const struct evidence_update *u);

/* After judge_finish: sends the calls, if that was asked for or is free, unless an error was found, and tells the judge. env: of the
   first rollout. Unless quiet, it says before how many sessions that takes. -1: an interrupt or a
   local failure. */
MUST_USE int confirm_run(struct confirm *c, struct driver *d, const struct env_conf *env,
                         struct judge *j, bool quiet, struct error *err);

/* Appends a line that says why the question stays open, if it does; or, if nothing was sent and the verdict
   is unknown, the command line that sends the experiment, without secrets. */
void confirm_say(const struct confirm *c, const struct driver *d, const struct judge *j,
                 struct buf *out);
