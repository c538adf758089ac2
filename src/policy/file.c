/* Reading policy files: see file.h. */
#include "policy/file.h"

#include "base/file.h"
#include "base/text.h"
#include "json/write.h"
#include "policy/random.h"
#include "policy/script.h"
#include "policy/tools.h"

#include <errno.h>
#include <unistd.h>

struct policy_file {
	const char *path;
	const struct policy_conf *conf;
	struct json_tree *tree;
	const struct json_tree_node *root;
	struct arena arena;
};

/* Which kinds have a key, and what it is. */
struct file_key {
	const char *name;
	bool script, random;
	enum json_type type; /* JSON_ABSENT: its reader says */
};

static const struct file_key keys[] = {
	{"kind", true, true, JSON_STRING},      {"name", true, true, JSON_STRING},
	{"$schema", true, true, JSON_STRING},   {"description", true, true, JSON_STRING},
	{"tool", true, false, JSON_STRING},     {"actions", true, false, JSON_ARRAY},
	{"calls", true, false, JSON_ARRAY},     {"on_end", true, false, JSON_ABSENT},
	{"on_error", true, false, JSON_ABSENT}, {"seed", false, true, JSON_ABSENT},
};

static const char *const call_keys[] = {"name", "arguments"};

/* "--policy randm:7" is no file; perhaps it was to be a kind. */
static int no_such_file(const char *path, struct error *err)
{
	const char *names[8] = {NULL}, *near;

	for (size_t i = 0; i < policies_count && i < ARRAY_LEN(names); i++) {
		names[i] = policies[i]->name;
	}
	near = text_nearest((struct str){path, strcspn(path, ":")}, names,
	                    ARRAY_LEN(names));
	return error_set(err, FAIL_INPUT, "policy '%s': there is no such file%s%s%s",
	                 path, near ? "; did you mean the kind '" : "", near ? near : "",
	                 near ? "'?" : ", and it is neither random:SEED nor llm");
}

int policy_file_read(const char *path, struct buf *out, struct error *err)
{
	if (!strchr(path, '/') && access(path, F_OK) && errno == ENOENT) {
		return no_such_file(path, err);
	}
	return file_read("policy", path, out, err);
}

static int unknown_key(const char *key, const char *const *known, size_t count,
                       struct error *err)
{
	const char *near = text_nearest(str_from(key), known, count);

	return error_set(err, FAIL_INPUT, "unknown key \"%s\"%s%s%s", key,
	                 near ? "; did you mean \"" : "", near ? near : "",
	                 near ? "\"?" : "");
}

static int check_key(const char *kind, const struct json_tree_node *m, struct error *err)
{
	const char *key = json_tree_key(m), *names[ARRAY_LEN(keys)];
	bool random = strcmp(kind, "random") == 0;
	const struct file_key *k = NULL;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		names[i] = keys[i].name;
		k = strcmp(key, keys[i].name) == 0 ? &keys[i] : k;
	}
	if (!k) {
		return unknown_key(key, names, ARRAY_LEN(names), err);
	}
	if (random ? !k->random : !k->script) {
		return error_set(err, FAIL_INPUT, "a %s policy takes no \"%s\"", kind,
		                 key);
	}
	if (k->type != JSON_ABSENT && json_tree_type(m) != k->type) {
		return error_set(err, FAIL_INPUT, "\"%s\" is %s, not %s", key,
		                 json_type_name(json_tree_type(m)),
		                 json_type_name(k->type));
	}
	return 0;
}

/* The kind comes first, whatever the order in the file: it decides about the others. */
static int check_keys(const struct policy_file *f, struct error *err)
{
	const char *kind = json_tree_string(json_tree_get(f->root, "kind"));

	if (json_tree_type(f->root) != JSON_OBJECT) {
		return error_set(err, FAIL_INPUT, "a policy is an object, this is %s",
		                 json_type_name(json_tree_type(f->root)));
	}
	if (kind && strcmp(kind, "llm") == 0) {
		return error_set(err, FAIL_INPUT,
		                 "a policy of kind \"llm\" is given by --policy, for all "
		                 "tasks");
	}
	if (!kind || (strcmp(kind, "script") != 0 && strcmp(kind, "random") != 0)) {
		return error_set(err, FAIL_INPUT,
		                 "\"kind\" is \"script\", \"random\" or \"llm\"%s%s%s",
		                 kind ? ", not \"" : "", kind ? kind : "",
		                 kind ? "\"" : "");
	}
	for (const struct json_tree_node *m = json_tree_first(f->root); m;
	     m = json_tree_next(m)) {
		if (check_key(kind, m, err)) {
			return -1;
		}
	}
	return 0;
}

