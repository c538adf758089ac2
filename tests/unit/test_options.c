/* Option tables: every type, every notation of an option, every error. */
#include "cmd/options/options.h"
#include "tap.h"

#include <stdlib.h>

struct values {
	bool flag, other;
	int count;
	const char *text, *choice;
	struct opt_u64 number, time;
	struct opt_i64 seed;
	struct opt_list list;
};

#define ROW(kind, l, n, a, member, ...)                                                            \
	{.type = OPTION_##kind,                                                                    \
	 .letter = (l),                                                                            \
	 .name = (n),                                                                              \
	 .class = OPT_HARMLESS,                                                                    \
	 .arg = (a),                                                                               \
	 .offset = offsetof(struct values, member),                                                \
	 .help = __VA_ARGS__}

static const struct opt lists[] = {ROW(LIST, 'l', "list", "ITEM", list, "items")};
static const struct option_group list_group = {lists, ARRAY_LEN(lists), NULL};

static const struct opt table[] = {
	ROW(FLAG, 'f', "flag", NULL, flag, "a flag"),
	ROW(FLAG, 0, "other", NULL, other, "another"),
	ROW(COUNT, 'v', "verbose", NULL, count, "more"),
	ROW(STRING, 't', "text", "TEXT", text, "a text", .excludes = "when list"),
	ROW(CHOICE, 0, "when", "WHEN", choice, "a choice", .choices = "auto|always|never"),
	ROW(NUMBER, 'n', "number", "N", number, "a number"),
	{.type = OPTION_GROUP, .group = &list_group},
	ROW(STRING, 0, "per-device-train-batch-size", "N", text, "a long name"),
	ROW(DURATION, 0, "timeout", "DURATION", time, "a time", .needs = "when"),
	ROW(INTEGER, 's', "seed", "N", seed, "a seed"),
};

#define ARGS_MAX 80

static int parse(const char *line, bool stop, struct values *v, char **argv, struct error *err)
{
	static char words[1024];
	int argc = 0;

	memset(v, 0, sizeof(*v));
	snprintf(words, sizeof(words), "%s", line);
	for (char *p = words; *p && argc < ARGS_MAX;) {
		size_t n = strcspn(p, " ");

		argv[argc++] = p;
		p += n;
		if (*p)
			*p++ = '\0';
	}
	size_t count;
	struct opt *opts = options_expand(table, ARRAY_LEN(table), &count);
	int operands = options_parse(opts, count, (struct options_how){.stop_at_operand = stop},
	                             argc, argv, v, err);

	if (operands >= 0 && options_agree(opts, count, v, err))
		operands = -1;
	free(opts);
	return operands;
}

static void test_good(void)
{
	char *argv[ARGS_MAX];
	struct error err = {0};
	struct values v;

	is_int(parse("a -f b --text=x c", false, &v, argv, &err), 3, "options may be anywhere");
	ok(v.flag && !strcmp(v.text, "x") && !strcmp(argv[0], "a") && !strcmp(argv[2], "c"),
	   "and operands keep their order");
	is_int(parse("-fvv -tx -n7 --seed -3", false, &v, argv, &err), 0, "letters can be joined");
	ok(v.flag && v.count == 2 && !strcmp(v.text, "x") && v.number.value == 7 && v.seed.given &&
	           v.seed.value == -3,
	   "and values glued to them");
	is_int(parse("--flag --no-flag", false, &v, argv, &err), 0, "a flag can be negated");
	ok(!v.flag, "the last one wins");
	is_int(parse("--timeout 3s --when never", false, &v, argv, &err), 0, "times and choices");
	ok(v.time.given && v.time.value == 3000 && !strcmp(v.choice, "never"), "are read");
	is_int(parse("-l a --list=b -lc", false, &v, argv, &err), 0, "lists gather");
	ok(v.list.count == 3 && !strcmp(v.list.item[2], "c"), "in order");
	is_int(parse("-- -f - x", false, &v, argv, &err), 3, "-- ends options");
	ok(!v.flag && !strcmp(argv[0], "-f") && !strcmp(argv[1], "-"),
	   "the following arguments are operands");
	is_int(parse("-f - --other", false, &v, argv, &err), 1, "- is an operand");
	ok(v.flag && v.other, "and options continue after it");
	is_int(parse("-v run -f", true, &v, argv, &err), 2, "an operand can end options");
	ok(v.count == 1 && !v.flag && !strcmp(argv[1], "-f"), "for those of a command");
}

static void test_bad(void)
{
	struct {
		const char *line, *message;
	} rows[] = {
		{"--flga", "unknown option '--flga'; did you mean '--flag'?"},
		{"--zzzzzzzz", "unknown option '--zzzzzzzz'"},
		{"-x", "unknown option '-x'"},
		{"--flag=1", "--flag takes no value"},
		{"--text", "--text needs a value: --text TEXT"},
		{"-t", "--text needs a value: --text TEXT"},
		{"--number -1", "--number: expected a whole number from 0 to 2^64-1, got '-1'"},
		{"--number 1x", "--number: expected a whole number from 0 to 2^64-1, got '1x'"},
		{"--number 99999999999999999999",
	         "--number: expected a whole number from 0 to 2^64-1, got '99999999999999999999'"},
		{"--seed -9223372036854775809",
	         "--seed: expected a whole number from -2^63 to 2^63-1, got '-9223372036854775809'"},
		{"--timeout 5",
	         "--timeout: expected a duration with a unit (500ms, 3s, 2m), more than 0 and at most "
	         "1000h, got '5'"},
		{"--seed abc", "--seed: expected a whole number from -2^63 to 2^63-1, got 'abc'"},
		{"--text x -l y", "--text and --list are mutually exclusive"},
		{"--timeout 3s", "--timeout needs --when WHEN"},
		{"--when often", "--when: expected one of auto|always|never, got 'often'"},
	};
	char *argv[ARGS_MAX];
	struct values v;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = {0};

		is_int(parse(rows[i].line, false, &v, argv, &err), -1, "'%s' is refused",
		       rows[i].line);
		ok(err.kind == FAIL_USAGE, "as a usage error");
		is_str(err.text, rows[i].message, "with the reason");
	}
}

static void test_too_many(void)
{
	char line[1024] = "";
	char *argv[ARGS_MAX];
	struct error err = {0};
	struct values v;
	size_t n = 0;

	for (int i = 0; i <= OPT_LIST_MAX; i++)
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s-lx", i ? " " : "");
	is_int(parse(line, false, &v, argv, &err), -1, "a list has an end");
	is_str(err.text, "--list was given more than 64 times", "and reports it");
}

int main(void)
{
	test_good();
	test_bad();
	test_too_many();
	return done();
}
