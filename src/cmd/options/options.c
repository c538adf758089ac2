/* Table-driven option parser: see options.h. */
#include "cmd/options/options.h"

#include "base/mem.h"
#include "base/text.h"

#include <assert.h>
#include <inttypes.h>

#define HELP_COLUMN 30
#define HELP_WIDTH  80

const char *option_title(const struct opt *o)
{
	return o->group ? o->group->title : NULL;
}

struct str option_subject(const struct opt *o)
{
	const char *title = option_title(o);

	return title ? (struct str){title, strcspn(title, " ")} : STR_NONE;
}

const char *option_class_name(enum opt_class class)
{
	static const char *const names[] = {
		[OPT_UNCLASSED] = "",  [OPT_HARMLESS] = "harmless", [OPT_REACH] = "reach",
		[OPT_POWER] = "power", [OPT_NEVER] = "never",
	};

	return names[class];
}

/* Appends the rows that an option of a table expands to. */
static size_t expand(const struct opt *o, struct opt *to)
{
	if (!o->group) {
		*to = *o;
		return 1;
	}
	for (size_t i = 0; i < o->group->count; i++) {
		to[i] = o->group->rows[i];
		to[i].offset += o->offset;
		to[i].group = o->group;
	}
	return o->group->count;
}

struct opt *options_expand(const struct opt *opts, size_t count, size_t *expanded)
{
	struct opt *all;
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += opts[i].group ? opts[i].group->count : 1;
	all = mem_array(n, sizeof(*all));
	*expanded = n;
	n = 0;
	for (int titled = 0; titled < 2; titled++) {
		for (size_t i = 0; i < count; i++)
			if (!option_title(&opts[i]) == !titled)
				n += expand(&opts[i], &all[n]);
	}
	return all;
}

static const struct opt *by_name(const struct opt *opts, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_is(name, opts[i].name))
			return &opts[i];
	return NULL;
}

static const struct opt *by_letter(const struct opt *opts, size_t count, char letter)
{
	for (size_t i = 0; i < count; i++)
		if (opts[i].letter == letter)
			return &opts[i];
	return NULL;
}

static bool takes_value(const struct opt *o)
{
	return o->type != OPTION_FLAG && o->type != OPTION_COUNT;
}

static bool is_choice(const struct opt *o, struct str value)
{
	for (const char *c = o->choices; *c;) {
		size_t n = strcspn(c, "|");

		if (str_eq(value, (struct str){c, n}))
			return true;
		c += n + (c[n] == '|');
	}
	return false;
}

static int add_to_list(const struct opt *o, struct opt_list *list, const char *value,
                       struct error *err)
{
	if (list->count == OPT_LIST_MAX) {
		return error_set(err, FAIL_USAGE, "--%s was given more than %d times", o->name,
		                 OPT_LIST_MAX);
	}
	list->item[list->count++] = value;
	return 0;
}

static int out_of_range(const struct opt *o, uint64_t n, struct error *err)
{
	if (!o->most || (n >= o->least && n <= o->most))
		return 0;
	return error_set(err, FAIL_USAGE,
	                 "--%s: expected a number from %" PRIu64 " to %" PRIu64 ", got %" PRIu64,
	                 o->name, o->least, o->most, n);
}

static int set_u64(const struct opt *o, struct opt_u64 *out, const char *value, struct error *err)
{
	uint64_t n = 0;
	/* a duration of 0 is refused: it could mean none or unlimited */
	bool ok = o->type == OPTION_DURATION ? text_duration_ms(str_from(value), &n) && n
	                                     : text_u64(str_from(value), &n);

	if (ok && out_of_range(o, n, err))
		return -1;
	if (ok) { /* else unchanged: the caller may go on */
		*out = (struct opt_u64){.given = true, .value = n};
		return 0;
	}
	return o->type == OPTION_DURATION
	               ? error_set(err, FAIL_USAGE,
	                           "--%s: expected a duration with a unit (500ms, 3s, 2m), "
	                           "more than 0 and at most 1000h, got '%s'",
	                           o->name, value)
	               : error_set(err, FAIL_USAGE,
	                           "--%s: expected a whole number from 0 to 2^64-1, got '%s'",
	                           o->name, value);
}

/* Can the value name a file? Names of files are bytes; all other values become text: in requests,
   in recordings. */
static bool may_be_file(const struct opt *o)
{
	static const char *const words[] = {"FILE", "DIR", "GOLDEN", "TARGET", "COMMAND", "REPORT"};
	bool file = false;

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		file = file || strstr(o->arg, words[i]);
	return file;
}

