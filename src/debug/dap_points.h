/* Breakpoints of the Debug Adapter Protocol: function breakpoints, whose names are expressions, and
   data breakpoints, which watch a member of the state. */
#ifndef ROLLDBG_DEBUG_DAP_POINTS_H
#define ROLLDBG_DEBUG_DAP_POINTS_H

#include "debug/dap_wire.h"
#include "debug/points.h"

/* Replaces all points of that kind by those of the request, each defined by its member `key`.
   Writes the response's body with a result for each. */
void dap_points_set(struct points *points, const struct dap_request *q, const char *key,
                    enum point_kind kind, struct json_writer *w);
/* Writes the body for source line breakpoints, which are not supported. */
void dap_points_refuse_lines(const struct dap_request *q, struct json_writer *w);

#endif
