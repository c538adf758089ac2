/* The tables of commands and exit codes, rolldbg help [COMMAND], and the help text of every command. */
#include "base/names.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/options/output.h"

#include <stdlib.h>

extern const char serve_description[];

#define COMMAND(id, ...) extern const struct command_code id##_code;
#include "cmd/cmds.def"
#undef COMMAND

const struct command commands[] = {
#define COMMAND(id, ...) {.code = &id##_code, __VA_ARGS__},
#include "cmd/cmds.def"
#undef COMMAND
};
const size_t commands_count = ARRAY_LEN(commands);

const struct exit_code exit_codes[] = {
	{0, "clean"},
	{1, "findings at or above --fail-on, differences, a rollout that was refused, or a call "
            "without a reply"},
	{2, "usage: the command line is wrong"},
	{3, "a recording, policy or configuration that cannot be used"},
	{4, "the environment or the model could not be reached, or was lost"},
	{5, "a local failure: disk full, no permission"},
	{130, "interrupted"},
};
const size_t exit_codes_count = ARRAY_LEN(exit_codes);

static void put_names(const char *names[ARRAY_LEN(commands)])
{
	for (size_t i = 0; i < commands_count; i++)
		names[i] = commands[i].hidden ? NULL : commands[i].name;
}

int command_none(struct error *err)
{
	const char *names[ARRAY_LEN(commands)];

	put_names(names);
	error_set(err, FAIL_USAGE, "no command given");
	return names_suggest(err, STR_NONE, names, commands_count);
}

int command_find(struct str name, const struct command **out, struct error *err)
{
	const char *names[ARRAY_LEN(commands)];

	for (size_t i = 0; i < commands_count; i++) {
		if (str_is(name, commands[i].name)) {
			*out = &commands[i];
			return 0;
		}
	}
	put_names(names);
	error_set(err, FAIL_USAGE, "unknown command '%.*s'", STR_ARG(name));
	return names_suggest(err, name, names, commands_count);
}

#define HELP_WIDTH 80

static void usage(const struct command *cmd, struct buf *out)
{
	if (cmd) {
		buf_printf(out, "usage: rolldbg %s%s%s%s\n", cmd->name,
		           cmd->code->opt_count ? " [OPTIONS]" : "", *cmd->operands ? " " : "",
		           cmd->operands);
	} else {
		buf_text(out, "usage: rolldbg [GLOBAL OPTIONS] COMMAND [OPTIONS] [OPERANDS]\n");
	}
}

void help_hint(const struct command *cmd, struct buf *out)
{
	usage(cmd, out);
	buf_printf(out, "       see rolldbg help%s%s\n", cmd ? " " : "", cmd ? cmd->name : "");
}

static void global_help(struct buf *out)
{
	buf_text(out, "\nglobal options:\n");
	options_help(global_group.rows, global_group.count, out);
}

/* Up to this many, --help shows all options. */
#define OPTIONS_FEW 24

struct option_list {
	struct opt *opts;
	size_t count;
};

/* Appends each subject once: "recording, task, model". */
static void put_subjects(const struct option_list *l, struct buf *out)
{
	struct str last = STR_NONE;

	for (size_t i = 0; i < l->count; i++) {
		struct str subject = option_subject(&l->opts[i]);

		if (subject.n && !str_eq(subject, last)) {
			buf_text(out, last.n ? ", " : "");
			buf_str(out, subject);
			last = subject;
		}
	}
}

static void common_help(const struct command *cmd, const struct option_list *l, struct buf *out)
{
	AUTO_BUF more = BUF(BUF_MAX_SMALL);

	buf_text(out, "\noptions that most people need:\n");
	(void)options_help_some(l->opts, l->count, STR_NONE, out);
	buf_printf(&more,
	           "All %zu options: rolldbg %s --help all; those of one subject: rolldbg %s "
	           "--help SUBJECT, one of ",
	           l->count, cmd->name, cmd->name);
	put_subjects(l, &more);
	buf_text(&more, "; global options: rolldbg help.");
	buf_char(out, '\n');
	text_wrap(out, buf_view(&more), 0, HELP_WIDTH);
}

static int subject_help(const struct option_list *l, const char *subject, struct buf *out,
                        struct error *err)
{
	AUTO_BUF known = BUF(BUF_MAX_SMALL);

	buf_printf(out, "%s options:\n", subject);
	if (options_help_some(l->opts, l->count, str_from(subject), out))
		return 0;
	buf_clear(out);
	put_subjects(l, &known);
	error_set(err, FAIL_USAGE, "--help %s: no options of this subject; available: all%s%s",
	          subject, known.n ? ", " : "", buf_cstr(&known));
	return -1;
}

static void introduce(const struct command *cmd, struct buf *out)
{
	usage(cmd, out);
	buf_char(out, '\n');
	text_wrap(out, str_from(cmd->summary), 0, HELP_WIDTH);
	if (cmd->description) {
		buf_char(out, '\n');
		text_wrap(out, str_from(cmd->description), 0, HELP_WIDTH);
	}
}

static void full_help(const struct command *cmd, const struct option_list *l, bool all,
                      struct buf *out)
{
	introduce(cmd, out);
	if (l->count > OPTIONS_FEW && !all) {
		common_help(cmd, l, out);
	} else {
		if (l->count) {
			buf_text(out, "\noptions:\n");
			options_help(l->opts, l->count, out);
		}
		global_help(out);
	}
	buf_printf(out, "\nmanual page: rolldbg-%s(1)\n", cmd->name);
}

static int help_command(const struct command *cmd, const char *subject, struct buf *out,
                        struct error *err)
{
	struct option_list l;
	int failed = 0;
	bool all = subject && !strcmp(subject, "all");

	l.opts = options_expand(cmd->code->opts, cmd->code->opt_count, &l.count);
	if (subject && !all)
		failed = subject_help(&l, subject, out, err);
	else
		full_help(cmd, &l, all, out);
	free(l.opts);
	return failed;
}

static void help_all(struct buf *out)
{
	usage(NULL, out);
	buf_char(out, '\n');
	text_wrap(out,
	          STR("Debugs rollouts of agents in environment servers: drives a policy, records "
	              "each turn, and reports whether the environment changed."),
	          0, HELP_WIDTH);
	buf_text(out, "\ncommands:\n");
	for (size_t i = 0; i < commands_count; i++) {
		if (!commands[i].hidden) {
			buf_printf(out, "  %-8s  ", commands[i].name);
			text_wrap(out, str_from(commands[i].summary), 12, HELP_WIDTH);
		}
	}
	global_help(out);
	buf_text(out,
	         "\nSee rolldbg help COMMAND for the options of each;\nman rolldbg-tutorial shows "
	         "a first "
	         "session.\n");
}

int help_print(const struct command *cmd, const char *subject, struct error *err)
{
	struct output out = output_to_stdout();

	if (!cmd) {
		help_all(&out.text);
	} else if (help_command(cmd, subject, &out.text, err)) {
		output_release(&out);
		return -1;
	}
	return output_close(&out, err);
}

static int help_main(const struct context *c, const void *opts, int argc, char **argv,
                     struct error *err)
{
	const struct command *cmd = NULL;

	return argc && command_find(str_from(argv[0]), &cmd, err)
	               ? -1
	               : help_print(cmd, argc > 1 ? argv[1] : NULL, err);
}

CODE_ONLY(help)
