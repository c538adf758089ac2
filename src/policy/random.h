/* Random calls that fit the tools' schemas: the same seed gives the same calls. */
#ifndef ROLLDBG_POLICY_RANDOM_H
#define ROLLDBG_POLICY_RANDOM_H

#include "policy/policy.h"

/* With conf->actions: draws from those. Otherwise tools and arguments are drawn. */
MUST_USE int random_new(const struct policy_conf *conf, struct str name, uint64_t seed,
                        struct policy **out, struct error *err);

#endif
