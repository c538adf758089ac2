/* Selection of the policy that the options ask for: see policy.h. */
#include "base/text.h"
#include "policy/policy_file.h"
#include "policy/script.h"
#include "policy/tool_set.h"

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

	for (size_t i = 0; i < policies_count; i++)
		if (policies[i]->kind == kind)
			return policies[i];
	return NULL;
}

/* Parses "KIND" or "KIND:ARGUMENT"; NULL: not a kind, so possibly a file. */
static const struct policy_ops *by_spec(const char *spec)
{
	return policy_of_kind((struct str){spec, strcspn(spec, ":")});
}

static int no_policy(const struct policy_conf *conf, struct error *err)
{
	AUTO_BUF names = BUF(BUF_MAX_SMALL);

	tool_names(conf->tools, &names);
	error_set(
		err, FAIL_USAGE,
		"no policy: use \1call\2 'TOOL key=value', \1actions\2 A,B,C or \1policy\2 FILE (or "
		"random:SEED); available tools: %s",
		buf_cstr(&names));
	return -1;
}

/* The option that gives the calls; NULL: none. */
static const char *given_calls(const struct policy_conf *conf)
{
	return conf->call_text_count ? "\1call\2" : conf->actions ? "\1actions\2" : NULL;
}

static int check_calls(const struct policy_conf *conf, const char *given, struct error *err)
{
	if (conf->actions && conf->call_text_count) {
		return error_set(err, FAIL_USAGE,
		                 "\1actions\2 and \1call\2 are mutually exclusive");
	}
	if (conf->calls.p && (given || conf->llm)) {
		return error_set(err, FAIL_USAGE,
		                 "a recording as \1policy\2 cannot be combined with "
		                 "\1actions\2, \1call\2 or a model");
	}
	return 0;
}

/* The kind; NULL: a file, calls, or nothing. */
static int choose(const struct policy_conf *conf, const struct policy_ops **kind, struct error *err)
{
	const char *given = given_calls(conf);

	*kind = conf->calls.p ? NULL
	        : conf->llm   ? &policy_llm
	        : conf->spec  ? by_spec(conf->spec)
	        : given       ? &policy_script
	                      : NULL;
	if (check_calls(conf, given, err))
		return -1;
	if (conf->llm && given)
		return error_set(err, FAIL_USAGE, "%s and a model are mutually exclusive", given);
	if (conf->spec && given && !*kind && !conf->calls.p) {
		return error_set(err, FAIL_USAGE, "%s and \1policy\2 FILE are mutually exclusive",
		                 given);
	}
	return 0;
}

int policy_open(const struct policy_conf *conf, struct policy **out, struct error *err)
{
	const struct policy_ops *kind;

	if (choose(conf, &kind, err))
		return -1;
	return conf->calls.p ? script_from_calls(conf, out, err)
	       : kind        ? kind->open(conf, out, err)
	       : conf->spec  ? policy_file_open(conf, out, err)
	                     : no_policy(conf, err);
}

int policy_check(const struct policy_conf *conf, struct error *err)
{
	const struct policy_ops *kind;

	if (choose(conf, &kind, err))
		return -1;
	if (kind)
		return kind->open(conf, NULL, err);
	return conf->spec && !conf->calls.p ? policy_file_open(conf, NULL, err) : 0;
}

static int read_error_texts(struct keyed *k, const char *const **out, size_t *count)
{
	struct str value = JSON_GET(text_trim(k->text), "error_text");
	bool list = json_type(value) == JSON_ARRAY;
	const char **texts = arena_new(k->arena, (json_count(value) + 1) * sizeof(*texts));
	size_t cursor = 0;

	k->key = "error_text";
	k->value = value;
	*out = texts;
	while (list ? json_next(value, &cursor, &k->value) : value.p && !*count) {
		if (keyed_name(k, &texts[*count]))
			return -1;
		++*count;
	}
	return 0;
}

int policy_error_texts(const char *spec, struct arena *arena, const char *const **out,
                       size_t *count, struct error *err)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	struct keyed k = {.what = "policy ", .name = spec, .arena = arena, .err = err};

	*out = NULL;
	*count = 0;
	if (!spec || by_spec(spec))
		return 0;
	int failed = policy_file_read(spec, &text, err);
	k.text = buf_view(&text);
	failed = failed || keyed_parse(&k) || read_error_texts(&k, out, count) ? -1 : 0;
	return failed;
}
