/* The tables of commands and exit codes. */
#include "cmd/cmd.h"

#include "base/names.h"

#define COMMAND(id) extern const struct command command_##id;
#include "cmd/cmds.def"
#undef COMMAND

const struct command *const commands[] = {
#define COMMAND(id) &command_##id,
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
	for (size_t i = 0; i < commands_count; i++) {
		names[i] = commands[i]->hidden ? NULL : commands[i]->name;
	}
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
		if (str_is(name, commands[i]->name)) {
			*out = commands[i];
			return 0;
		}
	}
	put_names(names);
	error_set(err, FAIL_USAGE, "unknown command '%.*s'", STR_ARG(name));
	return names_suggest(err, name, names, commands_count);
}
