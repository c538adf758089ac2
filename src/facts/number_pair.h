/* One number at two readings: a JSON number, or the only number that differs in a text, such as
   "updated 3 seconds ago" or "0:01:02.5", which is read as hours, minutes and seconds. */
#ifndef ROLLDBG_FACTS_NUMBER_PAIR_H
#define ROLLDBG_FACTS_NUMBER_PAIR_H

#include "base/base.h"

struct number_pair {
	double before, after;
	double quantum; /* the finer resolution of both as spelled: 1, 0.1, 0.01, .. */
	bool text;
};

/* Reads the number of two JSON values. False if neither case applies. */
bool number_pair_read(struct str before, struct str after, struct number_pair *out);

#endif
