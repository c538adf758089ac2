/* The user's pager: see pager.h. */
#include "cmd/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* $1 is the pager. LESS and LV are set as by git: quit if everything fits on the screen, show
   colors, keep the text on the screen. The shell must survive an interrupt, because less does. */
static const char script[] = "trap : INT QUIT\n"
			     "LESS=${LESS-FRX} LV=${LV--c}\n"
			     "export LESS LV\n"
			     "eval \"$1\"\n"
			     "case $? in 126 | 127) exec cat ;; esac\n";

static const char *pager_of(const struct context *c)
{
	const char *term = c->variable("TERM"), *pager = c->variable("ROLLDBG_PAGER");

	if (!c->style.terminal || c->no_pager || !term || !strcmp(term, "dumb"))
		return NULL;
	if (!pager)
		pager = c->variable("PAGER");
	if (!pager)
		return "command -v less >/dev/null || exec cat; less";
	return *pager && strcmp(pager, "cat") != 0 ? pager : NULL;
}

static void set_handlers(void (*handler)(int))
{
	static const int signals[] = {SIGINT, SIGQUIT, SIGPIPE};
	struct sigaction action = {.sa_handler = handler};

	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		sigaction(signals[i], &action, NULL);
}

static pid_t spawn(const char *pager, int input)
{
	pid_t pid = fork();

	if (pid == 0) {
		dup2(input, STDIN_FILENO);
		set_handlers(SIG_DFL);
		execl("/bin/sh", "sh", "-c", script, "sh", pager, (char *)NULL);
		_exit(127);
	}
	return pid;
}

int pager_start(struct pager *p, const struct context *c, struct error *err)
{
	const char *pager = p->asked ? NULL : pager_of(c);
	int ends[2];

	p->asked = true;
	if (!pager)
		return 0;
	if (pipe(ends))
		return error_errno(err, "cannot start the pager");
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	p->pid = spawn(pager, ends[0]);
	close(ends[0]);
	if (p->pid < 0) {
		error_errno(err, "cannot start the pager");
		close(ends[1]);
		p->pid = 0;
		return -1;
	}
	set_handlers(SIG_IGN);
	p->terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	dup2(ends[1], STDOUT_FILENO);
	close(ends[1]);
	return 0;
}

void pager_finish(struct pager *p)
{
	if (!p->pid)
		return;
	dup2(p->terminal, STDOUT_FILENO); /* closes the pager's input */
	close(p->terminal);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR) {
	}
	p->pid = 0;
}
