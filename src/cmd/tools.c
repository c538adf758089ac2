/* rolldbg tools: what a server offers, and which of it could serve as state. Records nothing. */
#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/options/config_file.h"
#include "cmd/options/output.h"
#include "cmd/options/target_options.h"
#include "env/environments.h"
#include "env/failure.h"
#include "json/schema.h"
#include "json/write.h"
#include "policy/call_text.h"
#include "policy/tool_set.h"
#include "report/report.h"

#define TEXT_COLUMNS   300 /* of a description or a type */
#define KEY_COLUMNS    24
#define AUTO           "auto" /* an OpenEnv server's source is chosen at the first reset */
#define RESOURCES_TEXT 20     /* listed as text; --json lists all */

#define OPTIONS tools
#include "cmd/options/table.h"

struct tools_view {
	const struct context *context;
	const struct tools_options *opts;
	struct env_target target;
	struct io *io;
	struct env *env;
	const struct env_facts *facts;
	struct buf resources; /* raw JSON array; empty: none */
	struct buf text;      /* not redacted yet */
	struct output out;
};

/* ---- sources ---- */

/* "tool:NAME:{..}", the value of --state. */
static void put_tool_source(struct str tool, struct str name, struct buf *out)
{
	AUTO_BUF arguments = BUF(BUF_MAX_MESSAGE);

	buf_printf(out, "tool:%.*s", STR_ARG(name));
	if (json_count(JSON_GET(tool_schema(tool), "required"))) {
		call_example_arguments(tool, &arguments);
		buf_char(out, ':');
		buf_str(out, buf_view(&arguments));
	}
}

/* ---- as text ---- */

/* A peer's text on one line, shortened. */
static void put_sentence(struct str text, struct buf *out)
{
	AUTO_BUF flat = BUF(BUF_MAX_MESSAGE);

	text = text_trim(text);
	for (size_t i = 0; i < text.n; i++) {
		bool blank = strchr(" \t\r\n", text.p[i]) != NULL;

		if (!blank || flat.p[flat.n - 1] != ' ')
			buf_char(&flat, blank ? ' ' : text.p[i]);
	}
	text_escape_cut(out, buf_view(&flat), TEXT_COLUMNS);
}

static void put_json_sentence(struct str string, struct buf *out)
{
	AUTO_ARENA arena = {0};

	put_sentence(json_text(&arena, string), out);
}

static void put_argument(const struct tool_argument *a, struct references *r, struct buf *out)
{
	AUTO_BUF type = BUF(BUF_MAX_MESSAGE);

	buf_text(out, "    ");
	size_t used = text_escape_cut(out, a->key, KEY_COLUMNS);
	buf_printf(out, "%*s  ", (int)(used < 10 ? 10 - used : 0), "");
	tool_put_type(r, a->schema, &type);
	text_escape_cut(out, buf_view(&type), TEXT_COLUMNS);
	buf_text(out, a->required ? ", required" : "");
	if (a->fallback.p) {
		buf_text(out, ", default ");
		text_escape_cut(out, a->fallback, 40);
	}
	if (a->description.p) {
		buf_text(out, ": ");
		put_json_sentence(a->description, out);
	}
	buf_char(out, '\n');
}

/* The hints that a tool gives, as MCP names them. */
static const struct {
	const char *key, *word;
} hints[] = {{"readOnlyHint", "read-only"},
             {"destructiveHint", "destructive"},
             {"idempotentHint", "idempotent"},
             {"openWorldHint", "reaches the outside"}};

static void put_hints(const struct tools_view *v, struct str tool, struct buf *out)
{
	struct str annotations = JSON_GET(tool, "annotations");
	AUTO_BUF words = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(hints); i++)
		if (json_type(json_get(annotations, str_from(hints[i].key))) == JSON_TRUE)
			buf_printf(&words, "%s%s", words.n ? ", " : "    ", hints[i].word);
	if (words.n) {
		style_put(out, v->context->style, COLOR_FAINT, buf_view(&words));
		buf_char(out, '\n');
	}
}

