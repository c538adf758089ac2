/* Selection of the policy, from options or a file: see policy.h and file.h. */
#include "policy/file.h"

#include "base/file.h"
#include "base/names.h"
#include "base/text.h"
#include "policy/script.h"
#include "policy/tools.h"

#include <errno.h>
#include <unistd.h>

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

/* ---- files ---- */

static int error_no_policy(const char *path, struct error *err)
{
	struct buf others = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < policies_count; i++)
		if (policies[i]->spelled)
			buf_printf(&others, "%s%s", others.n ? " and " : "", policies[i]->spelled);
	error_set(err, FAIL_INPUT,
	          "policy '%s': no such file or ready-made policy; other policies are %s", path,
	          buf_cstr(&others));
	buf_release(&others);
	return -1;
}

/* A spec such as "randm:7" is not a file, but probably a misspelt kind. */
static int error_no_file(const char *path, struct error *err)
{
	const char *names[POLICIES_MAX] = {NULL};
	struct str kind = {path, strcspn(path, ":")};

	for (size_t i = 0; i < policies_count && i < ARRAY_LEN(names); i++)
		names[i] = policy_kind_name(policies[i]->kind);
	if (!text_nearest(kind, names, ARRAY_LEN(names)))
		return error_no_policy(path, err);
	error_set(err, FAIL_INPUT, "policy '%s': no such file", path);
	return names_suggest(err, kind, names, ARRAY_LEN(names));
}

/* An object without "kind" is a call if it has arguments, or if others follow. */
static bool begins_with_call(struct str text)
{
	struct json_fault fault;
	size_t used;

	if (json_validate_first(text, &used, &fault) != 0)
		return false;
	struct str first = text_trim((struct str){text.p, used});
	return json_type(first) == JSON_OBJECT && !JSON_GET(first, "kind").p &&
	       (JSON_GET(first, "arguments").p || text_trim(str_skip(text, used)).n > 0);
}

/* Appends the lines as elements of an array. Each must be a value of its own. */
static int join_lines(struct keyed *k, struct str text, struct buf *out)
{
	const char *end = text.p + text.n, *comma = "";

	for (k->line = 1; text.n > 0; k->line++) {
		const char *feed = memchr(text.p, '\n', text.n);

		k->text = (struct str){text.p, (size_t)((feed ? feed : end) - text.p)};
		if (text_trim(k->text).n) {
			buf_text(out, comma);
			comma = ",";
			if (keyed_parse(k))
				return -1;
		}
		buf_str(out, k->text);
		buf_text(out, feed ? "\n" : "");
		text = str_skip(text, k->text.n + (feed != NULL));
	}
	return 0;
}

/* Appends the text; if it is a mere list of calls, as the script of which they are the "calls".
   Values stay in their lines, which errors name. */
static int expand(const char *path, struct str text, struct buf *out, struct error *err)
{
	struct keyed k = {.what = "policy ", .name = path, .text = text, .err = err};
	bool array = text_trim(text).n && text_trim(text).p[0] == '[';

	if (!array && !begins_with_call(text)) {
		buf_str(out, text);
		return 0;
	}
	buf_text(out, "{\"kind\":\"script\",\"calls\":");
	if (array) {
		buf_str(out, text);
		buf_char(out, '}');
		return keyed_parse(&k);
	}
	buf_char(out, '[');
	int failed = join_lines(&k, text, out);
	buf_text(out, "]}");
	return failed;
}

int policy_file_read(const char *path, struct buf *out, struct error *err)
{
	struct buf text = BUF(out->max / 2); /* expanded, it fits into `out` */

	if (!strchr(path, '/') && access(path, F_OK) && errno == ENOENT)
		return error_no_file(path, err);
	int failed =
		file_read("policy", path, &text, err) || expand(path, buf_view(&text), out, err);
	buf_release(&text);
	return failed ? -1 : 0;
}

static int error_kind(struct keyed *k)
{
	struct buf kinds = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < policies_count; i++) {
		buf_text(&kinds, i == 0 ? "" : i + 1 < policies_count ? ", " : " or ");
		buf_printf(&kinds, "\"%s\"", policy_kind_name(policies[i]->kind));
	}
	int failed = keyed_expected(k, buf_cstr(&kinds));
	buf_release(&kinds);
	return failed;
}

/* The kind is needed before the other keys can be read, so it is searched for first. */
static int read_kind(struct keyed *k, struct str root, const struct policy_ops **kind)
{
	if (keyed_is_object(k, root))
		return -1;
	k->key = "kind";
	k->value = JSON_GET(root, "kind");
	struct str word =
		json_type(k->value) == JSON_STRING ? json_text(k->arena, k->value) : STR_NONE;
	*kind = policy_of_kind(word);
	if (!*kind)
		return error_kind(k);
	return (*kind)->from_file ? 0
	                          : keyed_fail(k,
	                                       "a policy of kind \"%s\" applies to all tasks, "
	                                       "it cannot be used for a single task",
	                                       policy_kind_name((*kind)->kind));
}

struct str policy_file_title(const struct policy_conf *conf, const struct policy_file *f)
{
	const char *slash = strrchr(conf->spec, '/');

	return str_from(f->name ? f->name : slash ? slash + 1 : conf->spec);
}

int policy_file_invalid(struct keyed *k)
{
	error_wrap(k->err, "policy %s", k->name);
	k->err->kind = FAIL_INPUT;
	return -1;
}

int policy_text_open(const struct policy_conf *conf, struct str text, struct policy **out,
                     struct error *err)
{
	struct arena arena = {0};
	struct keyed k = {
		.what = "policy ", .name = conf->spec, .text = text, .arena = &arena, .err = err};
	struct str root = text_trim(text);
	const struct policy_ops *kind;
	int failed = keyed_parse(&k) || read_kind(&k, root, &kind) ||
	             kind->from_file(&k, root, conf, out);

	arena_release(&arena);
	return failed ? -1 : 0;
}

int policy_file_open(const struct policy_conf *conf, struct policy **out, struct error *err)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	int failed = policy_file_read(conf->spec, &text, err) ||
	             policy_text_open(conf, buf_view(&text), out, err);

	buf_release(&text);
	return failed ? -1 : 0;
}

/* ---- options ---- */

static int no_policy(const struct policy_conf *conf, struct error *err)
{
	struct buf names = BUF(BUF_MAX_SMALL);

	tool_names(conf->tools, &names);
	error_set(
		err, FAIL_USAGE,
		"no policy: use \1call\2 'TOOL key=value', \1actions\2 A,B,C or \1policy\2 FILE (or "
		"random:SEED); available tools: %s",
		buf_cstr(&names));
	buf_release(&names);
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
	struct buf text = BUF(BUF_MAX_MESSAGE);
	struct keyed k = {.what = "policy ", .name = spec, .arena = arena, .err = err};

	*out = NULL;
	*count = 0;
	if (!spec || by_spec(spec))
		return 0;
	int failed = policy_file_read(spec, &text, err);
	k.text = buf_view(&text);
	failed = failed || keyed_parse(&k) || read_error_texts(&k, out, count) ? -1 : 0;
	buf_release(&text);
	return failed;
}
