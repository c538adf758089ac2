/* Random calls that match the tools' schemas. The same seed gives the same calls. */
#ifndef ROLLDBG_POLICY_RANDOM_H
#define ROLLDBG_POLICY_RANDOM_H

#include "policy/policy.h"

/* With conf->actions: draws from those. Otherwise draws a tool, or takes conf->tool, and draws its
   arguments. */
MUST_USE int random_new(const struct policy_conf *conf, struct str name, uint64_t seed,
                        struct policy **out, struct error *err);

#endif
