/* Settings of a model: see conf.h. */
#include "policy/llm/conf.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "json/keyed.h"
#include "json/write.h"
#include "net/http.h"
#include "policy/toolformats/reader.h"
#include "recording/words.h"

#include <stdlib.h>
#include <strings.h>

#define RETRIES_MAX 100

const char *const tool_mode_names[] = {"native", "json", "text", NULL};
const char *const on_no_tool_names[] = {"stop", "nudge", "continue", NULL};

/* The default system prompt. */
#define DEFAULT_SYSTEM                                                                             \
	"You act in an environment through the tools you are given. Call a tool in "               \
	"every turn until the task is done."
#define DEFAULT_USER "{task}\n{observation}"

/* The members of a policy file; absent (NULL): not given. */
struct llm_file {
	const char *name, *base_url, *model, *key_env, *system, *user;
	int profile, api, tool_mode, tool_format, on_no_tool; /* api -1: the profile's */
	struct str sampling, extra;
	bool repair, stream, tokens;
	uint64_t timeout_ms;
	struct keyed_number retries;
	struct llm_price price;
	struct str error_text; /* policy_error_texts reads it */
};

struct conf_reading {
	const char *path; /* NULL: no file */
	struct buf text;
	struct llm_file file;
	const struct llm_options *options;
	struct llm_conf *conf;
};

/* ---- the file ---- */

static int read_retries(struct keyed *k, struct str value, void *to)
{
	struct llm_file *f = to;
	struct keyed_number *n = &f->retries;

	n->given = json_i64(value, &n->value) && n->value >= 0 && n->value <= RETRIES_MAX;
	return n->given ? 0 : keyed_expected(k, "an integer from 0 to 100");
}

static int read_price(struct keyed *k, struct str value, void *to)
{
	struct llm_price *p = to;
	double *price = strcmp(k->key, "input") == 0    ? &p->input
	                : strcmp(k->key, "output") == 0 ? &p->output
	                                                : &p->cached;

	p->given = json_double(value, price) && *price >= 0;
	return p->given ? 0 : keyed_expected(k, "a number >= 0 (the price of a million tokens)");
}

static const struct keyed_row price_rows[] = {
	{"input", KEYED_BY, .required = true, .read = read_price},
	{"output", KEYED_BY, .required = true, .read = read_price},
	{"cached", KEYED_BY, .read = read_price},
	{"currency", KEYED_NAME, .at = offsetof(struct llm_price, currency)},
};
static const struct keyed_table price_table = KEYED_TABLE(price_rows);

#define IN_FILE(member) .at = offsetof(struct llm_file, member)
static const struct keyed_row rows[] = {
	{"kind", .type = KEYED_IGNORED},
	{"$schema", .type = KEYED_IGNORED},
	{"description", .type = KEYED_IGNORED},
	{"name", KEYED_WORDS, IN_FILE(name)},
	{"base_url", KEYED_WORDS, IN_FILE(base_url)},
	{"model", KEYED_WORDS, IN_FILE(model)},
	{"profile", KEYED_CHOICE, IN_FILE(profile), .words = profile_names},
	{"api", KEYED_CHOICE, IN_FILE(api), .words = api_names},
	{"key_env", KEYED_WORDS, IN_FILE(key_env)},
	{"system", KEYED_WORDS, IN_FILE(system)},
	{"user", KEYED_WORDS, IN_FILE(user)},
	{"sampling", KEYED_OBJECT, IN_FILE(sampling)},
	{"extra", KEYED_OBJECT, IN_FILE(extra)},
	{"tool_mode", KEYED_CHOICE, IN_FILE(tool_mode), .words = tool_mode_names},
	{"tool_format", KEYED_CHOICE, IN_FILE(tool_format), .words = tool_format_names},
	{"on_no_tool", KEYED_CHOICE, IN_FILE(on_no_tool), .words = on_no_tool_names},
	{"repair", KEYED_SET, IN_FILE(repair)},
	{"stream", KEYED_SET, IN_FILE(stream)},
	{"tokens", KEYED_SET, IN_FILE(tokens)},
	{"timeout", KEYED_DURATION, IN_FILE(timeout_ms)},
	{"retries", KEYED_BY, .read = read_retries},
	{"price", KEYED_INNER, IN_FILE(price), .inner = &price_table},
	{"error_text", KEYED_ANY, IN_FILE(error_text)},
};
const struct keyed_table llm_file_keys = KEYED_TABLE(rows);

