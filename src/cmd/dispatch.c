/* From the program's arguments to a command: global options, the command's own options, its project
   file. */
#include "base/log.h"
#include "base/mem.h"
#include "base/new_file.h"
#include "cmd/options/config.h"
#include "cmd/options/output.h"
#include "cmd/options/setting_options.h"
#include "cmd/store/store.h"
#include "net/io.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- options of the command line and the project file ---- */

struct command_line {
	struct config config; /* caller sets its first members: context, command, opts, opt_count */
	int argc;
	char **argv;
	void *values;       /* the command's options struct, zeroed */
	size_t size;        /* its size */
	const char *target; /* target of the named environment; NULL: none was named */
};

static const char **env_of(const struct command_line *l)
{
	const struct opt *o = config_env_option(l->config.opts, l->config.opt_count);

	return o ? (const char **)(void *)((char *)l->values + o->offset) : NULL;
}

/* Precedence of settings: defaults, then the environment's, then the command line. The
   environment's name comes from the command line, else from the defaults. */
static int command_line_read(struct command_line *l, struct error *err)
{
	struct config *f = &l->config;
	const char **env = env_of(l), *name = env ? *env : NULL;
	bool typed = name != NULL;

	memset(l->values, 0, l->size);
	if (config_open(f, err) || config_defaults(f, l->values, err))
		return -1;
	name = name ? name : env ? *env : NULL;
	if (name && config_is_name(f, name) &&
	    config_environment(f, name, typed, l->values, &l->target, err)) {
		return -1;
	}
	const struct options_how how = {.note = config_note, .ctx = f};
	int operands = options_parse(f->opts, f->opt_count, how, l->argc, l->argv, l->values, err);
	if (operands >= 0 && env && l->target)
		*env = l->target;
	return operands;
}

/* ---- global options ---- */

#define OPTIONS global
#include "cmd/options/table.h"
const struct option_group global_group = {global_opts, ARRAY_LEN(global_opts), NULL};

/* The global options follow those of the command. */
static size_t globals_at(const struct command *cmd)
{
	size_t align = _Alignof(struct global_options);

	return (cmd->code->opts_size + align - 1) / align * align;
}

/* A command also accepts the global options, so that -v works on both sides of its name. */
static struct opt *joined_options(const struct command *cmd, size_t *count)
{
	struct opt *all = options_expand(cmd->code->opts, cmd->code->opt_count, count);

	all = mem_resize(all, *count + global_group.count, sizeof(*all));
	for (size_t i = 0; i < global_group.count; i++) {
		all[*count] = global_group.rows[i];
		all[(*count)++].offset += globals_at(cmd);
	}
	return all;
}

static void apply_globals(struct context *c, const struct global_options *g)
{
	c->no_pager |= g->no_pager;
	c->print_config |= g->print_config;
	c->config = g->config ? g->config : c->config;
	if (g->quiet) {
		c->quiet = true;
		log_set_level(LOG_QUIET);
	}
	if (g->verbose)
		log_set_level(g->verbose > 1 ? LOG_DEBUG : LOG_INFO);
	if (g->color && strcmp(g->color, "auto") != 0)
		c->style.color = !strcmp(g->color, "always");
}

static int print_version(struct error *err)
{
	struct output out = output_to_stdout();

	buf_text(&out.text, "rolldbg " ROLLDBG_VERSION "\n");
	return output_close(&out, err);
}

/* The word after --help. */
static const char *help_subject(int argc, char **argv)
{
	for (int i = 0; i + 1 < argc; i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return argv[i + 1][0] == '-' ? NULL : argv[i + 1];
	return NULL;
}

static int check_operands(const struct command_line *l, int given, struct error *err)
{
	const struct command *cmd = l->config.command;
	char **argv = l->argv;

	if (given < cmd->min_operands)
		return error_set(err, FAIL_USAGE, "missing operand: %s", cmd->operands);
	if (cmd->max_operands >= 0 && given > cmd->max_operands) {
		const char *operand = argv[cmd->max_operands];
		bool is_url = strstr(operand, "://") &&
		              config_env_option(l->config.opts, l->config.opt_count);

		return error_set(err, FAIL_USAGE, "unexpected operand '%s'%s", operand,
		                 is_url ? "; did you mean '--env URL'?" : "");
	}
	for (int i = 0; i < given; i++)
		if (!*argv[i])
			return error_set(err, FAIL_USAGE, "operand %d is empty", i + 1);
	return 0;
}

static void end_by(int number)
{
	new_files_remove();
	raise(number);
}

/* Commands without network traffic die of a signal, as filters do; the others close their sessions
   first. */
static void die_of_signals(void)
{
	static const int numbers[] = {SIGPIPE, SIGINT, SIGTERM, SIGHUP};
	struct sigaction end = {.sa_handler = end_by, .sa_flags = (int)SA_RESETHAND}, before;

	sigemptyset(&end.sa_mask);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		sigaction(numbers[i], &end, &before);
		if (before.sa_handler == SIG_IGN && numbers[i] != SIGPIPE)
			sigaction(numbers[i], &before, NULL);
	}
}