int options_set(const struct opt *o, const char *value, void *values, struct error *err)
{
	void *field = (char *)values + o->offset;

	if (value && !*value)
		return error_set(err, FAIL_USAGE, "--%s: the value is empty", o->name);
	if (value && o->arg && !may_be_file(o) && text_utf8_valid(str_from(value)) != strlen(value))
		return error_set(err, FAIL_USAGE, "--%s: the value is not valid UTF-8", o->name);
	switch (o->type) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return 0;
	case OPTION_COUNT:
		++*(int *)field;
		return 0;
	case OPTION_CHOICE:
		if (!is_choice(o, str_from(value))) {
			return error_set(err, FAIL_USAGE, "--%s: expected one of %s, got '%s'",
			                 o->name, o->choices, value);
		}
		*(const char **)field = value;
		return 0;
	case OPTION_STRING:
		*(const char **)field = value;
		return 0;
	case OPTION_NUMBER:
	case OPTION_DURATION:
		return set_u64(o, field, value, err);
	case OPTION_INTEGER:
		if (!text_i64(str_from(value), &((struct opt_i64 *)field)->value)) {
			return error_set(
				err, FAIL_USAGE,
				"--%s: expected a whole number from -2^63 to 2^63-1, got '%s'",
				o->name, value);
		}
		((struct opt_i64 *)field)->given = true;
		return 0;
	case OPTION_LIST:
		return add_to_list(o, field, value, err);
	case OPTION_GROUP:
		break; /* groups are expanded before */
	}
	return 0;
}

static bool is_given(const struct opt *o, const void *field)
{
	switch (o->type) {
	case OPTION_FLAG:
		return *(const bool *)field;
	case OPTION_COUNT:
		return *(const int *)field > 0;
	case OPTION_STRING:
	case OPTION_CHOICE:
		return *(const char *const *)field != NULL;
	case OPTION_NUMBER:
	case OPTION_DURATION:
		return ((const struct opt_u64 *)field)->given;
	case OPTION_INTEGER:
		return ((const struct opt_i64 *)field)->given;
	case OPTION_LIST:
		return ((const struct opt_list *)field)->count > 0;
	case OPTION_GROUP:
		break;
	}
	return false;
}

const struct opt *options_given(const struct option_group *g, const void *values)
{
	for (size_t i = 0; i < g->count; i++)
		if (is_given(&g->rows[i], (const char *)values + g->rows[i].offset))
			return &g->rows[i];
	return NULL;
}

/* The option of that name, if it was given; a table names no others than its own. */
static const struct opt *given(const struct opt *opts, size_t count, struct str name,
                               const void *values)
{
	const struct opt *o = by_name(opts, count, name);

	assert(o);
	return is_given(o, (const char *)values + o->offset) ? o : NULL;
}

int options_agree(const struct opt *opts, size_t count, const void *values, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct opt *o = &opts[i], *other;
		bool there = is_given(o, (const char *)values + o->offset);

		for (struct str rest = str_from(there ? o->excludes : NULL); rest.n;) {
			other = given(opts, count, str_cut(&rest, ' '), values);
			if (other) {
				return error_set(err, FAIL_USAGE,
				                 "--%s and --%s are mutually exclusive", o->name,
				                 other->name);
			}
		}
		if (there && o->needs && !given(opts, count, str_from(o->needs), values)) {
			other = by_name(opts, count, str_from(o->needs));
			return error_set(err, FAIL_USAGE, "--%s needs --%s%s%s", o->name,
			                 other->name, other->arg ? " " : "",
			                 other->arg ? other->arg : "");
		}
	}
	return 0;
}

static int unknown(const struct opt *opts, size_t count, struct str name, struct error *err)
{
	const char *names[128] = {NULL};
	size_t n = 0;

	while (n < count && n < ARRAY_LEN(names)) {
		names[n] = opts[n].name;
		n++;
	}
	const char *near = text_nearest(name, names, n);
	return error_set(err, FAIL_USAGE, "unknown option '--%.*s'%s%s%s", STR_ARG(name),
	                 near ? "; did you mean '--" : "", near ? near : "", near ? "'?" : "");
}

struct parser {
	const struct opt *opts;
	size_t count;
	int argc, at;
	char **argv;
	void *values;
	struct options_how how;
};

static int set_value(struct parser *p, const struct opt *o, const char *value, struct error *err)
{
	if (p->how.note)
		p->how.note(p->how.ctx, o, value);
	return options_set(o, value, p->values, err);
}

