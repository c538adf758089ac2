/* Task files: every key, the messages and positions for invalid lines, limits. */
#include "rollout/tasks.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

static const struct {
	const char *text, *message;
} bad[] = {
	{"", "t: no tasks; a task is a line such as {\"id\":\"NAME\"}"},
	{"\n \n\t\r\n", "t: no tasks; a task is a line such as {\"id\":\"NAME\"}"},
	{"{\"id\":\"a\"}\n{\"id\":\n", "t:2:7: unexpected end of input"},
	{"{\"id\":\"a\"}{\"id\":\"b\"}", "t:1:11: unexpected text after the value"},
	{"\n[1]", "t:2: must be an object, not an array"},
	{"\"a\"", "t:1: must be an object, not a string"},
	{"{}", "t:1: \"id\" is missing"},
	{"{\"seed\":1}", "t:1: \"id\" is missing"},
	{"{\"id\":null}", "t:1: \"id\" is missing"},
	{"{\"id\":\"\"}", "t:1: \"id\" must be a non-empty string, not \"\""},
	{"{\"id\":true}", "t:1: \"id\" must be a string or an integer, not true"},
	{"{\"id\":1.5}", "t:1: \"id\" must be a string or an integer, not 1.5"},
	{"{\"id\":\"a\\u0000\"}",
         "t:1: \"id\" must be a string without a NUL or lone surrogate, not \"a\\u0000\""},
	{"{\"id\":\"\\ud800\"}",
         "t:1: \"id\" must be a string without a NUL or lone surrogate, not \"\\ud800\""},
	{"{\"id\":\"a\",\"id\":\"b\"}", "t:1: duplicate key \"id\""},
	{"{\"id\":\"a\",\"sed\":1}", "t:1: unknown key \"sed\"; did you mean 'seed'?"},
	{"{\"id\":\"a\",\"seed\":\"1\"}", "t:1: \"seed\" must be a 64-bit integer, not \"1\""},
	{"{\"id\":\"a\",\"seed\":9223372036854775808}",
         "t:1: \"seed\" must be a 64-bit integer, not 9223372036854775808"},
	{"{\"id\":\"a\",\"max_turns\":-1}",
         "t:1: \"max_turns\" must be a non-negative integer, not -1"},
	{"{\"id\":\"a\",\"vars\":[]}", "t:1: \"vars\" must be an object, not an array"},
	{"{\"id\":\"a\",\"actions\":[]}",
         "t:1: \"actions\" must be a string or an array of strings, not an array"},
	{"{\"id\":\"a\",\"actions\":[1]}",
         "t:1: \"actions\" must be an array of strings, arrays and objects, not 1"},
	{"{\"id\":\"a\",\"reset\":[1]}", "t:1: \"reset\" must be an object, not an array"},
	{"{\"id\":\"a\",\"actions\":\"A,,B\"}", "t:1: an action of \"actions\" is empty"},
	{"{\"id\":\"a\",\"actions\":\"A,\"}", "t:1: an action of \"actions\" is empty"},
	{"{\"id\":\"a\",\"tool\":1}", "t:1: \"tool\" must be a string, not 1"},
	{"{\"id\":\"a\",\"policy\":{}}", "t:1: \"policy\" must be a string, not an object"},
	{"{\"id\":\"a\",\"state\":\"\"}", "t:1: \"state\" must be a non-empty string, not \"\""},
	{"{\"id\":\"a\"}\n{\"id\":\"b\"}\n\n{\"id\":\"a\"}\n",
         "t:4: duplicate task \"a\", first in line 1 (\1group_size\2 N repeats a task)"},
	{"{\"id\":\"a b\"}\n{\"id\":\"a\\tb\"}",
         "t:2: duplicate task \"a_b\", first in line 1 (\1group_size\2 N repeats a task)"},
	{"{\"id\":\"7\"}\n{\"id\":7}",
         "t:2: duplicate task \"7\", first in line 1 (\1group_size\2 N repeats a task)"},
};

static void test_bad(void)
{
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct tasks t;
		struct error err = {0};

		ok(tasks_parse(str_from(bad[i].text), "t", &t, &err) == -1, "%s", bad[i].message);
		is_int(err.kind, FAIL_INPUT, "an error of the file");
		is_str(err.text, bad[i].message, "in these words");
		tasks_release(&t);
	}
}

