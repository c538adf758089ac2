/* Starts and follows a command: see job.h. */
#include "tap/job.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void our_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGUSR1);
	sigaddset(set, SIGCHLD);
}

int tap_signals_open(int *fd, struct error *err)
{
	sigset_t set;

	our_signals(&set);
	int rc = pthread_sigmask(SIG_BLOCK, &set, NULL);
	*fd = rc ? -1 : signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return *fd < 0 ? error_errno(err, "cannot wait for signals") : 0;
}

enum tap_signal tap_signals_next(int fd)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return TAP_SIGNAL_NONE;
	return info.ssi_signo == SIGUSR1 ? TAP_SIGNAL_SUMMARY : TAP_SIGNAL_CHILD;
}

int tap_job_start(char *const *command, const char *variable, const char *value, pid_t *pid,
                  struct error *err)
{
	posix_spawnattr_t attributes;
	sigset_t none, standard;

	sigemptyset(&none);
	our_signals(&standard);
	sigaddset(&standard, SIGPIPE); /* we ignore it */
	sigaddset(&standard, SIGXFSZ);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &standard);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int rc = setenv(variable, value, 1)
	                 ? errno
	                 : posix_spawnp(pid, command[0], NULL, &attributes, command, environ);
	posix_spawnattr_destroy(&attributes);
	return rc ? error_set(err, FAIL_USAGE, "cannot start %s: %s", command[0], strerror(rc)) : 0;
}

bool tap_job_ended(pid_t pid, int *code)
{
	int status;

	if (waitpid(pid, &status, WNOHANG) != pid)
		return false;
	*code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}
