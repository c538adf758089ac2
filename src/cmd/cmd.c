/* The table of commands and the way to them. */
#include "cmd/cmd.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/output.h"
#include "net/io.h"

#include <signal.h>
#include <stdlib.h>

#define COMMAND(id) extern const struct command command_##id;
#include "cmd/cmds.def"
#undef COMMAND

const struct command *const commands[] = {
#define COMMAND(id) &command_##id,
#include "cmd/cmds.def"
#undef COMMAND
};
const size_t commands_count = ARRAY_LEN(commands);

struct globals {
	int verbose;
	bool quiet, help, version;
	const char *color;
};

const struct opt global_options[] = {
	{'h', "help", NULL, OPT_FLAG, OPT(struct globals, help), "print help and exit",
         NULL},
	{'v', "verbose", NULL, OPT_COUNT, OPT(struct globals, verbose),
         "explain decisions on stderr; twice: in more detail", NULL},
	{'q', "quiet", NULL, OPT_FLAG, OPT(struct globals, quiet),
         "print findings and errors only: no table, summary or warnings", NULL},
	{0, "color", "WHEN", OPT_CHOICE, OPT(struct globals, color),
         "use colors; auto: on a terminal, unless NO_COLOR is set", "auto|always|never"},
	{0, "version", NULL, OPT_FLAG, OPT(struct globals, version),
         "print the version and exit", NULL},
};
const size_t global_options_count = ARRAY_LEN(global_options);

const struct exit_code exit_codes[] = {
	{0, "clean"},
	{1, "findings at or above --fail-on, differences, or a rollout that was refused"},
	{2, "usage: the command line is wrong"},
	{3, "a recording, policy or configuration that cannot be used"},
	{4, "the environment or the model could not be reached, or was lost"},
	{5, "a local failure: disk full, no permission"},
	{130, "interrupted"},
};
const size_t exit_codes_count = ARRAY_LEN(exit_codes);

int command_find(struct str name, const struct command **out, struct error *err)
{
	const char *names[ARRAY_LEN(commands)];
	struct buf hint = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < commands_count; i++) {
		if (str_is(name, commands[i]->name)) {
			*out = commands[i];
			return 0;
		}
		names[i] = commands[i]->hidden ? NULL : commands[i]->name;
	}
	text_suggest(&hint, name, names, commands_count);
	error_set(err, FAIL_USAGE, "unknown command '%.*s'%s", STR_ARG(name),
	          buf_cstr(&hint));
	buf_release(&hint);
	return -1;
}

/* A command takes the global options too: nobody remembers on which side -v goes. */
static struct opt *joined_options(const struct command *cmd, size_t *count)
{
	struct opt *all = mem_array(cmd->opt_count + global_options_count, sizeof(*all));

	*count = cmd->opt_count + global_options_count;
	for (size_t i = 0; i < cmd->opt_count; i++) {
		all[i] = cmd->opts[i];
	}
	for (size_t i = 0; i < global_options_count; i++) {
		all[cmd->opt_count + i] = global_options[i];
		all[cmd->opt_count + i].offset += cmd->opts_size;
	}
	return all;
}

static void apply_globals(struct context *c, const struct globals *g)
{
	if (g->quiet) {
		c->quiet = true;
		log_set_level(LOG_QUIET);
	}
	if (g->verbose) {
		log_set_level(g->verbose > 1 ? LOG_DEBUG : LOG_INFO);
	}
	if (g->color && strcmp(g->color, "auto") != 0) {
		c->style.color = !strcmp(g->color, "always");
	}
}

static int print(void (*text)(const struct command *, struct buf *),
                 const struct command *cmd, struct error *err)
{
	struct output out = output_to_stdout();

	text(cmd, &out.text);
	return output_close(&out, err);
}

static void list_text(const struct command *cmd, struct buf *out)
{
	(void)cmd;
	help_all(out);
}

static void version_text(const struct command *cmd, struct buf *out)
{
	(void)cmd;
	buf_text(out, "rolldbg " ROLLDBG_VERSION "\n");
}

static int check_operands(const struct command *cmd, int given, char **argv,
                          struct error *err)
{
	if (given < cmd->min_operands) {
		return error_set(err, FAIL_USAGE, "an operand is missing");
	}
	if (cmd->max_operands >= 0 && given > cmd->max_operands) {
		return error_set(err, FAIL_USAGE, "unexpected operand '%s'",
		                 argv[cmd->max_operands]);
	}
	return 0;
}

/* A filter whose reader loses interest ends, as everywhere; who talks to peers says
   goodbye first. TLS and all that is only made ready where it is needed: it costs more
   than a small check. */
static int start_command(const struct context *c, const struct command *cmd,
                         const void *opts, int argc, char **argv, struct error *err)
{
	struct sigaction pipe = {.sa_handler = cmd->network ? SIG_IGN : SIG_DFL};

	sigaction(SIGPIPE, &pipe, NULL);
	if (!cmd->network) {
		return cmd->run(c, opts, argc, argv, err);
	}
	c->catch_stop();
	if (io_global_init(err)) {
		return -1;
	}
	int code = cmd->run(c, opts, argc, argv, err);
	io_global_cleanup();
	return code;
}

static int run_command(struct context *c, const struct command *cmd, int argc,
                       char **argv, struct error *err)
{
	size_t count;
	struct opt *opts = joined_options(cmd, &count);
	char *values = mem_new(cmd->opts_size + sizeof(struct globals));
	struct globals *g = (struct globals *)(void *)(values + cmd->opts_size);
	int operands = options_parse(opts, count, false, argc, argv, values, err),
	    code = -1;

	if (operands >= 0) {
		apply_globals(c, g);
		if (g->help) {
			code = print(help_command, cmd, err);
		} else if (!check_operands(cmd, operands, argv, err)) {
			code = start_command(c, cmd, values, operands, argv, err);
		}
	}
	if (code < 0) {
		error_wrap(err, "%s", cmd->name);
	}
	free(values);
	free(opts);
	return code;
}

int command_main(struct context *c, int argc, char **argv, struct error *err)
{
	struct globals g = {0};
	int operands = options_parse(global_options, global_options_count, true, argc - 1,
	                             argv + 1, &g, err);

	if (operands < 0) {
		return -1;
	}
	apply_globals(c, &g);
	if (g.version) {
		return print(version_text, NULL, err);
	}
	if (!operands) {
		if (g.help) {
			return print(list_text, NULL, err);
		}
		return error_set(err, FAIL_USAGE, "no command given");
	}
	if (command_find(str_from(argv[1]), &c->command, err)) {
		return -1;
	}
	return g.help ? print(help_command, c->command, err)
	              : run_command(c, c->command, operands - 1, argv + 2, err);
}
