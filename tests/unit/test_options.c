/* Option tables: every type, every way to write an option, every mistake. */
#include "base/options.h"
#include "tap.h"

struct values {
	bool flag, other;
	int count;
	const char *text, *choice;
	struct opt_u64 number, time;
	struct opt_i64 seed;
	struct opt_list list;
};

static const struct opt table[] = {
	{'f', "flag", NULL, OPT_FLAG, OPT(struct values, flag), "a flag", NULL},
	{0, "other", NULL, OPT_FLAG, OPT(struct values, other), "another", NULL},
	{'v', "verbose", NULL, OPT_COUNT, OPT(struct values, count), "more", NULL},
	{'t', "text", "TEXT", OPT_STR, OPT(struct values, text), "a text", NULL},
	{0, "when", "WHEN", OPT_CHOICE, OPT(struct values, choice), "a choice",
         "auto|always|never"},
	{'n', "number", "N", OPT_U64, OPT(struct values, number), "a number", NULL},
	{0, "timeout", "DURATION", OPT_MS, OPT(struct values, time), "a time", NULL},
	{'s', "seed", "N", OPT_I64, OPT(struct values, seed), "a seed", NULL},
	{'l', "list", "ITEM", OPT_LIST, OPT(struct values, list), "items", NULL},
};

#define ARGS_MAX 80

static int parse(const char *line, bool stop, struct values *v, char **argv,
                 struct error *err)
{
	static char words[1024];
	int argc = 0;

	memset(v, 0, sizeof(*v));
	snprintf(words, sizeof(words), "%s", line);
	for (char *p = words; *p && argc < ARGS_MAX;) {
		size_t n = strcspn(p, " ");

		argv[argc++] = p;
		p += n;
		if (*p) {
			*p++ = '\0';
		}
	}
	return options_parse(table, ARRAY_LEN(table), stop, argc, argv, v, err);
}

static void test_good(void)
{
	char *argv[ARGS_MAX];
	struct error err = {0};
	struct values v;

	is_int(parse("a -f b --text=x c", false, &v, argv, &err), 3,
	       "options stand anywhere");
	ok(v.flag && !strcmp(v.text, "x") && !strcmp(argv[0], "a") &&
	           !strcmp(argv[2], "c"),
	   "and operands keep their order");
	is_int(parse("-fvv -tx -n7 --seed -3", false, &v, argv, &err), 0,
	       "letters can be joined");
	ok(v.flag && v.count == 2 && !strcmp(v.text, "x") && v.number.value == 7 &&
	           v.seed.given && v.seed.value == -3,
	   "and values glued to them");
	is_int(parse("--flag --no-flag", false, &v, argv, &err), 0,
	       "a flag can be taken back");
	ok(!v.flag, "the last one wins");
	is_int(parse("--timeout 3s --when never", false, &v, argv, &err), 0,
	       "times and choices");
	ok(v.time.given && v.time.value == 3000 && !strcmp(v.choice, "never"),
	   "are read");
	is_int(parse("-l a --list=b -lc", false, &v, argv, &err), 0, "lists gather");
	ok(v.list.count == 3 && !strcmp(v.list.item[2], "c"), "in order");
	is_int(parse("-- -f - x", false, &v, argv, &err), 3, "-- ends options");
	ok(!v.flag && !strcmp(argv[0], "-f") && !strcmp(argv[1], "-"),
	   "what follows is operands");
	is_int(parse("-f - --other", false, &v, argv, &err), 1, "- is an operand");
	ok(v.flag && v.other, "and options go on behind it");
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
		{"--no-text", "unknown option '--no-text'; did you mean '--text'?"},
		{"--text", "--text wants a value: --text TEXT"},
		{"-t", "--text wants a value: --text TEXT"},
		{"--number -1", "--number wants a whole number of at least 0, not '-1'"},
		{"--number 1x", "--number wants a whole number of at least 0, not '1x'"},
		{"--number 99999999999999999999", "--number wants a whole number of at "
	                                          "least 0, not '99999999999999999999'"},
		{"--timeout 5",
	         "--timeout wants a duration with its unit (500ms, 3s, 2m), not '5'"},
		{"--seed abc", "--seed wants a whole number, not 'abc'"},
		{"--when often", "--when wants one of auto|always|never, not 'often'"},
	};
	char *argv[ARGS_MAX];
	struct values v;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct error err = {0};

		is_int(parse(rows[i].line, false, &v, argv, &err), -1, "'%s' is refused",
		       rows[i].line);
		ok(err.kind == FAIL_USAGE, "as a usage error");
		is_str(err.text, rows[i].message, "which says why");
	}
}

static void test_too_many(void)
{
	char line[1024] = "";
	char *argv[ARGS_MAX];
	struct error err = {0};
	struct values v;
	size_t n = 0;

	for (int i = 0; i <= OPT_LIST_MAX; i++) {
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s-lx", i ? " " : "");
	}
	is_int(parse(line, false, &v, argv, &err), -1, "a list has an end");
	is_str(err.text, "--list was given more than 64 times", "and says so");
}

int main(void)
{
	test_good();
	test_bad();
	test_too_many();
	return done();
}
