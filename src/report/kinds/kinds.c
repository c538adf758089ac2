/* The kinds of reports as an array. */
#include "report/kinds/kind.h"

const struct report_row report_rows[] = {
#define REPORT(kind, target, purpose) {#kind, REPORT_##target, purpose, &report_kind_##kind},
#include "report/kinds/reports.def"
};
const size_t report_row_count = ARRAY_LEN(report_rows);
