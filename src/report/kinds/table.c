/* The report for people. The command itself prints it, since rows of a live rollout come before
   there is a case. */
#include "report/kinds/kind.h"

const struct report_kind report_kind_table = {.state_size = 0};
