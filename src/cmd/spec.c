/* rolldbg __spec: the data for the manual and the completions, as tab-separated lines. rolldbg
   __spec policies: the ready-made policies, for each completion. */
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/options/output.h"
#include "cmd/options/policies.h"
#include "cmd/options/setting_options.h"
#include "convert/convert.h"
#include "debug/debugger.h"
#include "env/environments.h"
#include "env/state_source.h"
#include "evidence/explain.h"
#include "json/keyed.h"
#include "policy/policy.h"
#include "probe/probe.h"
#include "report/kinds/kind.h"
#include "report/schemas.h"
#include "rollout/tasks.h"
#include "serve/fault/fault.h"
#include "serve/serve.h"
#include "serve/world/world.h"
#include "stats/metrics.h"
#include "tap/fault.h"

#include <stdlib.h>

static const char *const type_names[] = {
	[OPTION_FLAG] = "flag",     [OPTION_COUNT] = "count",    [OPTION_STRING] = "string",
	[OPTION_NUMBER] = "number", [OPTION_INTEGER] = "number", [OPTION_DURATION] = "duration",
	[OPTION_LIST] = "list",     [OPTION_CHOICE] = "choice",
};

static void put_options(const char *command, const struct opt *rows, size_t row_count,
                        struct buf *out)
{
	size_t count;
	struct opt *opts = options_expand(rows, row_count, &count);

	for (size_t i = 0; i < count; i++) {
		const struct opt *o = &opts[i];
		char letter[2] = {o->letter, '\0'};
		const char *title = option_title(o);

		buf_printf(out, "option\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", command,
		           letter, o->name, o->arg ? o->arg : "", type_names[o->type],
		           o->choices ? o->choices : "", o->help, title ? title : "",
		           option_class_name(o->class), o->needs ? o->needs : "",
		           o->excludes ? o->excludes : "");
	}
	free(opts);
}

