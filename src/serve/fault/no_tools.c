/* Fault no-tools: the list is empty, and what it should have named is unknown. */
#include "serve/fault/hooks.h"

const struct fault_hooks fault_no_tools = {.no_tools = true};
