/* Child processes: lines in both directions, malformed lines, and every kind of exit. */
#include "base/clock.h"
#include "base/mem.h"
#include "net/child.h"
#include "tap.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define LONG_MS 60000 /* reached only if something is broken */
#define CAP     ((size_t)1 << 20)

static struct io *io;
static struct error err;

static struct child *start(const char *command)
{
	struct child_conf conf = {.command = command, .max_line = CAP};
	struct child *c = NULL;

	if (child_start(io, &conf, &c, &err)) {
		fprintf(stderr, "# %s\n", err.text);
		exit(1);
	}
	return c;
}

static void next_is(struct child *c, const char *wanted)
{
	struct str line;
	int rc = child_receive(c, &line, LONG_MS, &err);

	ok(rc == 1 && str_is(line, wanted), "a line arrives: %s", wanted);
}

static void ends_with(struct child *c, const char *why)
{
	struct str line;

	is_int(child_receive(c, &line, LONG_MS, &err), 0, "no more lines");
	is_str(child_why(c), why, "it %s", why);
}

/* An unreaped zombie counts as dead. */
static bool is_alive(const char *pid)
{
	char path[64], text[256] = "";

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	FILE *f = fopen(path, "r");
	if (!f)
		return false;
	size_t n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	const char *name = n ? strrchr(text, ')') : NULL;
	return name && name[2] != 'Z' && name[2] != 'X';
}

/* Signals are delivered asynchronously. */
static bool ends_soon(const char *pid)
{
	for (int i = 0; i < LONG_MS && is_alive(pid); i++)
		(void)!io_wait(io, NULL, 1, &err);
	return !is_alive(pid);
}

static void test_lines(void)
{
	struct child *c = start("printf 'a\\r\\n\\nb\\nlast'");

	next_is(c, "a");
	next_is(c, "");
	next_is(c, "b");
	next_is(c, "last");
	ends_with(c, "exited with status 0");
	ok(child_send(c, STR("nobody reads this")), "lines sent to an ended child are dropped");
	child_free(c);
}

static void test_echo(void)
{
	struct child *c = start("cat");
	struct str line;
	struct buf big = BUF(CAP);

	ok(child_send(c, STR("one")) && child_send(c, STR("two")), "two lines at once");
	next_is(c, "one");
	next_is(c, "two");
	is_int(child_receive(c, &line, 0, &err), -1, "and then the end");
	is_int(err.kind, FAIL_TIMEOUT, "in time");
	while (big.n < CAP - 10)
		buf_text(&big, "0123456789");
	ok(child_send(c, buf_view(&big)), "more than a pipe holds");
	next_is(c, buf_cstr(&big));
	child_stop(c);
	is_str(child_why(c), "exited with status 0", "a closed stdin ends it");
	child_free(c);
	buf_release(&big);
}

static void test_ends(void)
{
	struct child *c = start("echo oops >&2; echo >&2; exit 7");

	ends_with(c, "exited with status 7");
	ok(str_is(child_last_stderr_line(c), "oops"), "its last line");
	ok(str_is(child_stderr(c), "oops\n\n"), "and all of it");
	child_clear_stderr(c);
	ok(child_stderr(c).n == 0 && str_is(child_last_stderr_line(c), "oops"), "forgotten");
	child_free(c);
	c = start(
		"printf 'a.js:2\\n\\nTypeError [E1]: no KEY\\n    at run (a.js:2:7)\\n\\nNode.js v20\\n' >&2; exit 1");
	ends_with(c, "exited with status 1");
	ok(str_is(child_last_stderr_line(c), "TypeError [E1]: no KEY"), "the error before a stack");
	child_free(c);
	c = start("printf 'panic: nil\\n\\ngoroutine 1 [running]:\\nmain.main()\\n' >&2; exit 2");
	ends_with(c, "exited with status 2");
	ok(str_is(child_last_stderr_line(c), "panic: nil"), "of Go, too");
	child_free(c);
	c = start("printf 'KeyError: a\\nValueError: b\\n' >&2; exit 1");
	ends_with(c, "exited with status 1");
	ok(str_is(child_last_stderr_line(c), "ValueError: b"), "the last of several");
	child_free(c);
	c = start("kill -KILL $$");
	ends_with(c, "was killed by signal 9 (Killed)");
	child_free(c);
	c = start("no-such-command-here 1 2");
	ends_with(c, "exited with status 127");
	ok(child_not_found(c), "which means: command not found");
	child_free(c);
	c = start("exec >&- ; cat >/dev/null");
	ends_with(c, "closed its output");
	child_free(c);
}

