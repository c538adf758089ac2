/* Makes struct NAME_options and NAME_opts of the table cmd/tables/NAME.def, where OPTIONS is NAME. Included once for
   each table that one file uses. */
#include "cmd/options/options.h"

#ifdef OPTIONS
#define MEMBERS OPTIONS
#include "cmd/options/members.h"
#define ROWS OPTIONS
#include "cmd/options/rows.h"
#undef OPTIONS
#endif