/* One line per paragraph. */
static void put_description(const struct command *cmd, struct buf *out)
{
	const char *text = cmd->description ? cmd->description : "";

	while (*text) {
		size_t n = strcspn(text, "\n");

		buf_printf(out, "description\t%s\t%.*s\n", cmd->name, (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static void put_topic(const char *kind, const char *name, const char *help, struct buf *out)
{
	buf_printf(out, "topic\t%s\t%s\t", kind, name);
	settings_put(out, help);
	buf_char(out, '\n');
}

/* A fault that not all protocols have is listed with its protocol. */
static void put_faults(struct buf *out)
{
	for (size_t i = 0; i < serve_faults_count; i++) {
		const struct fault *f = &serve_faults[i];

		buf_printf(out, "topic\tfault\t%s\t%s", f->name, f->help);
		for (size_t p = 0; p < serve_protocols_count; p++)
			if (f->protocols == 1u << p)
				buf_printf(out, " (%s)", serve_protocols[p]);
		buf_char(out, '\n');
	}
}

/* Values of --policy without a file: "llm", "random:". */
static void put_policy_values(struct buf *out)
{
	for (size_t i = 0; i < policies_count; i++) {
		const char *form = policies[i]->spelled;

		if (form) {
			size_t n = strcspn(form, ":");
			buf_printf(out, "topic\tpolicy-value\t%.*s\t\n",
			           (int)(n + (form[n] == ':')), form);
		}
	}
}

/* Values of convert's --from and --to, and the operand of schema. */
static void put_names(struct buf *out)
{
	for (size_t n = 0; n < bookkeeping_names_count; n++)
		buf_printf(out, "name\tbookkeeping\t%s\n", bookkeeping_names[n]);
	put_topic("input", RECORD_FORMAT, "", out);
	put_topic("input", "map:", "", out);
	put_topic("output", RECORD_FORMAT, "", out);
	for (size_t i = 0; i < formats_count; i++) {
		put_topic("input", formats[i]->name, "", out);
		if (formats[i]->writer)
			put_topic("output", formats[i]->name, "", out);
	}
	for (size_t i = 0; i < commands_count; i++) {
		AUTO_BUF unused = BUF(SIZE_MAX / 2);

		if (schema_results(commands[i].name, &unused))
			put_topic("schema", commands[i].name, "", out);
	}
}

/* The possible beginnings of --env, --state and --protocol values. */
static void put_values(struct buf *out)
{
	static const char *const targets[] = {"http://", "https://",   "ws://",
	                                      "wss://",  STDIO_SCHEME, VERIFIERS_SCHEME};

	for (size_t i = 0; i < worlds_count; i++) {
		buf_printf(out, "topic\ttarget\tbuiltin:%s\t%s\n", worlds[i]->name,
		           worlds[i]->help);
	}
	for (size_t i = 0; i < ARRAY_LEN(targets); i++)
		put_topic("target", targets[i], "", out);
	for (size_t i = 0; i < environments_count; i++)
		for (const char *const *p = environments[i]->protocols; *p; p++)
			put_topic("protocol", *p, "", out);
	put_topic("source", "auto", "", out);
	for (enum state_kind k = STATE_AUTO + 1; k < STATE_IMPORT; k++) {
		buf_printf(out, "topic\tsource\t%s%s\t\n", state_kind_name(k),
		           state_kind_needs_target(k) ? ":" : "");
	}
}

/* The keys of a file written by users: each with "required", or nothing. */
static void put_file_keys(const char *kind, const char *within, const struct keyed_table *t,
                          struct buf *out)
{
	for (size_t i = 0; i < t->count; i++) {
		buf_printf(out, "topic\tkey-of-%s\t%s%s%s\t%s\n", kind, within, *within ? "." : "",
		           t->rows[i].key, t->rows[i].required ? "required" : "");
	}
}

static void put_file_keys_deep(const char *kind, const struct keyed_table *t, struct buf *out)
{
	put_file_keys(kind, "", t, out);
	for (size_t i = 0; i < t->count; i++)
		if (t->rows[i].inner)
			put_file_keys(kind, t->rows[i].key, t->rows[i].inner, out);
}

/* Kinds that need a file are listed with a trailing colon. */
static void put_reports(struct buf *out)
{
	for (size_t i = 0; i < report_row_count; i++) {
		const struct report_row *r = &report_rows[i];

		buf_printf(out, "topic\treport\t%s%s\t%s\n", r->name,
		           r->target == REPORT_FILE ? ":" : "", r->purpose);
	}
}

static void put_debugger(struct buf *out)
{
	for (size_t i = 0; i < verbs_count; i++) {
		const struct verb *v = &verbs[i];

		buf_printf(out, "topic\tverb\t%s%s%s\t%s", v->name, *v->arguments ? " " : "",
		           v->arguments, v->help);
		if (*v->short_forms) {
			buf_text(out, " (short: ");
			verb_short_forms(v, out);
			buf_char(out, ')');
		}
		buf_char(out, '\n');
	}
	for (size_t i = 0; i < FACTS_NAMED; i++)
		put_topic("fact", named_facts[i].name, named_facts[i].meaning, out);
}

static void put_topics(struct buf *out)
{
	put_debugger(out);
	put_file_keys_deep("task", &task_keys, out);
	for (size_t i = 0; i < environments_count; i++)
		put_topic("env", environments[i]->name, environments[i]->help, out);
	for (size_t i = 0; i < policies_count; i++) {
		put_topic("policy", policy_kind_name(policies[i]->kind), policies[i]->help, out);
		if (policies[i]->keys)
			put_file_keys_deep(policy_kind_name(policies[i]->kind), policies[i]->keys,
			                   out);
	}
	for (size_t i = 0; i < checks_count; i++) {
		buf_printf(out, "topic\trule\t%s\t", checks[i]->id);
		settings_put(out, checks[i]->title);
		buf_text(out, ". Severity: ");
		check_describe_severity(checks[i], out);
		buf_char(out, '\n');
	}
	for (size_t i = 0; i < metric_count; i++)
		put_topic("metric", metric_table[i].name, metric_table[i].meaning, out);
	for (size_t i = 0; i < property_titles_count; i++)
		put_topic("property", property_titles[i].name, property_titles[i].title, out);
	for (size_t i = 0; i < preflight_titles_count; i++) {
		put_topic("model-property", preflight_titles[i].name, preflight_titles[i].title,
		          out);
	}
	for (enum outcome o = OUTCOME_NONE + 1; o < outcome_count; o++)
		put_topic("outcome", outcome_name(o), outcome_meanings[o], out);
	for (enum error_class c = CLASS_NONE + 1; c < error_class_count; c++)
		put_topic("error-class", error_class_name(c), error_class_meanings[c], out);
	for (enum failure_cause c = FAILURE_NONE + 1; c < FAILURE_CAUSES; c++)
		put_topic("failure", failure_cause_name(c), failure_cause_meaning(c), out);
	put_faults(out);
	for (size_t i = 0; i < TAP_FAULTS; i++)
		put_topic("tap-fault", tap_faults[i].name, tap_faults[i].help, out);
	put_reports(out);
	put_values(out);
	put_policy_values(out);
	put_names(out);
	for (size_t i = 0; i < formats_count; i++) {
		buf_printf(out, "topic\tformat\t%s\t%s (%s)\n", formats[i]->name, formats[i]->what,
		           formats[i]->writer ? "read and written" : "read");
	}
	for (size_t i = 0; i < worlds_count; i++)
		put_topic("builtin", worlds[i]->name, worlds[i]->help, out);
	for (size_t i = 0; i < exit_codes_count; i++)
		buf_printf(out, "topic\texit\t%d\t%s\n", exit_codes[i].code, exit_codes[i].meaning);
}

static void put_types(unsigned types, struct buf *out)
{
	const char *names[TYPE_NAMES];
	size_t count = value_types(types, names);

	buf_text(out, count ? "" : "any");
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "%s%s", i ? "," : "", names[i]);
}

static void put_spec_words(const char *words, unsigned types, const char *meaning, struct buf *out)
{
	put_types(types, out);
	buf_printf(out, "\t%s%s\t%s\n", words ? words : "", types & T_OPEN ? ",..." : "", meaning);
}

static void put_key(const char *kind, const char *owner, const struct line_key *k, struct buf *out)
{
	buf_printf(out, "%s\t%s\t%s\t", kind, owner, k->name);
	put_spec_words(k->words, k->types, k->meaning, out);
}

/* The lines that --json prints, each followed by its members. */
static void put_results(struct buf *out)
{
	for (enum result r = 0; r < RESULTS; r++) {
		const struct result_line *l = &result_lines[r];

		buf_printf(out, "result\t%s\t%s\t%s%s\n", l->commands ? l->commands : "-", l->type,
		           l->meaning,
		           l->metrics ? " Its members are the METRICS of rolldbg-stats(1)." : "");
		for (size_t i = 0; i < result_members_count; i++) {
			const struct result_member *m = &result_members[i];

			if (m->result == r) {
				buf_printf(out, "member\t%d\t%s\t", (int)r, m->name);
				put_spec_words(m->words, m->types, m->meaning, out);
			}
		}
	}
}

/* The policies available in the directory where completion is requested, one per line; names that
   are not shown as they are, such as one with a line feed, are left out. */
static void put_policies(const struct context *c, struct buf *out)
{
	AUTO_NAMES names = {.count = 0};

	policies_names(c->variable, &names);
	for (size_t i = 0; i < names.count; i++)
		if (text_is_safe(str_from(names.text[i])))
			buf_printf(out, "%s\n", names.text[i]);
}

static int spec_main(const struct context *c, const void *opts, int argc, char **argv,
                     struct error *err)
{
	struct output out = output_to_stdout();

	if (argc && !strcmp(argv[0], "policies")) {
		put_policies(c, &out.text);
		return output_close(&out, err);
	}
	for (size_t i = 0; i < commands_count; i++) {
		const struct command *cmd = &commands[i];

		if (!cmd->hidden) {
			buf_printf(&out.text, "command\t%s\t%s\t%s\n", cmd->name, cmd->summary,
			           cmd->operands);
			put_description(cmd, &out.text);
			put_options(cmd->name, cmd->code->opts, cmd->code->opt_count, &out.text);
		}
	}
	put_options("-", global_group.rows, global_group.count, &out.text);
	put_topics(&out.text);
	for (size_t i = 0; i < line_keys_count; i++)
		put_key("key", line_type_name(line_keys[i].line), &line_keys[i], &out.text);
	for (size_t i = 0; i < line_parts_count; i++)
		put_key("part", line_key_name(line_parts[i].key), &line_parts[i], &out.text);
	put_results(&out.text);
	return output_close(&out, err);
}

CODE_ONLY(spec)