static void test_unfinished_words(void)
{
	struct child *c = start("printf 'one\ntw' >&2; echo; read -r go; echo o >&2; echo");

	next_is(c, "");
	while (child_stderr(c).n < 4)
		(void)!io_wait(io, NULL, 1, &err);
	ok(str_is(child_stderr(c), "one\n"), "an incomplete line is kept");
	child_clear_stderr(c);
	ok(child_send(c, STR("go")), "the child continues");
	next_is(c, "");
	ends_with(c, "exited with status 0");
	ok(str_is(child_stderr(c), "two\n"), "and no part of the line is lost");
	child_free(c);
}

static void test_too_long(void)
{
	struct child *c = start("head -c 3000000 /dev/zero; echo; echo next");
	struct str line;

	is_int(child_receive(c, &line, LONG_MS, &err), -1, "a line over the cap");
	is_int(err.kind, FAIL_PROTOCOL, "is a breach");
	is_str(err.text, "the server wrote a line of more than 1 MiB", "and reported");
	next_is(c, "next");
	ends_with(c, "exited with status 0");
	child_free(c);
}

static void test_floods(void)
{
	struct child *c = start("yes words >&2");
	struct str line;

	for (int i = 0; i < 50; i++)
		(void)!child_receive(c, &line, 1, &err);
	while (!child_stderr_lost(c))
		(void)!child_receive(c, &line, 1, &err);
	struct str words = child_stderr(c);
	ok(words.n > (64 << 10) - 12 && words.n <= 64 << 10,
	   "of stderr without end the newest is kept");
	ok(str_starts(words, STR("words\n")) && words.p[words.n - 1] == '\n', "in complete lines");
	child_free(c);
	c = start("yes line");
	for (int i = 0; i < 200; i++)
		(void)!io_wait(io, NULL, 1, &err);
	next_is(c, "line");
	child_free(c);
	c = start("sleep 1000");
	struct buf much = BUF(BUF_MAX_MESSAGE);
	bool room = true;
	while (much.n < CAP)
		buf_text(&much, "to one who does not read ");
	for (int i = 0; i < 100 && room; i++)
		room = child_send(c, buf_view(&much));
	ok(!room, "output for a child that does not read is limited");
	buf_release(&much);
	child_free(c);
}

/* A child that ignores signals, and the process it started. */
static void test_ignored_signals(void)
{
	static const char *const commands[] = {
		"trap '' TERM; echo $$; while :; do sleep 1000; done",
		"sleep 1000 & echo $!; wait",
		"sh -c 'echo $$; exec sleep 1000' & wait; sleep 1000",
	};
	struct str line = STR("");

	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		struct child *c = start(commands[i]);

		is_int(child_receive(c, &line, LONG_MS, &err), 1, "it runs");
		char *pid = mem_text(line);
		ok(is_alive(pid), "%s: is running", pid);
		if (i == 0)
			child_stop(c);
		child_free(c);
		ok(ends_soon(pid), "%s does not outlive us: %s", pid, commands[i]);
		free(pid);
	}
}

/* The child has its three descriptors, default signal handlers and a new process group. */
static void test_surroundings(void)
{
	struct child *c = start("ls /proc/self/fd | tr '\\n' ' '; echo; "
	                        "grep SigIgn /proc/$$/status; "
	                        "[ $(ps -o pgid= -p $$) = $$ ] && echo own group");
	struct str line;

	next_is(c, "0 1 2 3 "); /* 3: the descriptor of the directory itself */
	is_int(child_receive(c, &line, LONG_MS, &err), 1, "signals");
	ok(str_ends(line, STR("0000000")),
	   "signals ignored by the parent are not ignored by the child");
	next_is(c, "own group");
	child_free(c);
}

int main(void)
{
	struct io_conf conf = {.clock = clock_real(), .stop_fd = -1};

	signal(SIGPIPE, SIG_IGN);
	if (io_global_init(&err) || io_new(&conf, &io, &err))
		return 1;
	test_lines();
	test_echo();
	test_ends();
	test_unfinished_words();
	test_too_long();
	test_floods();
	test_ignored_signals();
	test_surroundings();
	io_free(io);
	io_global_cleanup();
	return done();
}
