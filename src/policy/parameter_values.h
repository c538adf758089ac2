/* The values that a server's texts list for its tools' parameters. A list in a tool's description
   or in an error belongs to the parameter that the text names, or whose rejected value it
   repeats. */
#ifndef ROLLDBG_POLICY_PARAMETER_VALUES_H
#define ROLLDBG_POLICY_PARAMETER_VALUES_H

#include "json/scan.h"
#include "policy/value_lists.h"

#define PARAMETER_VALUES_MAX 128 /* lists kept */

struct parameter_list {
	struct str tool; /* decoded name */
	struct str key;  /* as spelled in JSON; absent: the tool's description was read */
	bool from_error;
	struct value_list list;
};

/* Zeroed: nothing is known. */
struct parameter_values {
	struct arena arena;
	struct parameter_list *item;
	size_t count;
};

/* Reads the tool's description, once. tool: raw JSON, as advertised. */
void parameter_values_describe(struct parameter_values *v, struct str tool);
/* Reads the error that answered a call. True: it lists values of a parameter. A later list
   replaces an earlier one. arguments: raw JSON. */
bool parameter_values_learn(struct parameter_values *v, struct str tool, struct str arguments,
                            struct str error);
/* The list of a parameter, of an error or of the description; NULL: none. Valid until the next
   change. */
const struct value_list *parameter_values_find(const struct parameter_values *v, struct str tool,
                                               struct str key, bool from_error);
void parameter_values_release(struct parameter_values *v);

#endif