static void test_keys(void)
{
	struct tasks t;
	struct error err = {0};
	const char *text =
		"\xef\xbb\xbf{\"id\":\"a b\",\"seed\":-9223372036854775808,\"vars\":{ "
		"\"n\":1e2},\"actions\":[\"UP\",\"D\\u004fWN\",\"go on\"],\"tool\":\"move\","
		"\"policy\":\"p.json\",\"max_turns\":0,\"state\":\"none\"}\r\n"
		"\n"
		" {\"actions\":\"A,B\",\"id\":12,\"seed\":null} \n"
		"{\"id\":\"\xc3\xa9\"}";

	ok(tasks_parse(str_from(text), "t", &t, &err) == 0, "a valid file");
	is_int(t.count, 3, "has its tasks");
	is_str(t.items[0].id, "a_b", "an id without blanks");
	ok(t.items[0].has_seed && t.items[0].seed == INT64_MIN, "a seed");
	is_str(t.items[0].vars.p, "{\"n\":1e2}", "variables as spelled, without blanks");
	is_str(t.items[0].actions, "UP,DOWN,\"go on\"", "actions of an array");
	is_str(t.items[0].tool, "move", "a tool");
	is_str(t.items[0].policy, "p.json", "a policy");
	is_str(t.items[0].state, "none", "a state source");
	ok(t.items[0].has_max_turns && t.items[0].max_turns == 0, "no turns");
	is_str(t.items[1].id, "12", "a number as id");
	is_int(t.items[1].line, 3, "blank lines count");
	ok(!t.items[1].has_seed, "null is absent");
	is_str(t.items[1].actions, "A,B", "actions of a string");
	ok(!t.items[2].vars.p && !t.items[2].actions && !t.items[2].tool && !t.items[2].policy &&
	           !t.items[2].has_max_turns,
	   "and no other members");
	is_str(t.items[2].id, "\xc3\xa9", "other letters are unchanged");
	tasks_release(&t);
}

static void test_caps(void)
{
	struct tasks t;
	struct error err = {0};
	struct buf text = BUF(4 * TASK_LINE_MAX);

	buf_text(&text, "{\"id\":\"a\"}\n{\"id\":\"");
	for (int i = 0; i <= ROLLOUT_TASK_MAX; i++)
		buf_char(&text, 'x');
	buf_text(&text, "\"}");
	ok(tasks_parse(buf_view(&text), "t", &t, &err) == -1, "an id too long");
	is_str(err.text, "t:2: \"id\" has 128 bytes, the maximum is 127", "is refused");
	tasks_release(&t);

	buf_clear(&text);
	buf_text(&text, "{\"id\":\"a\",\"vars\":{\"v\":\"");
	while (text.n <= TASK_LINE_MAX)
		buf_char(&text, 'x');
	buf_text(&text, "\"}}");
	ok(tasks_parse(buf_view(&text), "t", &t, &err) == -1, "a line too long");
	is_str(err.text, "t:1: the line is over 1 MiB", "is refused");
	tasks_release(&t);
	buf_release(&text);
}

static void test_files(void)
{
	struct tasks t;
	struct error err = {0};
	char path[] = "/tmp/rolldbg-tasks-XXXXXX";
	int fd = mkstemp(path);

	ok(fd >= 0 && write(fd, "{\"id\":1}\n{}\n", 12) == 12, "a file with a bad line");
	close(fd);
	ok(tasks_read(path, &t, &err) == -1, "is refused");
	ok(!strncmp(err.text, path, strlen(path)) && strstr(err.text, ":2: \"id\" is "),
	   "by file and line");
	tasks_release(&t);
	unlink(path);
	ok(tasks_read(path, &t, &err) == -1, "a file that is not there");
	is_int(err.kind, FAIL_INPUT, "is not a usable file");
	ok(strstr(err.text, "No such file") != NULL, "and why");
	tasks_release(&t);
	ok(tasks_read("/tmp", &t, &err) == -1 && err.kind == FAIL_INPUT, "nor a directory");
	tasks_release(&t);
}

int main(void)
{
	test_bad();
	test_keys();
	test_caps();
	test_files();
	return done();
}
