/* rolldbg __spec: everything the manual and the completions need, as tab-separated lines.
 */
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "env/env.h"
#include "policy/policy.h"
#include "probe/probe.h"
#include "serve/serve.h"
#include "serve/world.h"
#include "stats/metrics.h"

static const char *const type_names[] = {
	[OPT_FLAG] = "flag",  [OPT_COUNT] = "count",   [OPT_STR] = "string",
	[OPT_U64] = "number", [OPT_I64] = "number",    [OPT_MS] = "duration",
	[OPT_LIST] = "list",  [OPT_CHOICE] = "choice",
};

static void put_options(const char *command, const struct opt *opts, size_t count,
                        struct buf *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct opt *o = &opts[i];
		char letter[2] = {o->letter, '\0'};

		buf_printf(out, "option\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", command, letter,
		           o->name, o->arg ? o->arg : "", type_names[o->type],
		           o->choices ? o->choices : "", o->help);
	}
}

/* A line for each paragraph. */
static void put_description(const struct command *cmd, struct buf *out)
{
	const char *text = cmd->description ? cmd->description : "";

	while (*text) {
		size_t n = strcspn(text, "\n");

		buf_printf(out, "description\t%s\t%.*s\n", cmd->name, (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static void put_topic(const char *kind, const char *name, const char *help,
                      struct buf *out)
{
	buf_printf(out, "topic\t%s\t%s\t%s\n", kind, name, help);
}

/* One that not all protocols have says which one does. */
static void put_faults(struct buf *out)
{
	for (size_t i = 0; i < serve_faults_count; i++) {
		const struct fault *f = &serve_faults[i];

		buf_printf(out, "topic\tfault\t%s\t%s", f->name, f->help);
		for (size_t p = 0; p < serve_protocols_count; p++) {
			if (f->protocols == 1u << p) {
				buf_printf(out, " (%s)", serve_protocols[p]);
			}
		}
		buf_char(out, '\n');
	}
}

static void put_topics(struct buf *out)
{
	for (size_t i = 0; i < environments_count; i++) {
		put_topic("env", environments[i]->name, environments[i]->help, out);
	}
	for (size_t i = 0; i < policies_count; i++) {
		put_topic("policy", policies[i]->name, policies[i]->help, out);
	}
	for (size_t i = 0; i < checks_count; i++) {
		put_topic("rule", checks[i]->id, checks[i]->title, out);
	}
	for (size_t i = 0; i < metric_count; i++) {
		put_topic("metric", metric_table[i].name, metric_table[i].meaning, out);
	}
	for (size_t i = 0; i < property_titles_count; i++) {
		put_topic("property", property_titles[i].name, property_titles[i].title,
		          out);
	}
	for (size_t i = 0; i < preflight_titles_count; i++) {
		put_topic("model-property", preflight_titles[i].name,
		          preflight_titles[i].title, out);
	}
	put_faults(out);
	for (size_t i = 0; i < worlds_count; i++) {
		put_topic("world", worlds[i]->name, worlds[i]->help, out);
	}
	for (size_t i = 0; i < exit_codes_count; i++) {
		buf_printf(out, "topic\texit\t%d\t%s\n", exit_codes[i].code,
		           exit_codes[i].meaning);
	}
}

static void put_types(unsigned types, struct buf *out)
{
	static const struct {
		unsigned bits;
		const char *name;
	} names[] = {{T_BOOL, "boolean"},
	             {T_STRING, "string"},
	             {T_ARRAY, "array"},
	             {T_OBJECT, "object"},
	             {T_NULL, "null"}};
	const char *between = "";

	if ((types & T_ANY) == T_ANY) {
		buf_text(out, "any");
		return;
	}
	if (types & T_NUMBER) {
		buf_text(out, types & T_INTEGRAL ? "integer" : "number");
		between = ",";
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (types & names[i].bits) {
			buf_printf(out, "%s%s", between, names[i].name);
			between = ",";
		}
	}
}

static void put_key(const char *kind, const char *owner, const struct line_key *k,
                    struct buf *out)
{
	buf_printf(out, "%s\t%s\t%s\t", kind, owner, k->name);
	put_types(k->types, out);
	buf_printf(out, "\t%s%s\t%s\n", k->words ? k->words : "",
	           k->types & T_OPEN ? ",..." : "", k->meaning);
}

static const char *key_name(enum key key)
{
	for (size_t i = 0; i < line_keys_count; i++) {
		if (line_keys[i].key == key) {
			return line_keys[i].name;
		}
	}
	return NULL;
}

static void put_keys(struct buf *out)
{
	for (size_t i = 0; i < line_keys_count; i++) {
		put_key("key", line_type_name(line_keys[i].line), &line_keys[i], out);
	}
	for (size_t i = 0; i < line_parts_count; i++) {
		put_key("part", key_name(line_parts[i].key), &line_parts[i], out);
	}
}

static int spec_run(const struct context *c, const void *opts, int argc, char **argv,
                    struct error *err)
{
	struct output out = output_to_stdout();

	(void)c;
	(void)opts;
	(void)argc;
	(void)argv;
	for (size_t i = 0; i < commands_count; i++) {
		const struct command *cmd = commands[i];

		if (!cmd->hidden) {
			buf_printf(&out.text, "command\t%s\t%s\t%s\n", cmd->name,
			           cmd->summary, cmd->operands);
			put_description(cmd, &out.text);
			put_options(cmd->name, cmd->opts, cmd->opt_count, &out.text);
		}
	}
	put_options("-", global_options, global_options_count, &out.text);
	put_topics(&out.text);
	put_keys(&out.text);
	return output_close(&out, err);
}

const struct command command_spec = {
	.name = "__spec",
	.summary = "print the tables behind the manual and the completions",
	.operands = "",
	.hidden = true,
	.run = spec_run,
};
