/* Files of settings: the project file, or an mcp.json. One that the user did not name may come with
   a clone: it is opened once, and used only if nobody else can write it. */
#pragma once

#include "cmd/cmd.h"
#include "cmd/options/policies.h"
#include "json/tree.h"

struct config_file {
	bool named;            /* by --config or ROLLDBG_CONFIG: it may set everything */
	const char *path;      /* NULL: there is no file */
	const char *directory; /* that contains it */
	struct str text;       /* without surrounding whitespace */
	cJSON *root;           /* its tree; NULL: not parsed, or invalid */
};

/* The path of the nearest project file, from the working directory upwards; NULL: none. */
const char *config_file_upwards(struct arena *arena);

/* Reads the project file, named or found; none is no failure. FAIL_INPUT; FAIL_USAGE: one was found
   that may not be used, such as a link or one that others can write. */
MUST_USE int config_file_find(const struct context *c, struct arena *arena, struct config_file *f,
                              struct error *err);

/* Reads the file at path; f->named says whether the user vouches for it. FAIL_INPUT, also if others
   can write it. */
MUST_USE int config_file_read(const char *path, struct arena *arena, struct config_file *f,
                              struct error *err);

/* ---- values: variables, and quoting for a shell ---- */

#define CONFIG_VARIABLES 16

/* Names of the variables a text contained, in the keyed reader's arena. */
struct config_variables {
	const char *name[CONFIG_VARIABLES];
	size_t at[CONFIG_VARIABLES]; /* offsets in the text */
	size_t count;
};

/* Replaces ${NAME}, ${env:NAME} and ${NAME:-DEFAULT} in the string. FAIL_INPUT, with the
   line, if a variable is not set. `used` may be NULL. */
MUST_USE int config_expand(struct keyed *k, const cJSON *string, environment *variable,
                           const char **out, struct config_variables *used);

/* The same for a target, a word of a command or another setting, adding to `secret` the variables
   whose values are secret: those with a credential's name, and all in a URL behind its host. */
MUST_USE int config_expand_target(struct keyed *k, const cJSON *string, environment *variable,
                                  const char **out, struct config_variables *secret);

/* Appends the word, quoted for sh. */
void config_shell_word(struct buf *out, const char *word);