static struct str text_of(struct policy_file *f, const struct json_tree_node *n)
{
	return arena_str(&f->arena, str_from(json_tree_string(n)));
}

static size_t count_of(const struct json_tree_node *list)
{
	size_t n = 0;

	for (const struct json_tree_node *c = json_tree_first(list); c;
	     c = json_tree_next(c)) {
		n++;
	}
	return n;
}

static int read_on_end(const struct policy_file *f, struct script_conf *out,
                       struct error *err)
{
	static const char *const words[] = {"stop", "cycle", "repeat"};
	const struct json_tree_node *n = json_tree_get(f->root, "on_end");
	const char *word = json_tree_string(n);

	for (size_t i = 0; n && word && i < ARRAY_LEN(words); i++) {
		if (!strcmp(word, words[i])) {
			out->on_end = (enum on_end)i;
			return 0;
		}
	}
	return n ? error_set(err, FAIL_INPUT,
	                     "\"on_end\" is \"stop\", \"cycle\" or \"repeat\"")
	         : 0;
}

static int read_on_error(const struct policy_file *f, struct script_conf *out,
                         struct error *err)
{
	const struct json_tree_node *n = json_tree_get(f->root, "on_error");
	const char *word = json_tree_string(n);
	int64_t times = 0;

	if (!n || (word && !strcmp(word, "continue"))) {
		return 0;
	}
	if (!json_tree_i64(json_tree_get(n, "stop_after"), &times) || times < 1 ||
	    count_of(n) != 1) {
		return error_set(err, FAIL_INPUT,
		                 "\"on_error\" is \"continue\" or {\"stop_after\": K} "
		                 "with K of at least 1");
	}
	out->stop_after = times;
	return 0;
}

static int read_call(struct policy_file *f, const struct json_tree_node *n,
                     struct script_call *out, struct error *err)
{
	const struct json_tree_node *arguments = json_tree_get(n, "arguments");
	struct buf raw = BUF(BUF_MAX_MESSAGE);

	for (const struct json_tree_node *m = json_tree_first(n);
	     m && json_tree_type(n) == JSON_OBJECT; m = json_tree_next(m)) {
		if (strcmp(json_tree_key(m), "name") != 0 &&
		    strcmp(json_tree_key(m), "arguments") != 0) {
			return unknown_key(json_tree_key(m), call_keys,
			                   ARRAY_LEN(call_keys), err);
		}
	}
	if (!json_tree_string(json_tree_get(n, "name")) ||
	    (arguments && json_tree_type(arguments) != JSON_OBJECT)) {
		return error_set(err, FAIL_INPUT,
		                 "a call is {\"name\": \"...\", \"arguments\": {...}}");
	}
	if (arguments) {
		json_tree_write(f->tree, arguments, &raw);
	} else {
		buf_text(&raw, "{}");
	}
	out->name = text_of(f, json_tree_get(n, "name"));
	out->arguments = arena_str(&f->arena, buf_view(&raw));
	buf_release(&raw);
	return 0;
}

static int read_calls(struct policy_file *f, const struct json_tree_node *list,
                      struct script_conf *out, struct error *err)
{
	size_t i = 0;

	out->count = count_of(list);
	out->calls = arena_new(&f->arena, out->count * sizeof(*out->calls));
	for (const struct json_tree_node *c = json_tree_first(list); c;
	     c = json_tree_next(c)) {
		if (read_call(f, c, &out->calls[i++], err)) {
			return error_wrap(err, "\"calls\"[%zu]", i - 1);
		}
	}
	return script_check(f->conf, out, err);
}

