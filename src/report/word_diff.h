/* Word diff, for long texts with few differences. */
#pragma once

#include "base/buf.h"

/* As in git: [-old-]{+new+}, red and green. */
struct word_diff_style {
	bool marks, color;
};

/* Appends a word diff of the two texts, escaped for a terminal, with some equal words around each
   change. Returns false and appends nothing if the texts have too little in common for a readable
   diff. */
bool word_diff(struct str before, struct str after, struct word_diff_style style, struct buf *out);
