/* Command-line options from tables: one table parses, checks, prints --help and (through
   `rolldbg __spec`) makes the manual and the completions. */
#ifndef ROLLDBG_BASE_OPTIONS_H
#define ROLLDBG_BASE_OPTIONS_H

#include "base/buf.h"
#include "base/error.h"

enum opt_type {
	OPT_FLAG,   /* bool; --no-NAME clears it */
	OPT_COUNT,  /* int; each use adds one: -vv */
	OPT_STR,    /* const char * */
	OPT_U64,    /* struct opt_u64 */
	OPT_I64,    /* struct opt_i64 */
	OPT_MS,     /* struct opt_u64: a duration with its unit */
	OPT_LIST,   /* struct opt_list: may be given several times */
	OPT_CHOICE, /* const char *, one of `choices` */
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
	char letter;      /* 0: none */
	const char *name; /* long name, without dashes */
	const char *arg;  /* what --help calls the value; NULL for flags */
	enum opt_type type;
	size_t offset;       /* of the field in the command's options struct */
	const char *help;    /* one line */
	const char *choices; /* "a|b|c" for OPT_CHOICE */
};

#define OPT(struct_type, field) offsetof(struct_type, field)

/* Parses argv[0..argc): options into `values` (zeroed by the caller), operands to the
   front of argv in order; returns their number or -1 with FAIL_USAGE, naming the nearest
   option for an unknown one. "--" ends options, "-" is an operand. `stop_at_operand`: the
   first operand ends options (global options). */
MUST_USE int options_parse(const struct opt *opts, size_t count, bool stop_at_operand,
                           int argc, char **argv, void *values, struct error *err);

/* The option lines of --help. */
void options_help(const struct opt *opts, size_t count, struct buf *out);

#endif
