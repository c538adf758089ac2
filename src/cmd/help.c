/* rolldbg help [COMMAND], and the help text of every command. */
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/output.h"

#include <stdlib.h>

#define HELP_WIDTH 80

static void usage(const struct command *cmd, struct buf *out)
{
	if (cmd) {
		buf_printf(out, "usage: rolldbg %s%s%s%s\n", cmd->name,
		           cmd->opt_count ? " [OPTIONS]" : "", *cmd->operands ? " " : "",
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
	options_help(global_options, global_options_count, out);
}

void help_command(const struct command *cmd, struct buf *out)
{
	usage(cmd, out);
	buf_char(out, '\n');
	text_wrap(out, str_from(cmd->summary), 0, HELP_WIDTH);
	if (cmd->description) {
		buf_char(out, '\n');
		text_wrap(out, str_from(cmd->description), 0, HELP_WIDTH);
	}
	if (cmd->opt_count) {
		size_t count;
		struct opt *opts = options_expand(cmd->opts, cmd->opt_count, &count);

		buf_text(out, "\noptions:\n");
		options_help(opts, count, out);
		free(opts);
	}
	global_help(out);
	buf_printf(out, "\nmanual page: rolldbg-%s(1)\n", cmd->name);
}

void help_all(struct buf *out)
{
	usage(NULL, out);
	buf_char(out, '\n');
	text_wrap(out,
	          STR("Debugs rollouts of agents in environment servers: drives a policy, records "
	              "each turn, and reports whether the environment changed."),
	          0, HELP_WIDTH);
	buf_text(out, "\ncommands:\n");
	for (size_t i = 0; i < commands_count; i++) {
		if (!commands[i]->hidden) {
			buf_printf(out, "  %-8s  ", commands[i]->name);
			text_wrap(out, str_from(commands[i]->summary), 12, HELP_WIDTH);
		}
	}
	global_help(out);
	buf_text(out,
	         "\nSee rolldbg help COMMAND for the options of each;\nman rolldbg-tutorial shows "
	         "a first "
	         "session.\n");
}

static int help_run(const struct context *c, const void *opts, int argc, char **argv,
                    struct error *err)
{
	struct output out = output_to_stdout();
	const struct command *cmd = NULL;

	(void)c;
	(void)opts;
	if (argc && command_find(str_from(argv[0]), &cmd, err)) {
		return -1;
	}
	if (cmd) {
		help_command(cmd, &out.text);
	} else {
		help_all(&out.text);
	}
	return output_close(&out, err);
}

const struct command command_help = {
	.name = "help",
	.summary = "print help for a command",
	.operands = "[COMMAND]",
	.max_operands = 1,
	.run = help_run,
};
