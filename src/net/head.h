/* The header lines of an HTTP reply, as received. Private to src/net/. */
#ifndef ROLLDBG_NET_HEAD_H
#define ROLLDBG_NET_HEAD_H

#include "base/base.h"

/* The value of the last header of that name, in any letter case, without surrounding blanks;
   absent if there is none. */
struct str head_value(struct str head, const char *name);

#endif
