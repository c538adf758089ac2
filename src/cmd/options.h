/* Command-line options from tables: a table drives parsing, checks, --help and (through `rolldbg
   __spec`) the manual and the completions. */
#ifndef ROLLDBG_CMD_OPTIONS_H
#define ROLLDBG_CMD_OPTIONS_H

#include "base/buf.h"
#include "base/error.h"

enum opt_type {
	OPTION_FLAG,     /* bool; --no-NAME clears it */
	OPTION_COUNT,    /* int; each use adds one: -vv */
	OPTION_STRING,   /* const char * */
	OPTION_NUMBER,   /* struct opt_u64 */
	OPTION_INTEGER,  /* struct opt_i64 */
	OPTION_DURATION, /* struct opt_u64, in ms: a duration with a unit */
	OPTION_LIST,     /* struct opt_list: may be given several times */
	OPTION_CHOICE,   /* const char *, one of `choices` */
	OPTION_GROUP,    /* a struct whose options are listed in another table */
};

struct opt_u64 {
	bool given;
	uint64_t value;
};

struct opt_i64 {
	bool given;
	int64_t value;
};

#define OPT_LIST_MAX 64

struct opt_list {
	const char *item[OPT_LIST_MAX];
	size_t count;
};

struct opt {
	enum opt_type type;
	char letter;         /* 0: none */
	const char *name;    /* long name, without dashes */
	const char *arg;     /* placeholder for the value in --help; NULL for flags */
	size_t offset;       /* of the member in the command's options struct */
	const char *help;    /* one line */
	const char *choices; /* "a|b|c" for OPTION_CHOICE */
	/* of OPTION_GROUP: its rows; of an expanded row: the group it comes from, NULL: none */
	const struct option_group *group;
};

/* Options shared by several commands; each command embeds the struct. Groups cannot be
   nested. */
struct option_group {
	const struct opt *rows;
	size_t count;
	const char *title; /* above its list; NULL: listed among the command's own */
};

/* Rows of an option table. l: letter, n: name, a: placeholder of the value in --help, c:
   choices, f: offsetof the member, h: help */
#define OPT_FLAG(l, n, f, h)         OPT_ROW(OPTION_FLAG, l, n, NULL, NULL, f, h)
#define OPT_COUNT(l, n, f, h)        OPT_ROW(OPTION_COUNT, l, n, NULL, NULL, f, h)
#define OPT_STRING(l, n, a, f, h)    OPT_ROW(OPTION_STRING, l, n, a, NULL, f, h)
#define OPT_NUMBER(l, n, a, f, h)    OPT_ROW(OPTION_NUMBER, l, n, a, NULL, f, h)
#define OPT_INTEGER(l, n, a, f, h)   OPT_ROW(OPTION_INTEGER, l, n, a, NULL, f, h)
#define OPT_DURATION(l, n, f, h)     OPT_ROW(OPTION_DURATION, l, n, "DURATION", NULL, f, h)
#define OPT_LIST(l, n, a, f, h)      OPT_ROW(OPTION_LIST, l, n, a, NULL, f, h)
#define OPT_CHOICE(l, n, a, c, f, h) OPT_ROW(OPTION_CHOICE, l, n, a, c, f, h)
#define OPT_GROUP(f, g)              {.type = OPTION_GROUP, .offset = (f), .group = &(g)}
/* clang-format off */
#define OPT_ROW(t, l, n, a, c, f, h) \
	{.type = (t), .letter = (l), .name = (n), .arg = (a), .choices = (c), .offset = (f), .help = (h)}
/* clang-format on */

/* The rows, with each group replaced by its own rows, those of groups with a title last: the form
   the functions below take. free() it. */
struct opt *options_expand(const struct opt *opts, size_t count, size_t *expanded)
	__attribute__((returns_nonnull));

/* Parses argv[0..argc): stores options in `values` (zeroed by the caller) and moves operands to
   the front of argv in order. Returns the number of operands, or -1 with FAIL_USAGE, which
   suggests the nearest option for an unknown one. "--" ends options; "-" is an operand.
   `stop_at_operand`: the first operand ends options (global options). */
MUST_USE int options_parse(const struct opt *opts, size_t count, bool stop_at_operand, int argc,
                           char **argv, void *values, struct error *err);

/* Is told of each option that was given and its value, NULL for a flag ("false" if --no-NAME clears
   it). */
struct option_listener {
	void (*note)(void *ctx, const struct opt *o, const char *value);
	void *ctx;
};
/* The same for the options of a command, with a listener. */
MUST_USE int options_parse_noting(const struct opt *opts, size_t count, int argc, char **argv,
                                  void *values, const struct option_listener *l, struct error *err);

/* Sets one option from elsewhere, as if the command line had given it. */
MUST_USE int options_set(const struct opt *o, const char *value, void *values, struct error *err);

/* Heads the group that an expanded option belongs to; NULL: one of the command's own. */
const char *option_title(const struct opt *o);

/* The option lines of --help, a line above those of each title. */
void options_help(const struct opt *opts, size_t count, struct buf *out);

#endif
