/* tap.h counts, compares and reports: the checks below run in a child process whose output
   is read. */
#include "tap.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int failing_program(void)
{
	tap_count = tap_failures = 0;
	ok(1 + 1 == 2, "a true %s", "condition");
	ok(1 + 1 == 3, "a false condition");
	is_str("a\nb", NULL, "text against none");
	is_int(-1, 1, "numbers");
	skip("no such thing here");
	return done();
}

/* Runs the program above with stdout and stderr on a pipe; returns its exit code. */
static int run_captured(char *out, size_t size)
{
	int fd[2];

	if (pipe(fd) != 0)
		abort();
	pid_t pid = fork();
	if (pid == 0) {
		dup2(fd[1], STDOUT_FILENO);
		dup2(fd[1], STDERR_FILENO);
		int code = failing_program();
		fflush(stdout);
		_exit(code);
	}
	close(fd[1]);
	size_t n = 0;
	ssize_t got;
	while (n < size - 1 && (got = read(fd[0], out + n, size - 1 - n)) > 0)
		n += (size_t)got;
	out[n] = '\0';
	close(fd[0]);
	int status = 0;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
	static const char *const wanted[] = {
		"ok 1 - a true condition\n",
		"not ok 2 - a false condition\n",
		"test_tap.c:",
		"1 + 1 == 3",
		"got     : a\\x0ab\n",
		"expected: (null)\n",
		"got     : -1\n",
		"ok 5 # skip no such thing here\n",
		"1..5\n",
	};
	char out[4096];

	is_int(run_captured(out, sizeof(out)), 1, "a failed check fails the program");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		ok(strstr(out, wanted[i]) != NULL, "the output has line %zu of the expected", i);
	return done();
}
