/* The default report, a table. The command prints it, because rows of a live rollout are printed
   before its case exists. */
#include "report/kinds/kind.h"

const struct report_kind report_kind_table = {.state_size = 0};