/* "    --OPTION 'VALUE'", as it is typed. */
static void put_option(const char *option, struct buf *value, struct buf *out)
{
	AUTO_BUF word = BUF(BUF_MAX_MESSAGE);

	config_shell_word(&word, buf_cstr(value));
	buf_printf(out, "    %s ", option);
	text_escape(out, buf_view(&word));
}

static void put_tool(struct tools_view *v, struct str tool)
{
	AUTO_BUF call = BUF(BUF_MAX_MESSAGE);
	AUTO_ARENA arena = {0};
	struct str schema = tool_schema(tool), name = json_text(&arena, JSON_GET(tool, "name"));
	struct references r;
	struct tool_argument a;
	size_t cursor = 0;

	references_begin(&r, schema, &arena);
	buf_char(&v->text, '\n');
	style_begin(&v->text, v->context->style, COLOR_BOLD);
	text_escape_cut(&v->text, name.p ? name : STR("(no name)"), TEXT_COLUMNS);
	style_end(&v->text, v->context->style);
	if (JSON_GET(tool, "description").n > 2) {
		buf_text(&v->text, ": ");
		put_json_sentence(JSON_GET(tool, "description"), &v->text);
	}
	buf_char(&v->text, '\n');
	put_hints(v, tool, &v->text);
	while (tool_next_argument(schema, &cursor, &a))
		put_argument(&a, &r, &v->text);
	if (!schema.p) {
		style_put(&v->text, v->context->style, COLOR_FAINT,
		          STR("    no schema: its calls are sent unchecked\n"));
	}
	call_example(tool, &call);
	if (call.n) {
		put_option("--call", &call, &v->text);
		buf_char(&v->text, '\n');
	}
}

static void put_source(struct tools_view *v, struct buf *value, struct str why)
{
	put_option("--state", value, &v->text);
	buf_text(&v->text, "  (");
	put_sentence(why, &v->text);
	buf_text(&v->text, ")\n");
	buf_clear(value);
}

/* Those without arguments first. */
static void put_tool_sources(struct tools_view *v, bool required, struct buf *value)
{
	AUTO_ARENA arena = {0};
	struct str tool;

	for (size_t cursor = 0; json_next(v->facts->tools, &cursor, &tool);) {
		struct str name = json_text(&arena, JSON_GET(tool, "name"));
		const char *why = name.n ? tool_why_state(v->facts->protocol, tool, name) : NULL;

		if (why && required == (json_count(JSON_GET(tool_schema(tool), "required")) > 0)) {
			put_tool_source(tool, name, value);
			put_source(v, value, str_from(why));
		}
	}
}

static void put_resource_sources(struct tools_view *v, struct buf *value)
{
	AUTO_ARENA arena = {0};
	size_t count = 0;
	struct str each;

	for (size_t cursor = 0; json_next(buf_view(&v->resources), &cursor, &each); count++) {
		struct str name = json_text(&arena, JSON_GET(each, "name"));

		if (count < RESOURCES_TEXT) {
			buf_text(value, "resource:");
			buf_str(value, json_text(&arena, JSON_GET(each, "uri")));
			put_source(v, value, name.n ? name : STR("resource"));
		}
	}
	if (count > RESOURCES_TEXT) {
		buf_printf(&v->text, "    and %zu more resources: --json lists them\n",
		           count - RESOURCES_TEXT);
	}
}

static void put_sources(struct tools_view *v)
{
	AUTO_BUF value = BUF(BUF_MAX_MESSAGE);

	buf_text(&v->text, "\ncould serve as state, if it shows what the calls change:\n");
	if (v->facts->state_kind == STATE_UNKNOWN) {
		buf_text(&value, AUTO);
		put_source(v, &value,
		           STR("used without --state: the protocol's state, or the observation "
		               "where that only counts"));
	} else if (v->facts->state_kind != STATE_NONE) {
		buf_text(&value, state_kind_name(v->facts->state_kind));
		put_source(v, &value, STR("used without --state"));
	}
	put_tool_sources(v, false, &value);
	put_resource_sources(v, &value);
	put_tool_sources(v, true, &value);
	buf_text(&value, "observation");
	put_source(v, &value, STR("the last reply, where every reply shows the whole state"));
}