/* TLS is initialized only if needed: it takes longer than a small check. */
static int start_command(const struct context *c, const struct command *cmd, const void *opts,
                         int argc, char **argv, struct error *err)
{
	if (!cmd->network) {
		die_of_signals();
		return cmd->code->run(c, opts, argc, argv, err);
	}
	sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
	c->catch_stop();
	if (io_global_init(err))
		return -1;
	int code = cmd->code->run(c, opts, argc, argv, err);
	io_global_cleanup();
	return code;
}

static int print_config(struct command_line *l, struct error *err)
{
	struct output out = output_to_stdout();

	config_print(&l->config, l->target, &out.text);
	return output_close(&out, err);
}

/* Applies the project file to a valid command line and runs the command. */
static int run_settled(struct context *c, struct command_line *l, const struct global_options *g,
                       struct error *err)
{
	const struct command *cmd = l->config.command;
	AUTO_ARENA names = {.last = NULL};
	int code = -1;

	apply_globals(c, g); /* as typed: before warnings about the project file */
	c->started = true;   /* the command line was checked: a file is wrong */
	int operands = command_line_read(l, err);
	if (operands < 0)
		return -1;
	c->started = false;
	apply_globals(c, g);
	if (c->print_config)
		return print_config(l, err);
	if (!check_operands(l, operands, err) &&
	    (!cmd->recordings ||
	     !store_name_operands(c->variable, operands, l->argv, &names, err))) {
		c->started = true;
		code = options_agree(l->config.opts, l->config.opt_count, l->values, err)
		               ? -1
		               : start_command(c, cmd, l->values, operands, l->argv, err);
	}
	return code;
}

static int run_command(struct context *c, const struct command *cmd, int argc, char **argv,
                       struct error *err)
{
	size_t count;
	struct opt *opts = joined_options(cmd, &count);
	struct command_line l = {
		.config = {.context = c, .command = cmd, .opts = opts, .opt_count = count},
		.argc = argc,
		.argv = argv,
		.size = globals_at(cmd) + sizeof(struct global_options)};
	char **typed = mem_array((size_t)argc + 1, sizeof(*typed));
	int code = -1;

	memcpy(typed, argv, (size_t)argc * sizeof(*argv));
	l.values = mem_new(l.size);
	const struct global_options *g =
		(struct global_options *)(void *)((char *)l.values + globals_at(cmd));
	if (options_parse(opts, count, (struct options_how){0}, argc, argv, l.values, err) >= 0) {
		memcpy(argv, typed, (size_t)argc * sizeof(*argv)); /* it was reordered */
		code = g->help      ? help_print(cmd, help_subject(argc, argv), err)
		       : g->version ? print_version(err)
		                    : run_settled(c, &l, g, err);
	}
	if (code < 0 && config_pass_over_defaults(&l.config, err)) {
		memcpy(argv, typed, (size_t)argc * sizeof(*argv));
		code = run_settled(c, &l, g, err);
	}
	if (code < 0)
		error_wrap(err, "%s", cmd->name);
	config_release(&l.config);
	free(typed);
	free(l.values);
	free(opts);
	return code;
}

static int dispatch(struct context *c, int argc, char **argv, struct error *err)
{
	struct global_options g = {0};
	int operands = options_parse(global_group.rows, global_group.count,
	                             (struct options_how){.stop_at_operand = true}, argc - 1,
	                             argv + 1, &g, err);

	if (operands < 0)
		return -1;
	apply_globals(c, &g);
	if (g.version)
		return print_version(err);
	if (!operands)
		return g.help ? help_print(NULL, NULL, err) : command_none(err);
	if (command_find(str_from(argv[1]), &c->command, err))
		return -1;
	return g.help ? help_print(c->command, operands > 1 ? argv[2] : NULL, err)
	              : run_command(c, c->command, operands - 1, argv + 2, err);
}

int command_main(struct context *c, int argc, char **argv, struct error *err)
{
	log_set_filter(settings_filter, NULL);
	c->typed = mem_array((size_t)argc + 1, sizeof(*c->typed)); /* argv is reordered */
	memcpy(c->typed, argv + 1, (size_t)argc * sizeof(*argv));
	int code = dispatch(c, argc, argv, err);

	if (code < 0)
		settings_as_options(err->text, strlen(err->text));
	free(c->typed);
	c->typed = NULL;
	return code;
}
