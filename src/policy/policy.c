/* The table of policies and the choice among them; policy files. */
#include "policy/policy.h"

#include "base/text.h"
#include "json/tree.h"
#include "json/write.h"
#include "policy/file.h"
#include "policy/tools.h"

#define POLICY(id) extern const struct policy_ops policy_##id;
#include "policy/policies.def"
#undef POLICY

const struct policy_ops *const policies[] = {
#define POLICY(id) &policy_##id,
#include "policy/policies.def"
#undef POLICY
};
const size_t policies_count = ARRAY_LEN(policies);

static const struct policy_ops *by_kind(struct str spec)
{
	for (size_t i = 0; i < policies_count; i++) {
		struct str name = str_from(policies[i]->name);

		if (str_starts(spec, name) &&
		    (spec.n == name.n || spec.p[name.n] == ':')) {
			return policies[i];
		}
	}
	return NULL;
}

int policy_open(const struct policy_conf *conf, struct policy **out, struct error *err)
{
	const struct policy_ops *kind =
		by_kind(str_from(conf->spec ? conf->spec : "script"));

	if (conf->llm && conf->actions) {
		return error_set(
			err, FAIL_USAGE,
			"--actions and a model are two policies: give one of them");
	}
	if (conf->llm) {
		return policy_llm.open(conf, out, err);
	}
	if (kind && (conf->spec || conf->actions)) {
		if (conf->spec && !strcmp(kind->name, "script")) {
			return error_set(err, FAIL_USAGE,
			                 "--policy script needs no kind: give --actions "
			                 "A,B,C or the "
			                 "policy's file");
		}
		return kind->open(conf, out, err);
	}
	if (conf->spec && conf->actions) {
		return error_set(
			err, FAIL_USAGE,
			"--actions and --policy FILE are two policies: give one of them");
	}
	if (conf->spec) {
		return policy_file_open(conf, out, err);
	}
	struct buf names = BUF(BUF_MAX_SMALL);
	tool_names(conf->tools, &names);
	error_set(err, FAIL_USAGE,
	          "nothing to do: give --actions A,B,C or --policy FILE; the server's "
	          "tools: %s",
	          buf_cstr(&names));
	buf_release(&names);
	return -1;
}

int policy_check(const char *spec, struct error *err)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	struct json_tree *tree = NULL;

	if (by_kind(str_from(spec))) {
		return 0;
	}
	int failed = policy_file_read(spec, &text, err) ||
	             json_tree_parse(buf_view(&text), spec, &tree, err);
	json_tree_free(tree);
	buf_release(&text);
	return failed ? -1 : 0;
}
