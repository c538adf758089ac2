/* Did all programs fail that the calls ran? Known from the exit codes in the replies. */
#ifndef ROLLDBG_FACTS_EXIT_CODES_H
#define ROLLDBG_FACTS_EXIT_CODES_H

#include "base/base.h"

#define EXIT_CODES_MIN 3 /* replies; fewer programs may fail by chance */

/* Ready for use if zeroed. */
struct exit_codes {
	int64_t replies;
	int64_t failed;  /* replies with an exit code other than 0 */
	int64_t not_run; /* of these: 126 or 127, found by sh(1) to be no command */
};

/* Adds a reply. Its exit code is a member "exit_code", "exitCode", "return_code" or
   "returncode", as environments that run programs call it; env/hidden_error.c reads the same
   members for 125. */
void exit_codes_add(struct exit_codes *e, struct str reply);

/* Of at least EXIT_CODES_MIN replies, all report that the program failed; or that it could not be
   run. */
bool exit_codes_all_failed(const struct exit_codes *e);
bool exit_codes_none_ran(const struct exit_codes *e);

#endif
