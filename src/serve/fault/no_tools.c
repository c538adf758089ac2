/* Fault no-tools: tools/list is empty, and every call fails as an unknown tool. */
#include "serve/fault/hooks.h"

const struct fault_hooks fault_no_tools = {.no_tools = true};
