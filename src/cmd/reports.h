/* The reports that a command was asked for: which kinds, and where each goes. Texts are made by
   report/kinds/; this opens, writes and renames files. */
#ifndef ROLLDBG_CMD_REPORTS_H
#define ROLLDBG_CMD_REPORTS_H

#include "cmd/cmd.h"
#include "report/kinds/kind.h"

/* Embedded in a command's options struct. */
struct report_options {
	bool json;
	struct opt_list kinds;
};

extern const struct option_group report_group;

struct reports;

/* Opens all of them, so that a file that cannot be written is noticed before any work: FAIL_SYSTEM.
   FAIL_USAGE: an unknown kind, no file where one is needed, two reports on standard output.
   `console` is what the command prints to standard output, which is borrowed; `taken`: what else
   is printed there ("--out -"), or NULL. */
MUST_USE int reports_open(const struct report_options *o, const struct context *c,
                          struct buf *console, const char *taken, struct reports **out,
                          struct error *err);

/* Does the command print its table? Yes, unless a report takes its place on standard output. */
bool reports_have_table(const struct reports *r);

/* For cases that another thread writes, to a console of its own; `console` is borrowed. NULL: some
   report needs its cases one after the other. Free with reports_free. */
struct reports *reports_part(const struct reports *r, struct buf *console);
/* Counts the part's cases; their text is appended by the caller. */
void reports_absorb(struct reports *r, const struct reports *part);

/* The differences of a case come before the case. */
void reports_difference(struct reports *r, const struct difference_printer *at,
                        const struct difference *d);
void reports_case(struct reports *r, const struct report_case *c);
/* A case that has no result: why. The file may be NULL. */
void reports_problem(struct reports *r, const char *file, const struct error *why);

/* Ends and publishes all: files get their names now, never with half of a report in them. Each may
   be NULL: nothing was judged, nothing was compared. FAIL_SYSTEM: the first that could not be
   written; the others are there. */
MUST_USE int reports_close(struct reports *r, const struct judge *judge,
                           const struct compare_count *compared, struct error *err);
/* The command ends with a failure of its own: closes all with a case that says so, unless they are
   closed already or the command line is to blame. Texts for the console are appended to it. NULL is
   fine. */
void reports_give_up(struct reports *r, const char *file, const struct judge *judge,
                     const struct error *why);
/* Removes what was not closed. NULL is fine. */
void reports_free(struct reports *r);

#endif
