/* The reports a command was asked for: which kinds, and the file of each. report/kinds/ makes the
   text; this opens, writes and renames files. */
#pragma once

#include "cmd/cmd.h"
#include "report/kinds/kind.h"

#define MEMBERS report
#include "cmd/options/members.h"

struct reports;

/* Opens all reports, so that an unwritable file is detected before any work: FAIL_SYSTEM.
   FAIL_USAGE: an unknown kind, an existing file that is not a report of that kind, a kind that needs a file, two reports on standard output. `console`,
   borrowed, is the command's buffer for standard output; `taken` names what else is written there
   ("--out -"), or is NULL. */
MUST_USE int reports_open(const struct report_options *o, const struct context *c,
                          struct buf *console, const char *taken, struct reports **out,
                          struct error *err);

/* True if JSON lines are requested, with --json or --report json. */
bool reports_have_json(const struct report_options *o);

/* True unless a report replaces the command's table on standard output. */
bool reports_have_table(const struct reports *r);

/* Differences of a case are reported before the case itself. */
void reports_difference(struct reports *r, const struct difference_printer *at,
                        const struct difference *d);
void reports_case(struct reports *r, const struct report_case *c);
/* Reports a case without a result. `file` may be NULL. */
void reports_problem(struct reports *r, const char *file, const struct error *why);

/* Ends all reports and renames their files; a file is complete or unchanged. `judge` is NULL if
   nothing was judged, `compared` if nothing was compared. FAIL_SYSTEM: the first report that could
   not be written; the others are published. */
MUST_USE int reports_close(struct reports *r, const struct judge *judge,
                           const struct compare_count *compared, struct error *err);
/* For a command that fails: ends all reports with a case for the error, unless they are closed
   already or the command line caused it. Console reports are appended to the console buffer. r may
   be NULL. */
void reports_give_up(struct reports *r, const char *file, const struct judge *judge,
                     const struct error *why);
/* Removes files that were not published. NULL is fine. */
void reports_free(struct reports *r);
