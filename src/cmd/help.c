/* rolldbg help [COMMAND] */
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/output.h"

static int help_run(const struct context *c, const void *opts, int argc, char **argv,
                    struct error *err)
{
	struct output out = output_to_stdout();
	const char *names[64];
	size_t n = 0;

	(void)c;
	(void)opts;
	if (!argc) {
		help_all(&out.text);
		return output_close(&out, err);
	}
	for (size_t i = 0; i < commands_count && n < ARRAY_LEN(names); i++) {
		if (!strcmp(commands[i]->name, argv[0])) {
			help_command(commands[i], &out.text);
			return output_close(&out, err);
		}
		names[n++] = commands[i]->hidden ? NULL : commands[i]->name;
	}
	const char *near = text_nearest(str_from(argv[0]), names, n);
	return error_set(err, FAIL_USAGE, "unknown command '%s'%s%s%s", argv[0],
	                 near ? "; did you mean '" : "", near ? near : "",
	                 near ? "'?" : "");
}

const struct command command_help = {
	.name = "help",
	.summary = "print help for a command",
	.operands = "[COMMAND]",
	.max_operands = 1,
	.run = help_run,
};
