/* Files of settings: the project file, or an mcp.json. One that the user did not name may come with
   a clone: it is opened once, and used only if nobody else can write it. */
#ifndef ROLLDBG_CMD_OPTIONS_CONFIG_FILE_H
#define ROLLDBG_CMD_OPTIONS_CONFIG_FILE_H

#include "cmd/cmd.h"
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

#endif
