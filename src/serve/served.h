/* The JSON files of the directories here, each on one line. Generated at build time: see the
   Makefile. */
#pragma once

#include "base/base.h"

extern const struct str served_desk_tools, served_lake_tools;
extern const struct str served_call_tool, served_observation, served_state; /* of OpenEnv */