static int read_file(struct conf_reading *r, struct error *err)
{
	struct keyed k = {.what = "policy ",
	                  .name = r->path,
	                  .text = buf_view(&r->text),
	                  .arena = &r->conf->arena,
	                  .err = err};

	r->file = (struct llm_file){.api = -1,
	                            .repair = true,
	                            .timeout_ms = LLM_TIMEOUT_MS,
	                            .price = {.cached = -1, .currency = "USD"}};
	return r->path ? keyed_read(&k, text_trim(k.text), &llm_file_keys, &r->file) : 0;
}

/* Is it a file of kind "llm"? Errors in other files are reported by policy_open. */
static bool open_file(struct conf_reading *r, const char *path)
{
	struct error ignored;

	if (file_read("policy", path, &r->text, &ignored) || !json_is_valid(buf_view(&r->text)))
		return false;
	r->path = path;
	return json_is(JSON_GET(text_trim(buf_view(&r->text)), "kind"),
	               str_from(policy_kind_name(POLICY_LLM)));
}

/* ---- values: the option, else the file, else the default ---- */

static const char *text_of(struct conf_reading *r, const char *option, const char *in_file,
                           const char *fallback)
{
	const char *text = option ? option : in_file ? in_file : fallback;

	return text ? arena_str(&r->conf->arena, str_from(text)).p : NULL;
}

