/* Reading policy files: see file.h. */
#include "policy/file.h"

#include "base/text.h"
#include "json/write.h"
#include "policy/random.h"
#include "policy/script.h"
#include "policy/tools.h"

#include <errno.h>
#include <stdio.h>

struct policy_file {
	const char *path;
	const struct policy_conf *conf;
	struct json_tree *tree;
	const struct json_tree_node *root;
	struct arena arena;
};

static const char *const keys[] = {"kind",    "name",       "tool",     "actions",
                                   "calls",   "on_end",     "on_error", "seed",
                                   "$schema", "description"};

static int read_all(const char *path, struct buf *out, struct error *err)
{
	FILE *f = fopen(path, "rb");
	char piece[4096];
	size_t n;

	if (!f) {
		int number = errno;

		error_errno(err, "policy %s", path);
		if (number == ENOENT && strchr(path, '/') == NULL) {
			error_set(err, FAIL_INPUT,
			          "policy '%s': there is no such file, and no such kind "
			          "(script, random)",
			          path);
		}
		err->kind = FAIL_INPUT;
		return -1;
	}
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0) {
		buf_add(out, piece, n);
	}
	bool bad = ferror(f) != 0;
	fclose(f);
	if (bad || out->full) {
		return error_set(err, FAIL_INPUT, "policy %s: %s", path,
		                 bad ? "it cannot be read" : "it is over 64 MiB");
	}
	return 0;
}

static int check_keys(const struct policy_file *f, struct error *err)
{
	if (json_tree_type(f->root) != JSON_OBJECT) {
		return error_set(err, FAIL_INPUT, "a policy is an object, this is %s",
		                 json_type_name(json_tree_type(f->root)));
	}
	for (const struct json_tree_node *m = json_tree_first(f->root); m;
	     m = json_tree_next(m)) {
		const char *key = json_tree_key(m), *near;
		size_t i = 0;

		while (i < ARRAY_LEN(keys) && strcmp(keys[i], key) != 0) {
			i++;
		}
		if (i < ARRAY_LEN(keys)) {
			continue;
		}
		near = text_nearest(str_from(key), keys, ARRAY_LEN(keys));
		return error_set(err, FAIL_INPUT, "unknown key \"%s\"%s%s%s", key,
		                 near ? "; did you mean \"" : "", near ? near : "",
		                 near ? "\"?" : "");
	}
	return 0;
}

static struct str text_of(struct policy_file *f, const struct json_tree_node *n)
{
	return arena_str(&f->arena, str_from(json_tree_string(n)));
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
	if (!json_tree_i64(json_tree_get(n, "stop_after"), &times) || times < 1) {
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

static size_t count_of(const struct json_tree_node *list)
{
	size_t n = 0;

	for (const struct json_tree_node *c = json_tree_first(list); c;
	     c = json_tree_next(c)) {
		n++;
	}
	return n;
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

	if ((actions && calls) || json_tree_type(list) != JSON_ARRAY) {
		return error_set(
			err, FAIL_INPUT,
			"a script has either \"actions\" or \"calls\", an array");
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

/* A key that would be ignored is a mistake. */
static int refuse_keys(const struct policy_file *f, const char *kind,
                       const char *const *others, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		if (json_tree_get(f->root, others[i])) {
			return error_set(err, FAIL_INPUT, "a %s policy takes no \"%s\"",
			                 kind, others[i]);
		}
	}
	return 0;
}

static int open_kind(struct policy_file *f, struct policy **out, struct error *err)
{
	const char *kind = json_tree_string(json_tree_get(f->root, "kind"));
	const struct json_tree_node *name = json_tree_get(f->root, "name");
	const char *slash = strrchr(f->path, '/');
	static const char *const of_script[] = {"actions", "calls", "tool", "on_end",
	                                        "on_error"},
				 *const of_random[] = {"seed"};
	int64_t seed = 0;

	if (kind && !strcmp(kind, "script")) {
		if (refuse_keys(f, kind, of_random, ARRAY_LEN(of_random), err)) {
			return -1;
		}
		struct str fallback = str_from(slash ? slash + 1 : f->path);
		return open_script(f,
		                   json_tree_string(name) ? text_of(f, name) : fallback,
		                   out, err);
	}
	if (kind && !strcmp(kind, "random")) {
		if (refuse_keys(f, kind, of_script, ARRAY_LEN(of_script), err)) {
			return -1;
		}
		if (!json_tree_i64(json_tree_get(f->root, "seed"), &seed) || seed < 0) {
			return error_set(err, FAIL_INPUT,
			                 "\"seed\" is a whole number of at least 0");
		}
		return random_new(f->conf, (uint64_t)seed, out, err);
	}
	return error_set(err, FAIL_INPUT, "\"kind\" is \"script\" or \"random\"%s%s%s",
	                 kind ? ", not \"" : "", kind ? kind : "", kind ? "\"" : "");
}

int policy_file_open(const struct policy_conf *conf, struct policy **out,
                     struct error *err)
{
	struct policy_file f = {.path = conf->spec, .conf = conf};
	struct buf text = BUF(BUF_MAX_MESSAGE);
	int failed = read_all(conf->spec, &text, err);

	if (!failed) {
		failed = json_tree_parse(buf_view(&text), conf->spec, &f.tree, err);
	}
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
	buf_release(&text);
	return failed ? -1 : 0;
}
