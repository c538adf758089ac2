/* Command-line options from tables: one table drives parsing, checks, --help and (through `rolldbg
   __spec`) the manual and the completions. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

enum opt_type {
	OPTION_FLAG,     /* bool; --no-NAME clears it */
	OPTION_COUNT,    /* int; each use adds 1: -vv */
	OPTION_STRING,   /* const char * */
	OPTION_NUMBER,   /* struct opt_u64 */
	OPTION_INTEGER,  /* struct opt_i64 */
	OPTION_DURATION, /* struct opt_u64, in ms: a duration with a unit */
	OPTION_LIST,     /* struct opt_list: may be given several times */
	OPTION_CHOICE,   /* const char *, one of `choices` */
	OPTION_GROUP,    /* a struct whose options are listed in another table */
};

/* What a setting can do: decides which files may give it (config_class.h). */
enum opt_class {
	OPT_UNCLASSED, /* refused by make lint */
	OPT_HARMLESS,  /* how results are computed and shown */
	OPT_REACH,     /* what is contacted, and what is sent */
	OPT_POWER,     /* starts programs, writes files, reads or sends secrets, hides changes */
	OPT_NEVER, /* destroys or discloses, or chooses what a command does: given by the user alone */
};

/* In a row, added to the class: one of the options that most people need. --help shows these if the
   command has many; --help all shows every option. */
#define OPT_COMMON 16

struct opt_u64 {
	bool given;
	uint64_t value;
};

static inline size_t opt_number(struct opt_u64 given, size_t otherwise)
{
	return given.given ? (size_t)given.value : otherwise;
}

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
	char letter;      /* 0: no short option */
	const char *name; /* long name, without dashes */
	enum opt_class class;
	bool common;      /* see OPT_COMMON */
	const char *arg;  /* placeholder for the value in --help; NULL for flags */
	size_t offset;    /* of the member in the command's options struct */
	const char *help; /* one line */
	uint64_t least;   /* the range of a bounded OPTION_NUMBER; most 0: not bounded */
	uint64_t most;
	const char *choices; /* "a|b|c" for OPTION_CHOICE */
	/* names of options of the same command: one that must be given, too, and those that must not, separated by
	   spaces; NULL: none */
	const char *needs, *excludes;
	/* rows of an OPTION_GROUP; in an expanded row the group it comes from, or NULL */
	const struct option_group *group;
};

/* Options shared by several commands; each command embeds the struct. Groups cannot be
   nested. */
struct option_group {
	const struct opt *rows;
	size_t count;
	const char *title; /* heading in --help; NULL: listed among the command's own options */
};

/* A table of options is cmd/tables/NAME.def. Of it, members.h makes struct NAME_options, which holds
   their values, and rows.h the table NAME_opts; table.h makes both. Its rows:
     OPTION(KIND, letter, "name", class, "ARG", member, "help")  ARG: NULL for a flag; other members of struct
                                                                 opt may follow: .choices = "a|b"
     OPTION_IN(the same)                  its member is declared elsewhere
     GROUP(type, member, group)           the options of a group, with their struct
     GROUP_IN(member, group)              the same, in a member that is declared elsewhere
     MEMBER(type, member)                 no option */
#define OPTION_TYPE_FLAG     bool
#define OPTION_TYPE_COUNT    int
#define OPTION_TYPE_STRING   const char *
#define OPTION_TYPE_CHOICE   const char *
#define OPTION_TYPE_NUMBER   struct opt_u64
#define OPTION_TYPE_DURATION struct opt_u64
#define OPTION_TYPE_INTEGER  struct opt_i64
#define OPTION_TYPE_LIST     struct opt_list

#define OPTIONS_JOINED(name, end) name##end
#define OPTIONS_NAMED(name, end)  OPTIONS_JOINED(name, end)
#define OPTIONS_QUOTED(path)      #path
#define OPTIONS_PATH(path)        OPTIONS_QUOTED(path)
/* clang-format off */
#define OPTIONS_TABLE(name) OPTIONS_PATH(cmd/tables/name.def) // NOLINT(bugprone-macro-parentheses): a path
/* clang-format on */

/* The rows with each group replaced by its rows; groups with a title come last. The functions below
   take this form. The caller frees it with free(). */
struct opt *options_expand(const struct opt *opts, size_t count, size_t *expanded)
	__attribute__((returns_nonnull));

/* Called for each option that was given, with its value: NULL for a flag, "false" if --no-NAME
   cleared it. */
typedef void option_listener(void *ctx, const struct opt *o, const char *value);

struct options_how {
	bool stop_at_operand;  /* the first operand ends options: global options */
	option_listener *note; /* NULL: none */
	void *ctx;
};

/* Parses argv[0..argc): stores options in `values` (zeroed by the caller) and moves operands to the
   front of argv in order. Returns the number of operands, or -1 with FAIL_USAGE, which suggests the
   nearest name for an unknown option. "--" ends options; "-" is an operand. */
MUST_USE int options_parse(const struct opt *opts, size_t count, struct options_how how, int argc,
                           char **argv, void *values, struct error *err);

/* Sets one option from another source, as if the command line had given it. */
MUST_USE int options_set(const struct opt *o, const char *value, void *values, struct error *err);

/* The first option of a group that was given, in a command's options or by a file; NULL: none. values: the
   group's struct. */
const struct opt *options_given(const struct option_group *g, const void *values);

/* Are the options that were given allowed together? FAIL_USAGE: one needs or excludes another. */
MUST_USE int options_agree(const struct opt *opts, size_t count, const void *values,
                           struct error *err);

const char *option_class_name(enum opt_class class); /* "harmless" */

/* The heading of an expanded option's group; NULL: one of the command's own options. */
const char *option_title(const struct opt *o);
struct str option_subject(const struct opt *o); /* its first word; absent: none */

/* Appends the option lines of --help, with a heading above each titled group. */
void options_help(const struct opt *opts, size_t count, struct buf *out);
/* The same without headings, for the groups whose title begins with this word; absent: for the options
   that most people need. Returns whether there are any. */
bool options_help_some(const struct opt *opts, size_t count, struct str subject, struct buf *out);
