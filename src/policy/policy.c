/* The table of policies: see policy.h. */
#include "policy/policy.h"

#define POLICY(id) extern const struct policy_ops policy_##id;
#include "policy/policies.def"
#undef POLICY

const struct policy_ops *const policies[] = {
#define POLICY(id) &policy_##id,
#include "policy/policies.def"
#undef POLICY
};
const size_t policies_count = ARRAY_LEN(policies);

_Static_assert(ARRAY_LEN(policies) <= POLICIES_MAX, "there is room for each name");

const struct policy_ops *policy_of_kind(struct str word)
{
	enum policy_kind kind = policy_kind_parse(word);

	for (size_t i = 0; i < policies_count; i++) {
		if (policies[i]->kind == kind) {
			return policies[i];
		}
	}
	return NULL;
}