static int needs_value(struct parser *p, const struct opt *o, const char **value, struct error *err)
{
	if (p->at + 1 >= p->argc) {
		return error_set(err, FAIL_USAGE, "--%s needs a value: --%s %s", o->name, o->name,
		                 o->arg ? o->arg : "VALUE");
	}
	const char *next = p->argv[++p->at];
	if (!strncmp(next, "--", 2) && by_name(p->opts, p->count, str_from(next + 2))) {
		/* usually an empty shell variable */
		return error_set(err, FAIL_USAGE,
		                 "--%s needs a value, but the option %s follows; write --%s=%s if "
		                 "that is the value",
		                 o->name, next, o->name, next);
	}
	*value = next;
	return 0;
}

static int parse_long(struct parser *p, const char *arg, struct error *err)
{
	const char *equals = strchr(arg, '=');
	struct str name = {arg, equals ? (size_t)(equals - arg) : strlen(arg)};
	const struct opt *o = by_name(p->opts, p->count, name);
	const char *value = equals ? equals + 1 : NULL;

	if (!o && str_starts(name, STR("no-")) && !equals) {
		o = by_name(p->opts, p->count, str_skip(name, 3));
		if (o && o->type == OPTION_FLAG) {
			*(bool *)((char *)p->values + o->offset) = false;
			if (p->how.note)
				p->how.note(p->how.ctx, o, "false");
			return 0;
		}
		o = NULL;
	}
	if (!o)
		return unknown(p->opts, p->count, name, err);
	if (!takes_value(o) && value)
		return error_set(err, FAIL_USAGE, "--%s takes no value", o->name);
	if (takes_value(o) && !value && needs_value(p, o, &value, err))
		return -1;
	return set_value(p, o, value, err);
}

static int parse_short(struct parser *p, const char *letters, struct error *err)
{
	for (; *letters; letters++) {
		const struct opt *o = by_letter(p->opts, p->count, *letters);
		const char *value = NULL;

		if (!o)
			return error_set(err, FAIL_USAGE, "unknown option '-%c'", *letters);
		if (takes_value(o)) {
			if (!letters[1] && needs_value(p, o, &value, err))
				return -1;
			return set_value(p, o, value ? value : letters + 1, err);
		}
		if (set_value(p, o, NULL, err))
			return -1;
	}
	return 0;
}

int options_parse(const struct opt *opts, size_t count, struct options_how how, int argc,
                  char **argv, void *values, struct error *err)
{
	struct parser p = {opts, count, argc, 0, argv, values, how};
	int operands = 0;
	bool only_operands = false;

	for (; p.at < p.argc; p.at++) {
		char *arg = p.argv[p.at];

		if (only_operands || arg[0] != '-' || !arg[1]) {
			only_operands = only_operands || how.stop_at_operand;
			p.argv[operands++] = arg;
		} else if (!strcmp(arg, "--")) {
			only_operands = true;
		} else if (arg[1] == '-' ? parse_long(&p, arg + 2, err)
		           /* as in gdb, two-letter long options also work with one dash: -ex */
		           : strlen(arg) == 3 && by_name(opts, count, str_from(arg + 1))
		                   ? parse_long(&p, arg + 1, err)
		                   : parse_short(&p, arg + 1, err)) {
			return -1;
		}
	}
	return operands;
}

static void help_of(const struct opt *o, struct buf *out)
{
	size_t start = out->n;

	buf_text(out, "  ");
	if (o->letter)
		buf_printf(out, "-%c, ", o->letter);
	else
		buf_text(out, "    ");
	buf_printf(out, "--%s", o->name);
	if (takes_value(o)) {
		/* longer lists are left to the manual */
		bool words =
			o->type == OPTION_CHOICE && strlen(o->choices) < HELP_WIDTH - HELP_COLUMN;

		buf_printf(out, " %s", words ? o->choices : o->arg);
	}
	size_t width = out->n - start;
	if (width >= HELP_COLUMN) {
		buf_char(out, '\n');
		width = 0;
	}
	buf_printf(out, "%*s", (int)(HELP_COLUMN - width), "");
	text_wrap(out, str_from(o->help), HELP_COLUMN, HELP_WIDTH);
}

bool options_help_some(const struct opt *opts, size_t count, struct str subject, struct buf *out)
{
	size_t before = out->n;

	for (size_t i = 0; i < count; i++)
		if (subject.p ? str_eq(option_subject(&opts[i]), subject) : opts[i].common)
			help_of(&opts[i], out);
	return out->n > before;
}

void options_help(const struct opt *opts, size_t count, struct buf *out)
{
	const char *above = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *title = option_title(&opts[i]);

		if (title && (!above || strcmp(title, above) != 0))
			buf_printf(out, "\n%s:\n", title);
		above = title;
		help_of(&opts[i], out);
	}
}
