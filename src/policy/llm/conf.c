/* Reading what a model's policy is set to: see conf.h. */
#include "policy/llm/conf.h"

#include "base/log.h"
#include "base/text.h"
#include "json/tree.h"
#include "json/write.h"
#include "policy/file.h"

#include <stdlib.h>

const char *const tool_mode_names[] = {"native", "json", "text", NULL};
const char *const on_no_tool_names[] = {"stop", "nudge", "continue", NULL};

/* Where nobody says what to tell the model. */
#define DEFAULT_SYSTEM                                                                   \
	"You act in an environment through the tools you are given. Call a tool in "     \
	"every turn until the task is done."
#define DEFAULT_USER "{task}\n{observation}"

struct reading {
	const char *path; /* NULL: no file */
	struct json_tree *tree;
	const struct json_tree_node *root;
	const struct llm_options *options;
	struct llm_conf *conf;
};

static const struct {
	const char *name;
	enum json_type type;
} keys[] = {
	{"kind", JSON_STRING},        {"name", JSON_STRING},
	{"description", JSON_STRING}, {"$schema", JSON_STRING},
	{"base_url", JSON_STRING},    {"model", JSON_STRING},
	{"profile", JSON_STRING},     {"key_env", JSON_STRING},
	{"system", JSON_STRING},      {"user", JSON_STRING},
	{"sampling", JSON_OBJECT},    {"extra", JSON_OBJECT},
	{"tool_mode", JSON_STRING},   {"repair", JSON_TRUE},
	{"on_no_tool", JSON_STRING},  {"stream", JSON_TRUE},
	{"tokens", JSON_TRUE},        {"timeout", JSON_STRING},
	{"retries", JSON_NUMBER},
};

/* ---- the file ---- */

static int check_key(const struct json_tree_node *m, struct error *err)
{
	const char *key = json_tree_key(m), *names[ARRAY_LEN(keys)];
	enum json_type type = json_tree_type(m);
	struct buf near = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		names[i] = keys[i].name;
		if (strcmp(key, keys[i].name) != 0) {
			continue;
		}
		if (type == keys[i].type ||
		    (keys[i].type == JSON_TRUE && type == JSON_FALSE)) {
			return 0;
		}
		return error_set(err, FAIL_INPUT, "\"%s\" is %s, not %s", key,
		                 json_type_name(type),
		                 keys[i].type == JSON_TRUE
		                         ? "true or false"
		                         : json_type_name(keys[i].type));
	}
	text_suggest(&near, str_from(key), names, ARRAY_LEN(names));
	error_set(err, FAIL_INPUT, "unknown key \"%s\"%s", key, buf_cstr(&near));
	buf_release(&near);
	return -1;
}

static int check_keys(const struct reading *r, struct error *err)
{
	for (const struct json_tree_node *m = json_tree_first(r->root); m;
	     m = json_tree_next(m)) {
		if (check_key(m, err)) {
			return -1;
		}
	}
	return 0;
}

/* Is it a file of our kind? Anything else about it is for others to say. */
static bool open_file(struct reading *r, const char *path)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	struct error ignored;
	const char *kind = NULL;

	if (!policy_file_read(path, &text, &ignored) &&
	    !json_tree_parse(buf_view(&text), path, &r->tree, &ignored)) {
		r->path = path;
		r->root = json_tree_root(r->tree);
		kind = json_tree_string(json_tree_get(r->root, "kind"));
	}
	buf_release(&text);
	return kind && strcmp(kind, "llm") == 0;
}

/* ---- values: the command line, else the file, else the default ---- */

static const char *text_of(struct reading *r, const char *option, const char *key,
                           const char *otherwise)
{
	const char *text = option;

	if (!text && r->root) {
		text = json_tree_string(json_tree_get(r->root, key));
	}
	if (!text) {
		text = otherwise;
	}
	return text ? arena_str(&r->conf->arena, str_from(text)).p : NULL;
}

static bool flag_of(const struct reading *r, bool option, const char *key, bool otherwise)
{
	bool value = otherwise;

	if (r->root) {
		json_tree_bool(json_tree_get(r->root, key), &value);
	}
	return option ? !otherwise : value;
}

static struct str raw_of(struct reading *r, const char *key)
{
	const struct json_tree_node *n = r->root ? json_tree_get(r->root, key) : NULL;
	struct buf raw = BUF(BUF_MAX_SMALL);

	if (!n) {
		return (struct str){NULL, 0};
	}
	json_tree_write(r->tree, n, &raw);
	struct str kept = arena_str(&r->conf->arena, buf_view(&raw));
	buf_release(&raw);
	return kept;
}