/* A first command: the first tool that may act. Which source shows what it does is the user's to know: a source
   that never changes would accuse a healthy environment. */
static void put_next(struct tools_view *v)
{
	AUTO_BUF call = BUF(BUF_MAX_MESSAGE), line = BUF(BUF_MAX_MESSAGE);
	struct env_conf conf = env_target_conf(&v->target);
	struct str tool;

	for (size_t cursor = 0; !call.n && json_next(v->facts->tools, &cursor, &tool);) {
		struct str hint = JSON_GET(JSON_GET(tool, "annotations"), "readOnlyHint");

		if (json_type(hint) != JSON_TRUE)
			call_example(tool, &call);
	}
	if (call.n) {
		buf_text(&line, "next: rolldbg run --env ");
		config_shell_word(&line, v->target.name);
		if (conf.protocol)
			buf_printf(&line, " --protocol %s", conf.protocol);
		buf_text(&line, " --call ");
		config_shell_word(&line, buf_cstr(&call));
		buf_char(&v->text, '\n');
		text_escape_line(&v->text, buf_view(&line));
	}
}

static void put_title(struct tools_view *v)
{
	const struct env_facts *f = v->facts;
	struct str parts[] = {f->name, f->version, str_from(f->protocol),
	                      f->revision ? str_from(f->revision) : STR_NONE};
	size_t tools = json_count(f->tools), resources = json_count(buf_view(&v->resources));

	text_escape_cut(&v->text, str_from(v->target.name), 80);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (parts[i].n) {
			buf_text(&v->text, i == 1 && parts[0].n ? " " : " · ");
			text_escape_cut(&v->text, parts[i], 80);
		}
	}
	buf_printf(&v->text, " · %zu tool%s", tools, plural(tools));
	if (resources)
		buf_printf(&v->text, " · %zu resource%s", resources, plural(resources));
	buf_char(&v->text, '\n');
}

static void put_all(struct tools_view *v)
{
	struct str tool;

	put_title(v);
	for (size_t cursor = 0; json_next(v->facts->tools, &cursor, &tool);)
		put_tool(v, tool);
	put_sources(v);
	put_next(v);
}

/* ---- for programs ---- */

static void json_arguments(struct json_writer *w, struct str schema, struct arena *arena)
{
	struct references r;
	struct tool_argument a;
	size_t cursor = 0;

	references_begin(&r, schema, arena);
	jw_put_array(w, "arguments");
	while (tool_next_argument(schema, &cursor, &a)) {
		AUTO_BUF type = BUF(BUF_MAX_MESSAGE);

		tool_put_type(&r, a.schema, &type);
		jw_pack(w, "{name:%s,type:%s,required:%b,enum:%r,default:%r,description:%r}",
		        json_key_text(arena, a.key), buf_view(&type), a.required,
		        JSON_GET(schema_resolve_in(&r, a.schema), "enum"), a.fallback,
		        a.description);
	}
	jw_end(w);
}

static void json_tool(struct tools_view *v, struct str tool)
{
	AUTO_BUF call = BUF(BUF_MAX_MESSAGE), source = BUF(BUF_MAX_MESSAGE);
	AUTO_ARENA arena = {0};
	struct str name = json_text(&arena, JSON_GET(tool, "name"));
	const char *why = name.n ? tool_why_state(v->facts->protocol, tool, name) : NULL;
	struct json_writer w;

	call_example(tool, &call);
	if (why)
		put_tool_source(tool, name, &source);
	jw_line(&w, &v->text, "tool");
	jw_pack(&w, "name:%s,description:%s", name,
	        json_text(&arena, JSON_GET(tool, "description")));
	json_arguments(&w, tool_schema(tool), &arena);
	jw_put_object(&w, "hints");
	for (size_t i = 0; i < ARRAY_LEN(hints); i++) {
		struct str hint = json_get(JSON_GET(tool, "annotations"), str_from(hints[i].key));

		if (json_type(hint) == JSON_TRUE || json_type(hint) == JSON_FALSE)
			jw_put_raw(&w, hints[i].key, hint);
	}
	jw_end(&w);
	jw_pack(&w, "call:%s,state:%s,why:%t", buf_given(&call), buf_given(&source), why);
	jw_line_end(&w);
}