static int read_actions(struct policy_file *f, const struct json_tree_node *list,
                        struct script_conf *out, struct error *err)
{
	size_t count = count_of(list), i = 0;
	struct str *actions =
		arena_new(&f->arena, (count ? count : 1) * sizeof(*actions));
	struct policy_conf conf = *f->conf;
	const char *tool = json_tree_string(json_tree_get(f->root, "tool"));

	conf.tool = conf.tool ? conf.tool : tool;
	for (const struct json_tree_node *a = json_tree_first(list); a;
	     a = json_tree_next(a)) {
		struct buf raw = BUF(BUF_MAX_SMALL);

		if (json_tree_string(a)) {
			actions[i++] = text_of(f, a);
			continue;
		}
		json_tree_write(f->tree, a, &raw);
		actions[i++] = arena_str(&f->arena, buf_view(&raw));
		buf_release(&raw);
	}
	return script_from_actions(&conf, actions, count, &f->arena, out, err);
}

static struct str whole_file(struct policy_file *f)
{
	struct buf raw = BUF(BUF_MAX_MESSAGE);

	json_tree_write(f->tree, f->root, &raw);
	struct str kept = arena_str(&f->arena, buf_view(&raw));
	buf_release(&raw);
	return kept;
}

static int open_script(struct policy_file *f, struct str name, struct policy **out,
                       struct error *err)
{
	const struct json_tree_node *actions = json_tree_get(f->root, "actions");
	const struct json_tree_node *calls = json_tree_get(f->root, "calls");
	const struct json_tree_node *list = actions ? actions : calls;
	struct script_conf script = {.name = name};

	if ((actions && calls) || !list) {
		return error_set(
			err, FAIL_INPUT,
			"a script has either \"actions\" or \"calls\", an array");
	}
	if (calls && (json_tree_get(f->root, "tool") || f->conf->tool)) {
		return error_set(err, FAIL_INPUT,
		                 "each of the \"calls\" names its tool: %s goes with "
		                 "\"actions\"",
		                 f->conf->tool ? "--tool" : "\"tool\"");
	}
	if (read_on_end(f, &script, err) || read_on_error(f, &script, err) ||
	    (actions ? read_actions(f, list, &script, err)
	             : read_calls(f, list, &script, err))) {
		return -1;
	}
	script.params = whole_file(f);
	*out = script_new(&script);
	return 0;
}

static int open_kind(struct policy_file *f, struct policy **out, struct error *err)
{
	const char *kind = json_tree_string(json_tree_get(f->root, "kind"));
	const struct json_tree_node *name = json_tree_get(f->root, "name");
	const char *slash = strrchr(f->path, '/');
	struct str title =
		name ? text_of(f, name) : str_from(slash ? slash + 1 : f->path);
	int64_t seed = 0;

	if (strcmp(kind, "script") == 0) {
		return open_script(f, title, out, err);
	}
	if (!json_tree_i64(json_tree_get(f->root, "seed"), &seed) || seed < 0) {
		return error_set(err, FAIL_INPUT,
		                 "\"seed\" is a whole number of at least 0");
	}
	return random_new(f->conf, title, (uint64_t)seed, out, err);
}

int policy_text_open(const struct policy_conf *conf, struct str text, struct policy **out,
                     struct error *err)
{
	struct policy_file f = {.path = conf->spec, .conf = conf};
	int failed = json_tree_parse(text, conf->spec, &f.tree, err);

	if (!failed) {
		f.root = json_tree_root(f.tree);
		failed = check_keys(&f, err) || open_kind(&f, out, err);
		if (failed) {
			error_wrap(err, "policy %s", conf->spec);
			err->kind = FAIL_INPUT;
		}
	}
	json_tree_free(f.tree);
	arena_release(&f.arena);
	return failed ? -1 : 0;
}

int policy_file_open(const struct policy_conf *conf, struct policy **out,
                     struct error *err)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	int failed = policy_file_read(conf->spec, &text, err) ||
	             policy_text_open(conf, buf_view(&text), out, err);

	buf_release(&text);
	return failed ? -1 : 0;
}
