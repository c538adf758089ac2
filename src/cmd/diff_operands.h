/* The operands of `diff`: two recordings, none, or those that git passes. */
#ifndef ROLLDBG_CMD_DIFF_OPERANDS_H
#define ROLLDBG_CMD_DIFF_OPERANDS_H

#include "cmd/cmd.h"
#include "recording/reader.h"

#define DIFF_OPERANDS_MAX 9

/* PATH OLD-FILE OLD-HEX OLD-MODE NEW-FILE NEW-HEX NEW-MODE [NEW-PATH INFO]: what git appends to a
   diff.NAME.command (gitattributes(5)); it takes an exit code other than 0 for a failure. */
bool diff_is_from_git(int argc);

/* Files, the *.jsonl of directories, or, without operands, the two newest recordings of the state
   directory. FAIL_USAGE: another number. */
MUST_USE int diff_operands(const struct context *c, int argc, char **argv, struct file_list *first,
                           struct file_list *second, struct error *err);

#endif
