/* Parquet through the user's python3: see parquet.h. */
#include "convert/parquet.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/wake.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Exit codes of the script; the last line on stderr is the reason. */
#define EXIT_INPUT      3
#define EXIT_NO_PYARROW 4
#define EXIT_SYSTEM     5

#define STDERR_MAX ((size_t)64 << 10)

bool parquet_is(struct str begin)
{
	return str_starts(begin, STR("PAR1")) || str_starts(begin, STR("SQLite format 3"));
}

struct job {
	const char *columns; /* "": read */
	int in, out;
};

/* Returns an errno. */
static int start(const struct job *job, int errors, pid_t *pid)
{
	/* relative entries of PATH are resolved in / */
	const char *line[] = {"sh", "-c",           "cd / && exec python3 -I -c \"$1\" \"$2\"",
	                      "sh", parquet_script, job->columns};
	char *words[ARRAY_LEN(line) + 1] = {0};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none, usual;

	for (size_t i = 0; i < ARRAY_LEN(line); i++)
		words[i] = mem_text(str_from(line[i]));
	sigemptyset(&none);
	sigfillset(&usual);
	posix_spawnattr_init(&how);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &usual);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, job->in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, job->out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
	descriptors_keep();
	int rc = posix_spawn(pid, "/bin/sh", &files, &how, words, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	for (size_t i = 0; words[i]; i++)
		free(words[i]);
	return rc;
}

/* Signals that reach us and not the helper end it. */
static int wait_for(pid_t pid, bool *interrupted)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
		*interrupted = true;
		kill(pid, SIGTERM);
	}
	return status;
}

/* The last line of a file that is not empty. */
static void last_line(FILE *from, struct buf *out)
{
	char *text = mem_array(STDERR_MAX, 1);
	ssize_t n = pread(fileno(from), text, STDERR_MAX, 0);
	struct str rest = text_trim((struct str){text, n > 0 ? (size_t)n : 0});
	size_t at = rest.n;

	while (at && rest.p[at - 1] != '\n')
		at--;
	text_escape(out, str_skip(rest, at));
	free(text);
}

static int failed_with(int status, FILE *errors, struct error *err)
{
	AUTO_BUF why = BUF(BUF_MAX_SMALL);
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SYSTEM;

	last_line(errors, &why);
	if (code == EXIT_NO_PYARROW) {
		error_set(err, FAIL_SYSTEM,
		          "Parquet needs pyarrow in the python3 of PATH; to install it: python3 -m "
		          "pip install pyarrow (%s)",
		          buf_cstr(&why));
	} else {
		error_set(err, code == EXIT_INPUT ? FAIL_INPUT : FAIL_SYSTEM, "%s",
		          why.n ? buf_cstr(&why) : "python3 failed without a message");
	}
	return -1;
}

static int run(const struct job *job, struct error *err)
{
	FILE *errors = tmpfile();
	bool interrupted = false;
	pid_t pid = 0;

	if (!errors)
		return error_errno(err, "cannot create a temporary file");
	int rc = start(job, fileno(errors), &pid);
	int status = rc ? 0 : wait_for(pid, &interrupted), failed = 0;
	if (rc || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
		failed = error_set(err, FAIL_SYSTEM,
		                   "Parquet and SQLite are read by python3 with pyarrow, and there "
		                   "is no python3 in PATH; to install both on Debian: apt install "
		                   "python3-venv; python3 -m venv V; V/bin/pip install pyarrow; "
		                   "PATH=$PWD/V/bin:$PATH");
	} else if (interrupted) {
		failed = error_set(err, FAIL_INTERRUPTED, "interrupted");
	} else if (status) {
		failed = failed_with(status, errors, err);
	}
	fclose(errors);
	return failed;
}

int parquet_unpack(int fd, FILE *out, struct error *err)
{
	const struct job job = {"", fd, fileno(out)};

	if (lseek(fd, 0, SEEK_SET) != 0)
		return error_errno(err, "cannot read");
	return run(&job, err);
}

int parquet_write(int rows, const char *columns, int out, struct error *err)
{
	const struct job job = {columns, rows, out};

	return run(&job, err);
}