/* The index of an option's word, which its table has checked. */
static int index_of(const char *word, const char *const *words, int otherwise)
{
	for (int i = 0; word && words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return otherwise;
}

static void read_words(struct conf_reading *r)
{
	const struct llm_options *o = r->options;
	const struct llm_file *f = &r->file;
	struct llm_conf *c = r->conf;

	c->profile = &profiles[index_of(o->profile, profile_names, f->profile)];
	int api = index_of(o->api, api_names, f->api < 0 ? (int)c->profile->api : f->api);
	int format = index_of(o->tool_format, tool_format_names, f->tool_format);
	c->api = &apis[api];
	c->tool_mode = (enum tool_mode)index_of(o->tool_mode, tool_mode_names, f->tool_mode);
	c->tool_format = format ? tool_format_names[format] : NULL;
	c->on_no_tool = (enum on_no_tool)index_of(o->on_no_tool, on_no_tool_names, f->on_no_tool);
}

static int read_numbers(struct conf_reading *r, struct error *err)
{
	const struct llm_options *o = r->options;
	uint64_t retries = r->file.retries.given ? (uint64_t)r->file.retries.value : LLM_RETRIES;

	if (r->file.timeout_ms == 0)
		return error_set(err, FAIL_INPUT, "\"timeout\" must be more than 0");
	r->conf->retries = o->has_retries ? o->retries : retries;
	r->conf->timeout_ms = o->has_timeout ? o->timeout_ms : r->file.timeout_ms;
	return 0;
}

static bool ends_with_version(struct str url)
{
	size_t n = url.n;

	while (n && url.p[n - 1] >= '0' && url.p[n - 1] <= '9')
		n--;
	return n < url.n && n >= 2 && url.p[n - 1] == 'v' && url.p[n - 2] == '/';
}

/* What is wrong with the URL; NULL: nothing. */
static const char *url_fault(const char *base)
{
	const char *scheme = strstr(base, "://"), *host = scheme ? scheme + 3 : "";

	if (strncmp(base, "http://", 7) != 0 && strncmp(base, "https://", 8) != 0)
		return "must start with http:// or https://";
	if (base[strcspn(base, "?#")])
		return "must end with its path, without \"?\" or \"#\"";
	return strchr("/:", *host) /* or the end */ ? "has no host" : NULL;
}

/* The base URL may or may not end with /v1, or may be the full endpoint. */
static int read_url(struct conf_reading *r, struct error *err)
{
	const char *base = text_of(r, r->options->base_url, r->file.base_url, NULL);
	enum fail kind = r->path && !r->options->base_url ? FAIL_INPUT : FAIL_USAGE;
	struct buf url = BUF(BUF_MAX_SMALL);
	struct str s = str_from(base);

	if (!base) {
		return error_set(err, kind,
		                 "no model server: use \1base_url\2 http://HOST:PORT/v1, or "
		                 "\"base_url\" in a policy file");
	}
	const char *fault = url_fault(base), *host = fault ? NULL : strstr(base, "://") + 3;
	if (fault) {
		return error_set(err, kind, "the model's base URL %s: '%.*s'", fault,
		                 (int)strcspn(base, "?#"), base);
	}
	if (memchr(host, '@', strcspn(host, "/"))) {
		return error_set(err, kind,
		                 "a password in the model's URL would be recorded: pass a key "
		                 "with \1key_env\2 VARIABLE");
	}
	while (s.n && s.p[s.n - 1] == '/')
		s.n--;
	buf_str(&url, s);
	if (!str_ends(s, str_from(r->conf->api->path))) {
		buf_text(&url, ends_with_version(s) ? "" : "/v1");
		buf_text(&url, r->conf->api->path);
	}
	r->conf->url = buf_keep(&url, &r->conf->arena).p;
	return 0;
}

/* https://HOST or a subdomain of it, with any port. */
static bool is_url_of(const char *url, const char *host)
{
	struct str place = str_skip(str_from(url), strlen("https://"));
	size_t n = strlen(host);

	place.n = strcspn(place.p, ":/");
	return strncmp(url, "https://", strlen("https://")) == 0 && place.n >= n &&
	       strncasecmp(place.p + place.n - n, host, n) == 0 &&
	       (place.n == n || place.p[place.n - n - 1] == '.');
}

/* May the key be sent to this URL? To this host, to the provider the key belongs to, and where
   the user allowed it. */
static bool is_allowed(const struct conf_reading *r, const char *name)
{
	const struct llm_options *o = r->options;
	const struct profile *p = r->conf->profile;
	bool own = p->key_variable && strcmp(p->key_variable, name) == 0;
	bool allowed = o->key_env || (own && is_url_of(r->conf->url, p->key_host)) ||
	               http_is_loopback(r->conf->url);

	for (size_t i = 0; i < o->allowed_key_count; i++)
		allowed = allowed || strcmp(o->allowed_keys[i], name) == 0;
	return allowed;
}

/* A variable that cannot be used is the fault of the option or the file that names it. */
static enum fail key_fault(const struct conf_reading *r)
{
	const struct llm_options *o = r->options;
	bool by_option = o->key_env || (o->profile && !r->file.key_env);

	return r->path && !by_option ? FAIL_INPUT : FAIL_USAGE;
}

static int read_key(struct conf_reading *r, const char *(*variable)(const char *name),
                    struct error *err)
{
	const char *asked = text_of(r, r->options->key_env, r->file.key_env, NULL);
	const char *name = asked ? asked : r->conf->profile->key_variable;
	const char *key = name ? variable(name) : NULL;

	if (name && !is_allowed(r, name)) {
		return error_set(
			err, FAIL_USAGE,
			"%s would send the variable %s to %s: allow it with \1allow_key_env\2 %s",
			asked ? "\"key_env\"" : "the profile", name, r->conf->url, name);
	}
	if (name && (!key || !*key)) {
		return error_set(err, key_fault(r),
		                 "the model's API key: the variable %s is not set%s", name,
		                 asked ? "" : "; name another with \1key_env\2");
	}
	for (size_t i = 0; key && key[i]; i++) {
		if ((unsigned char)key[i] < ' ' || key[i] == 127) {
			return error_set(err, key_fault(r),
			                 "the model's API key in %s contains a control "
			                 "character, perhaps a line feed at its end",
			                 name);
		}
	}
	r->conf->key_variable = name ? arena_str(&r->conf->arena, str_from(name)).p : NULL;
	r->conf->key = key ? arena_str(&r->conf->arena, str_from(key)).p : NULL;
	return 0;
}

static void describe(struct llm_conf *c, const char *key_env)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	json_pack(&text,
	          "{model:%t,profile:%t,api:%?t,tool_mode:%t,tool_format:%?t,on_no_tool:%t,"
	          "repair:%b,stream:%b,key_env:%t,asked:%r,extra:%?r}",
	          c->model, c->profile->name, c->api == &apis[API_CHAT] ? NULL : c->api->name,
	          tool_mode_names[c->tool_mode], c->tool_format, on_no_tool_names[c->on_no_tool],
	          c->repair, c->stream, key_env, c->asked, c->extra);
	c->params = buf_keep(&text, &c->arena);
}

