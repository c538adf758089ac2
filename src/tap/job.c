/* Starts and follows a command: see job.h. */
#include "tap/job.h"

#include "base/wake.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

static struct wake arrived = {-1, -1};
static atomic_bool summary, child;

static void on_signal(int number)
{
	atomic_store(number == SIGUSR1 ? &summary : &child, true);
	wake_raise(&arrived);
}

int tap_signals_open(int *fd, struct error *err)
{
	struct sigaction caught = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_NOCLDSTOP};

	if (wake_open(&arrived))
		return error_errno(err, "cannot wait for signals");
	*fd = arrived.fd;
	sigemptyset(&caught.sa_mask);
	sigaction(SIGUSR1, &caught, NULL);
	sigaction(SIGCHLD, &caught, NULL);
	return 0;
}

enum tap_signal tap_signals_next(void)
{
	wake_clear(&arrived);
	return atomic_exchange(&summary, false) ? TAP_SIGNAL_SUMMARY
	       : atomic_exchange(&child, false) ? TAP_SIGNAL_CHILD
	                                        : TAP_SIGNAL_NONE;
}

int tap_job_start(char *const *command, const char *variable, const char *value,
                  const int streams[2], pid_t *pid, struct error *err)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, standard;

	sigemptyset(&none);
	sigemptyset(&standard);
	sigaddset(&standard, SIGPIPE); /* we ignore it */
	sigaddset(&standard, SIGXFSZ);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &standard);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&files);
	for (int fd = 0; fd < 2 && streams; fd++)
		posix_spawn_file_actions_adddup2(&files, streams[fd], fd);
	int rc = variable && setenv(variable, value, 1)
	                 ? errno
	                 : posix_spawnp(pid, command[0], &files, &attributes, command, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	if (!rc)
		return 0;
	return rc == ENOENT ? error_set(err, FAIL_USAGE, "'%s' was not found", command[0])
	                    : error_set(err, FAIL_USAGE, "cannot start '%s': %s", command[0],
	                                strerror(rc));
}

bool tap_job_ended(pid_t pid, int *code)
{
	int status;

	if (waitpid(pid, &status, WNOHANG) != pid)
		return false;
	*code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}
