/* --mask, which `run` records and `strip` applies, and the .masks file next to a golden. */
#ifndef ROLLDBG_CMD_OPTIONS_MASKS_H
#define ROLLDBG_CMD_OPTIONS_MASKS_H

#include "cmd/options/options.h"
#include "compare/patterns.h"
#include "recording/strip/strip.h"

/* Creates a strip with these masks. FAIL_USAGE if one is not a pointer. */
MUST_USE int masks_strip(const struct opt_list *masks, struct strip **out, struct error *err);

/* The masks of a golden: those of the options, then those of its file. Zeroed is empty. */
struct mask_list {
	const char **items;
	size_t count, room;
	struct arena arena;
};

/* Adds the masks of the options, borrowed. */
void mask_list_options(struct mask_list *l, const struct opt_list *masks);
/* Adds the masks of GOLDEN.masks, if it exists: one pattern of JSON Pointers per line; blank lines
   and lines that begin with # are skipped. Also adds them to `uses` unless NULL. FAIL_INPUT,
   "FILE:LINE: .."; FAIL_SYSTEM if it cannot be read. */
MUST_USE int mask_list_file(struct mask_list *l, const char *golden, struct patterns *uses,
                            struct error *err);
MUST_USE int mask_list_strip(const struct mask_list *l, struct strip **out, struct error *err);
void mask_list_release(struct mask_list *l);

#endif
