/* Policy files: see policy_file.h. The kind selects the policy that reads the other keys. */
#include "policy/policy_file.h"

#include "base/file.h"
#include "base/names.h"
#include "base/text.h"

#include <errno.h>
#include <unistd.h>

static int error_no_policy(const char *path, struct error *err)
{
	AUTO_BUF others = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < policies_count; i++)
		if (policies[i]->spelled)
			buf_printf(&others, "%s%s", others.n ? " and " : "", policies[i]->spelled);
	error_set(err, FAIL_INPUT,
	          "policy '%s': no such file or ready-made policy; other policies are %s", path,
	          buf_cstr(&others));
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
	AUTO_BUF text = BUF(out->max / 2); /* expanded, it fits into `out` */

	if (!strchr(path, '/') && access(path, F_OK) && errno == ENOENT)
		return error_no_file(path, err);
	return file_read("policy", path, &text, err) || expand(path, buf_view(&text), out, err) ? -1
	                                                                                        : 0;
}

static int error_kind(struct keyed *k)
{
	AUTO_BUF kinds = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < policies_count; i++)
		if (policies[i]->keys)
			buf_printf(&kinds, "%s\"%s\"", kinds.n ? " or " : "",
			           policy_kind_name(policies[i]->kind));
	return keyed_expected(k, buf_cstr(&kinds));
}

/* The kind is needed before the other keys can be read, so it is searched for first. */
static int read_kind(struct keyed *k, struct str root, const struct policy_ops **kind)
{
	if (keyed_is_object(k, root))
		return -1;
	k->key = "kind";
	k->value = JSON_GET(root, "kind");
	*kind = policy_of_kind(json_text(k->arena, k->value));
	if (*kind && !(*kind)->keys && (*kind)->spelled) {
		return keyed_fail(k, "a policy of kind \"%s\" needs no file: use \1policy\2 %s",
		                  policy_kind_name((*kind)->kind), (*kind)->spelled);
	}
	if (!*kind || !(*kind)->keys)
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
	AUTO_ARENA arena = {0};
	struct keyed k = {
		.what = "policy ", .name = conf->spec, .text = text, .arena = &arena, .err = err};
	struct str root = text_trim(text);
	const struct policy_ops *kind;
	int failed = keyed_parse(&k) || read_kind(&k, root, &kind) ||
	             kind->from_file(&k, root, conf, out);

	return failed ? -1 : 0;
}

int policy_file_open(const struct policy_conf *conf, struct policy **out, struct error *err)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	int failed = policy_file_read(conf->spec, &text, err) ||
	             policy_text_open(conf, buf_view(&text), out, err);

	return failed ? -1 : 0;
}
