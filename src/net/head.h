/* The head of an HTTP reply, as it came. Inside net/ only. */
#ifndef ROLLDBG_NET_HEAD_H
#define ROLLDBG_NET_HEAD_H

#include "base/base.h"

/* The value of the last header of that name (in any case), without the blanks around it;
   absent when there is none. */
struct str head_value(struct str head, const char *name);

#endif
