/* Two texts word by word, for the long ones that differ in little. */
#ifndef ROLLDBG_REPORT_WORD_DIFF_H
#define ROLLDBG_REPORT_WORD_DIFF_H

#include "base/buf.h"

/* As git does: [-old-]{+new+}, red and green. */
struct word_diff_style {
	bool marks, color;
};

/* Appends `after` with what is new in it and what was in `before`, escaped for a terminal; of equal
   words only some beside each change are shown. False, and nothing is appended, where the texts
   have too little in common for that to be readable. */
bool word_diff(struct str before, struct str after, struct word_diff_style style, struct buf *out);

#endif