static int word_of(const struct reading *r, const char *word, const char *what,
                   const char *const *names, int *out, struct error *err)
{
	struct buf near = BUF(BUF_MAX_SMALL);
	size_t count = 0;

	for (; names[count]; count++) {
		if (strcmp(names[count], word) == 0) {
			*out = (int)count;
			return 0;
		}
	}
	text_suggest(&near, str_from(word), names, count);
	error_set(err, r->path ? FAIL_INPUT : FAIL_USAGE, "%s \"%s\"%s", what, word,
	          buf_cstr(&near));
	buf_release(&near);
	return -1;
}

static int read_words(struct reading *r, struct error *err)
{
	const char *profile = text_of(r, r->options->profile, "profile", "generic");
	const char *names[16] = {NULL};
	struct llm_conf *c = r->conf;
	int which = 0;

	for (size_t i = 0; i < profiles_count && i + 1 < ARRAY_LEN(names); i++) {
		names[i] = profiles[i].name;
	}
	if (word_of(r, profile, "unknown profile", names, &which, err)) {
		return -1;
	}
	c->profile = &profiles[which];
	if (word_of(r, text_of(r, r->options->tool_mode, "tool_mode", "native"),
	            "unknown tool mode", tool_mode_names, &which, err)) {
		return -1;
	}
	c->tool_mode = (enum tool_mode)which;
	if (word_of(r, text_of(r, r->options->on_no_tool, "on_no_tool", "stop"),
	            "on_no_tool is not", on_no_tool_names, &which, err)) {
		return -1;
	}
	c->on_no_tool = (enum on_no_tool)which;
	return 0;
}

static int read_numbers(struct reading *r, struct error *err)
{
	const struct json_tree_node *retries =
		r->root ? json_tree_get(r->root, "retries") : NULL;
	const char *timeout = text_of(r, NULL, "timeout", NULL);
	struct llm_conf *c = r->conf;
	int64_t n = LLM_RETRIES;

	c->timeout_ms = LLM_TIMEOUT_MS;
	if (timeout && (!text_duration_ms(str_from(timeout), &c->timeout_ms) ||
	                c->timeout_ms == 0)) {
		return error_set(err, FAIL_INPUT,
		                 "\"timeout\" is a duration with its unit, such as "
		                 "\"5m\", not \"%s\"",
		                 timeout);
	}
	if (retries && (!json_tree_i64(retries, &n) || n < 0 || n > 100)) {
		return error_set(err, FAIL_INPUT,
		                 "\"retries\" is a whole number from 0 to 100");
	}
	c->retries = r->options->retries.given ? r->options->retries.value : (uint64_t)n;
	if (r->options->timeout.given) {
		c->timeout_ms = r->options->timeout.value;
	}
	return 0;
}

static bool ends_with_version(struct str url)
{
	size_t n = url.n;

	while (n && url.p[n - 1] >= '0' && url.p[n - 1] <= '9') {
		n--;
	}
	return n < url.n && n >= 2 && url.p[n - 1] == 'v' && url.p[n - 2] == '/';
}

/* The base URL comes with or without /v1, and some paste the whole of it. */
static int read_url(struct reading *r, struct error *err)
{
	const char *base = text_of(r, r->options->base_url, "base_url", NULL);
	struct buf url = BUF(BUF_MAX_SMALL);
	struct str s = str_from(base);

	if (!base) {
		return error_set(err, r->path ? FAIL_INPUT : FAIL_USAGE,
		                 "no model server is given: --base-url "
		                 "http://HOST:PORT/v1, or \"base_url\" in a policy file");
	}
	if (strncmp(base, "http://", 7) != 0 && strncmp(base, "https://", 8) != 0) {
		return error_set(err, r->options->base_url ? FAIL_USAGE : FAIL_INPUT,
		                 "the base URL of a model begins with http:// or "
		                 "https://, not '%s'",
		                 base);
	}
	if (base[strcspn(base, "?#")]) {
		return error_set(err, r->options->base_url ? FAIL_USAGE : FAIL_INPUT,
		                 "the base URL of a model ends with its path: \"?\" or "
		                 "\"#\" and what follows do not belong there");
	}
	const char *host = strstr(base, "://") + 3;

	if (memchr(host, '@', strcspn(host, "/?#"))) {
		return error_set(err, r->options->base_url ? FAIL_USAGE : FAIL_INPUT,
		                 "a password in the model's URL would be recorded: "
		                 "give a key by --key-env VARIABLE");
	}
	while (s.n && s.p[s.n - 1] == '/') {
		s.n--;
	}
	buf_str(&url, s);
	if (!str_ends(s, STR("/chat/completions"))) {
		buf_text(&url, ends_with_version(s) ? "" : "/v1");
		buf_text(&url, "/chat/completions");
	}
	r->conf->url = arena_str(&r->conf->arena, buf_view(&url)).p;
	buf_release(&url);
	return 0;
}