bool llm_conf_sends(const struct llm_conf *c, const char *parameter)
{
	return profile_accepts(c->profile, parameter) && api_accepts(c->api, parameter);
}

static void warn_unsent(const struct llm_conf *c)
{
	AUTO_BUF name = BUF(BUF_MAX_SMALL);
	struct json_member m;

	for (size_t cursor = 0; json_next_member(c->asked, &cursor, &m);) {
		buf_clear(&name);
		text_escape_cut(&name, m.key, 80);
		bool api = api_accepts(c->api, buf_cstr(&name));

		if (!llm_conf_sends(c, buf_cstr(&name))) {
			log_warn("%s %s does not support %s, so it is not sent "
			         "(\"extra\" is sent unchanged)",
			         api ? "profile" : "API", api ? c->profile->name : c->api->name,
			         buf_cstr(&name));
		}
	}
}

static int read_all(struct conf_reading *r, const char *(*variable)(const char *name),
                    struct error *err)
{
	const struct llm_options *o = r->options;
	struct llm_conf *c = r->conf;
	const char *slash = r->path ? strrchr(r->path, '/') : NULL;
	const char *title = slash ? slash + 1 : r->path ? r->path : policy_kind_name(POLICY_LLM);

	read_words(r);
	if (read_numbers(r, err) || read_url(r, err) || read_key(r, variable, err))
		return -1;
	c->model = text_of(r, o->model, r->file.model, NULL);
	if (!c->model) {
		return error_set(err, r->path ? FAIL_INPUT : FAIL_USAGE,
		                 "no model: use \1model\2 NAME, or \"model\" in a policy file");
	}
	c->name = str_from(text_of(r, NULL, r->file.name, title));
	c->system = text_of(r, o->system, r->file.system, DEFAULT_SYSTEM);
	c->user = text_of(r, o->user, r->file.user, DEFAULT_USER);
	c->repair = r->file.repair && !o->no_repair;
	c->stream = r->file.stream || o->stream;
	c->tokens = r->file.tokens || o->tokens;
	c->price = r->file.price;
	if (c->price.cached < 0)
		c->price.cached = c->price.input;
	c->asked = r->file.sampling.p ? r->file.sampling : STR("{}");
	c->extra = r->file.extra;
	warn_unsent(c);
	c->insecure = o->insecure;
	describe(c, c->key_variable);
	return 0;
}

int llm_conf_new(const char *spec, const struct llm_options *o,
                 const char *(*variable)(const char *name), struct llm_conf **out,
                 struct error *err)
{
	struct conf_reading r = {.text = BUF(BUF_MAX_MESSAGE), .options = o};
	bool plain = spec && policy_kind_parse(str_from(spec)) == POLICY_LLM;
	int failed = 0;

	*out = NULL;
	if (spec && (plain || open_file(&r, spec))) {
		r.conf = mem_new(sizeof(*r.conf));
		failed = read_file(&r, err);
		if (!failed && read_all(&r, variable, err))
			failed = r.path ? error_wrap(err, "policy %s", r.path) : -1;
		if (failed)
			llm_conf_free(r.conf);
		else
			*out = r.conf;
	}
	buf_release(&r.text);
	return failed;
}

void llm_conf_free(struct llm_conf *c)
{
	if (c) {
		arena_release(&c->arena);
		free(c);
	}
}