static void json_resource(struct tools_view *v, struct str resource)
{
	AUTO_BUF source = BUF(BUF_MAX_MESSAGE);
	AUTO_ARENA arena = {0};
	struct str uri = json_text(&arena, JSON_GET(resource, "uri"));

	buf_text(&source, "resource:");
	buf_str(&source, uri);
	json_line(&v->text, "resource", "uri:%s,name:%s,mime_type:%s,state:%s,why:'a resource'",
	          uri, json_text(&arena, JSON_GET(resource, "name")),
	          json_text(&arena, JSON_GET(resource, "mimeType")), buf_view(&source));
}

static void json_all(struct tools_view *v)
{
	const struct env_facts *f = v->facts;
	struct str each;

	for (size_t cursor = 0; json_next(f->tools, &cursor, &each);)
		json_tool(v, each);
	for (size_t cursor = 0; json_next(buf_view(&v->resources), &cursor, &each);)
		json_resource(v, each);
	json_line(&v->text, "summary",
	          "server:%s,version:%s,protocol:%t,state:%t,tools:%i,resources:%i", f->name,
	          f->version, f->protocol,
	          f->state_kind == STATE_UNKNOWN ? AUTO : state_kind_name(f->state_kind),
	          (int64_t)(json_count(f->tools)), (int64_t)(json_count(buf_view(&v->resources))));
}

/* ---- the session ---- */

/* What the adapter noticed about the lists: two tools of one name, a list that is too long. */
static void say_events(struct tools_view *v)
{
	struct event e;

	while (events_take(&v->env->events, &e)) {
		AUTO_ARENA arena = {0};
		struct str why = json_text(&arena, JSON_GET(e.detail, "why"));
		struct str names = JSON_GET(e.detail, "names");

		if (why.n)
			log_warn("%.*s%s%.*s", STR_ARG(why), names.n ? ": " : "", STR_ARG(names));
	}
}

static int look(struct tools_view *v, const struct env_conf *conf, struct error *err)
{
	const struct env_ops *ops = env_find(conf, v->io, err);
	struct env_reply refusal;

	if (!ops || env_open(ops, conf, v->io, &v->env, &refusal, err))
		return -1;
	if (refusal.outcome != OUTCOME_OK) {
		return error_set(err, FAIL_TRANSPORT, "%s refused a session: %.*s%s",
		                 v->target.name, STR_ARG(refusal.error.message),
		                 env_refusal_advice(&refusal));
	}
	if (ops->resources && ops->resources(v->env, &v->resources, err))
		return -1;
	v->facts = &v->env->facts;
	say_events(v);
	if (v->opts->json)
		json_all(v);
	else
		put_all(v);
	secrets_redact(v->target.secrets, buf_view(&v->text), &v->out.text);
	return output_flush(&v->out, err);
}

static int tools_main(const struct context *c, const void *opts, int argc, char **argv,
                      struct error *err)
{
	const struct tools_options *o = opts;
	char session[TARGET_SESSION_DIGITS + 1];
	struct tools_view v = {.context = c,
	                       .opts = o,
	                       .resources = BUF(BUF_MAX_MESSAGE),
	                       .text = BUF(SIZE_MAX / 2),
	                       .out = output_of_results(o->json)};

	int failed = env_target_prepare(&v.target, c, &o->target, err) ||
	             env_target_start(&v.target, err) || env_target_new_io(&v.target, &v.io, err) ||
	             env_target_new_session(session, err);
	if (!failed) {
		struct env_conf conf = env_target_conf(&v.target);

		conf.env_session = session;
		failed = look(&v, &conf, err);
		if (v.env) {
			io_ignore_stop(v.io); /* closing has its own deadline */
			v.env->ops->close(v.env);
		}
	}
	if (failed)
		env_target_hide(&v.target, err);
	io_free(v.io);
	BUFS_RELEASE(&v.resources, &v.text);
	output_release(&v.out);
	env_target_release(&v.target);
	return failed ? -1 : 0;
}

CODE(tools)
