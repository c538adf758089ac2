/* The table of commands, and dispatch. */
#include "cmd/cmd.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "cmd/output.h"
#include "cmd/settings.h"
#include "cmd/stored.h"
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
	bool quiet, help, version, no_pager;
	const char *color;
};

#define FIELD(f) offsetof(struct globals, f)

const struct opt global_options[] = {
	OPT_FLAG('h', "help", FIELD(help), "print help and exit"),
	OPT_COUNT('v', "verbose", FIELD(verbose),
                  "explain decisions on stderr; give twice for more detail"),
	OPT_FLAG(
		'q', "quiet", FIELD(quiet),
		"print only findings, differences, failed properties, errors and the output of --json, "
		"show, strip and stats; no tables, summaries, progress or warnings"),
	OPT_CHOICE(0, "color", "WHEN", "auto|always|never", FIELD(color),
                   "when to use colors; auto: on a terminal, unless NO_COLOR is set"),
	OPT_FLAG(0, "no-pager", FIELD(no_pager), "do not start a pager on a terminal"),
	OPT_FLAG(0, "version", FIELD(version), "print the version and exit"),
};
const size_t global_options_count = ARRAY_LEN(global_options);

const struct exit_code exit_codes[] = {
	{0, "clean"},
	{1,
         "findings at or above --fail-on, differences, a rollout that was refused, or a call left unanswered"},
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

	for (size_t i = 0; i < commands_count; i++) {
		if (str_is(name, commands[i]->name)) {
			*out = commands[i];
			return 0;
		}
		names[i] = commands[i]->hidden ? NULL : commands[i]->name;
	}
	error_set(err, FAIL_USAGE, "unknown command '%.*s'", STR_ARG(name));
	return names_suggest(err, name, names, commands_count);
}

/* A command also accepts the global options, so that users need not remember on which side -v
   goes. */
static struct opt *joined_options(const struct command *cmd, size_t *count)
{
	struct opt *all = options_expand(cmd->opts, cmd->opt_count, count);

	all = mem_resize(all, *count + global_options_count, sizeof(*all));
	for (size_t i = 0; i < global_options_count; i++) {
		all[*count] = global_options[i];
		all[(*count)++].offset += cmd->opts_size;
	}
	return all;
}

static void apply_globals(struct context *c, const struct globals *g)
{
	c->no_pager |= g->no_pager;
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

static int print(void (*text)(const struct command *, struct buf *), const struct command *cmd,
                 struct error *err)
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

static int check_operands(const struct command *cmd, int given, char **argv, struct error *err)
{
	if (given < cmd->min_operands) {
		return error_set(err, FAIL_USAGE, "missing operand: %s", cmd->operands);
	}
	if (cmd->max_operands >= 0 && given > cmd->max_operands) {
		return error_set(err, FAIL_USAGE, "unexpected operand '%s'",
		                 argv[cmd->max_operands]);
	}
	return 0;
}

/* Commands without network traffic die of SIGPIPE as filters do; those with it first end their
   sessions. TLS is only initialized if needed: it costs more than a small check. */
static int start_command(const struct context *c, const struct command *cmd, const void *opts,
                         int argc, char **argv, struct error *err)
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

static int run_command(struct context *c, const struct command *cmd, int argc, char **argv,
                       struct error *err)
{
	size_t count;
	struct opt *opts = joined_options(cmd, &count);
	char *values = mem_new(cmd->opts_size + sizeof(struct globals));
	struct arena names = {.last = NULL};
	struct globals *g = (struct globals *)(void *)(values + cmd->opts_size);
	int operands = options_parse(opts, count, false, argc, argv, values, err), code = -1;

	if (operands >= 0) {
		apply_globals(c, g);
		if (g->help || g->version) {
			code = print(g->help ? help_command : version_text, cmd, err);
		} else if (!check_operands(cmd, operands, argv, err) &&
		           (!cmd->recordings ||
		            !store_name_operands(c->variable, operands, argv, &names, err))) {
			code = start_command(c, cmd, values, operands, argv, err);
		}
	}
	if (code < 0) {
		error_wrap(err, "%s", cmd->name);
	}
	arena_release(&names);
	free(values);
	free(opts);
	return code;
}

static int dispatch(struct context *c, int argc, char **argv, struct error *err)
{
	struct globals g = {0};
	int operands = options_parse(global_options, global_options_count, true, argc - 1, argv + 1,
	                             &g, err);

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

int command_main(struct context *c, int argc, char **argv, struct error *err)
{
	log_set_filter(settings_filter, NULL);
	int code = dispatch(c, argc, argv, err);

	if (code < 0) {
		settings_as_options(err->text, strlen(err->text));
	}
	return code;
}