static int read_key(struct reading *r, const char *(*variable)(const char *name),
                    struct error *err)
{
	const char *asked = text_of(r, r->options->key_env, "key_env", NULL);
	const char *name = asked ? asked : r->conf->profile->key_variable;
	const char *key = name ? variable(name) : NULL;

	if (name && (!key || !*key)) {
		return error_set(err, FAIL_USAGE,
		                 "the model's API key: the variable %s is not set%s",
		                 name, asked ? "" : "; --key-env names another");
	}
	for (size_t i = 0; key && key[i]; i++) {
		if ((unsigned char)key[i] < ' ' || key[i] == 127) {
			return error_set(
				err, FAIL_USAGE,
				"the model's API key in %s has a control "
				"character in it, a line feed at the end perhaps",
				name);
		}
	}
	r->conf->key = key ? arena_str(&r->conf->arena, str_from(key)).p : NULL;
	return 0;
}

/* What the header says of it: everything but the key. */
static void describe(struct llm_conf *c, const char *key_env)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	struct json_writer w;

	jw_init(&w, &text);
	jw_object(&w);
	jw_key(&w, "model");
	jw_text(&w, c->model);
	jw_key(&w, "profile");
	jw_text(&w, c->profile->name);
	jw_key(&w, "tool_mode");
	jw_text(&w, tool_mode_names[c->tool_mode]);
	jw_key(&w, "on_no_tool");
	jw_text(&w, on_no_tool_names[c->on_no_tool]);
	jw_key(&w, "repair");
	jw_bool(&w, c->repair);
	jw_key(&w, "stream");
	jw_bool(&w, c->stream);
	jw_key(&w, "key_env");
	jw_text(&w, key_env);
	jw_key(&w, "asked");
	jw_raw(&w, c->asked);
	if (c->extra.p) {
		jw_key(&w, "extra");
		jw_raw(&w, c->extra);
	}
	jw_end(&w);
	c->params = arena_str(&c->arena, buf_view(&text));
	buf_release(&text);
}

static void tell_unsent(const struct llm_conf *c)
{
	struct buf name = BUF(BUF_MAX_SMALL);
	struct json_member m;

	for (size_t cursor = 0; json_next_member(c->asked, &cursor, &m);) {
		buf_clear(&name);
		text_escape_cut(&name, m.key, 80);
		if (!profile_accepts(c->profile, buf_cstr(&name))) {
			log_warn("the profile %s does not take %s, so it is not sent "
			         "(\"extra\" is sent as it is)",
			         c->profile->name, buf_cstr(&name));
		}
	}
	buf_release(&name);
}

static int read_all(struct reading *r, const char *(*variable)(const char *name),
                    struct error *err)
{
	const struct llm_options *o = r->options;
	struct llm_conf *c = r->conf;
	const char *slash = r->path ? strrchr(r->path, '/') : NULL;
	const char *title = slash ? slash + 1 : r->path ? r->path : "llm";

	if ((r->root && check_keys(r, err)) || read_words(r, err) ||
	    read_numbers(r, err) || read_url(r, err) || read_key(r, variable, err)) {
		return -1;
	}
	c->model = text_of(r, o->model, "model", NULL);
	if (!c->model) {
		return error_set(err, r->path ? FAIL_INPUT : FAIL_USAGE,
		                 "no model is given: --model NAME, or \"model\" in "
		                 "a policy file");
	}
	c->name = str_from(text_of(r, NULL, "name", title));
	c->system = text_of(r, o->system, "system", DEFAULT_SYSTEM);
	c->user = text_of(r, o->user, "user", DEFAULT_USER);
	c->repair = flag_of(r, o->no_repair, "repair", true);
	c->stream = flag_of(r, o->stream, "stream", false);
	c->tokens = flag_of(r, o->tokens, "tokens", false);
	c->asked = raw_of(r, "sampling");
	c->asked = c->asked.p ? c->asked : STR("{}");
	c->extra = raw_of(r, "extra");
	tell_unsent(c);
	describe(c, text_of(r, o->key_env, "key_env", c->profile->key_variable));
	return 0;
}

int llm_conf_new(const char *spec, const struct llm_options *o,
                 const char *(*variable)(const char *name), struct llm_conf **out,
                 struct error *err)
{
	struct reading r = {.options = o};
	bool plain = spec && strcmp(spec, "llm") == 0;
	int failed = 0;

	*out = NULL;
	if (spec && (plain || open_file(&r, spec))) {
		r.conf = mem_new(sizeof(*r.conf));
		failed = read_all(&r, variable, err);
		if (failed && r.path) {
			error_wrap(err, "policy %s", r.path);
		}
		if (failed) {
			llm_conf_free(r.conf);
		} else {
			*out = r.conf;
		}
	}
	json_tree_free(r.tree);
	return failed;
}

void llm_conf_free(struct llm_conf *c)
{
	if (c) {
		arena_release(&c->arena);
		free(c);
	}
}
