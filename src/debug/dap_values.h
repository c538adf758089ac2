/* Structured values for the Debug Adapter Protocol. A client refers to containers by number
   (variablesReference), valid until the debugger moves. */
#ifndef ROLLDBG_DEBUG_DAP_VALUES_H
#define ROLLDBG_DEBUG_DAP_VALUES_H

#include "base/mem.h"
#include "debug/expression.h"

struct json_writer;

/* A container that was sent to the client. */
struct dap_value {
	struct str value; /* raw JSON */
	struct str path;  /* path for watch; absent: cannot be watched */
};

#define DAP_VALUES_MAX 100000

/* Zeroed is empty. */
struct dap_values {
	struct dap_value *list; /* number N is list[N - 1] */
	size_t count;
	struct arena arena;
};

void dap_values_forget(struct dap_values *v);
void dap_values_release(struct dap_values *v);

/* Adds a copy of a container and returns its number; 0: the value has no members. */
int64_t dap_values_add(struct dap_values *v, struct str value);

/* "scopes": the call, its result, the state after and before it. */
void dap_values_scopes(struct dap_values *v, const struct known *k, int64_t frame,
                       struct json_writer *w);
/* "variables": the members of a container. FAIL_INPUT for an unknown number. */
MUST_USE int dap_values_members(struct dap_values *v, int64_t number, struct json_writer *w,
                                struct error *err);
/* Appends the member's path for watch (a JSON string); false: it cannot be watched. */
bool dap_values_path(const struct dap_values *v, int64_t number, struct str name, struct buf *out);

#endif
