/* A child process behind three pipes: see child.h. */
#include "net/child.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/wake.h"
#include "net/io_internal.h"
#include "net/line_splitter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE     ((size_t)64 << 10)
#define WORDS_MAX ((size_t)64 << 10)
#define LAST_MAX  ((size_t)240)
#define OUT_MAX   (BUF_MAX_MESSAGE + PIECE)
#define GRACE_MS  2000 /* time to exit after stdin is closed */
#define TERM_MS   1000 /* time to exit after SIGTERM */
#define EXIT_MS   500  /* from the end of its output to its exit */
#define STEP_MS   5

struct child {
	struct io *io;
	pid_t pid;         /* 0: reaped */
	pid_t guard;       /* 0: none */
	int lifeline;      /* our end of the pipe that the guard reads */
	int in, out, err;  /* its stdin, stdout, stderr; -1: closed */
	struct buf to;     /* queued for its stdin */
	size_t sent;       /* bytes of `to` already written */
	struct lines from; /* stdout */
	bool full;         /* the buffer is full: stdout is not read until lines are taken */
	struct buf errors; /* the last part of stderr */
	struct buf line;   /* the unfinished last line of stderr, truncated */
	struct buf last;   /* the complete line before it, or the last that names an error */
	bool names_error;
	uint64_t words_lost;
	char why[96];
	bool not_found;
};

/* ---- starting ---- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int open_pipes(int pipes[3][2])
{
	for (int i = 0; i < 3; i++)
		pipes[i][0] = pipes[i][1] = -1;
	for (int i = 0; i < 3; i++)
		if (pipe_open(pipes[i]))
			return -1;
	return 0;
}

/* Starts a shell with these descriptors as 0, 1 and 2 (-1: closed) in this process group (0: a
   new one). Returns an errno. */
static int spawn(const struct child_conf *conf, const int fds[3], pid_t group, pid_t *pid)
{
	char *const no_variables[] = {NULL};
	char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, mem_text(str_from(conf->command)), NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none, usual;
	int rc;

	sigemptyset(&none);
	sigfillset(&usual);
	posix_spawnattr_init(&how);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
	                                       POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(&how, group);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &usual);
	posix_spawn_file_actions_init(&files);
	for (int fd = 0; fd < 3; fd++)
		if (fds[fd] >= 0)
			posix_spawn_file_actions_adddup2(&files, fds[fd], fd);
		else
			posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	descriptors_keep();
	rc = posix_spawn(pid, "/bin/sh", &files, &how, argv,
	                 conf->variables ? conf->variables : no_variables);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	free(argv[2]);
	return rc;
}

/* Starts a guard: a process in the child's group that waits until we exit and then kills the
   group. A child that hangs would otherwise survive if we are killed. */
static void start_guard(struct child *c)
{
	int pipe[2];

	if (pipe_open(pipe))
		return;
	int fds[] = {pipe[0], -1, -1};
	struct child_conf guard = {.command = "read -r end; kill -KILL 0"};
	if (spawn(&guard, fds, c->pid, &c->guard))
		c->guard = 0; /* the child has already exited */
	close_fd(&pipe[0]);
	c->lifeline = pipe[1];
}

static int on_ready(void *arg, int fd, short ready, struct error *err);

static void watch(struct child *c, int fd, short want)
{
	if (fd >= 0)
		io_watch(c->io, fd, want, on_ready, c);
}

static void unwatch(struct child *c, int *fd)
{
	if (*fd >= 0)
		io_watch(c->io, *fd, 0, on_ready, c);
	close_fd(fd);
}

int child_start(struct io *io, const struct child_conf *conf, struct child **out, struct error *err)
{
	int pipes[3][2];
	pid_t pid = 0;

	*out = NULL;
	int rc = open_pipes(pipes) < 0 ? errno : 0;
	if (!rc) {
		int fds[] = {pipes[0][0], pipes[1][1], pipes[2][1]};

		rc = spawn(conf, fds, 0, &pid);
	}
	close_fd(&pipes[0][0]);
	close_fd(&pipes[1][1]);
	close_fd(&pipes[2][1]);
	if (rc) {
		close_fd(&pipes[0][1]);
		close_fd(&pipes[1][0]);
		close_fd(&pipes[2][0]);
		errno = rc;
		return error_errno(err, "cannot start '%s'", conf->command);
	}
	struct child *c = mem_new(sizeof(*c));
	*c = (struct child){.io = io,
	                    .pid = pid,
	                    .lifeline = -1,
	                    .in = pipes[0][1],
	                    .out = pipes[1][0],
	                    .err = pipes[2][0],
	                    .to = BUF(OUT_MAX),
	                    .errors = BUF(2 * WORDS_MAX),
	                    .line = BUF(LAST_MAX),
	                    .last = BUF(LAST_MAX)};
	lines_init(&c->from, conf->max_line ? conf->max_line : BUF_MAX_MESSAGE, 4 * PIECE);
	int ours[] = {c->in, c->out, c->err};
	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		fcntl(ours[i], F_SETFL, O_NONBLOCK);
	start_guard(c);
	watch(c, c->out, POLLIN);
	watch(c, c->err, POLLIN);
	*out = c;
	return 0;
}

/* ---- pipes ---- */

static void write_out(struct child *c)
{
	while (c->in >= 0 && c->sent < c->to.n) {
		ssize_t n = write(c->in, c->to.p + c->sent, c->to.n - c->sent);

		if (n >= 0)
			c->sent += (size_t)n;
		else if (errno == EAGAIN)
			break;
		else if (errno != EINTR)
			unwatch(c, &c->in); /* it no longer reads */
	}
	if (c->in >= 0 && c->sent < c->to.n)
		return;
	buf_clear(&c->to);
	c->sent = 0;
}

/* The number of bytes of stderr to drop: those above the cap, and the rest of a line split by
   the cap. */
static size_t excess(const struct child *c)
{
	size_t over = c->errors.n > WORDS_MAX ? c->errors.n - WORDS_MAX : 0;
	const char *from = c->errors.p + over, *lf = over ? memchr(from, '\n', WORDS_MAX) : NULL;

	return lf ? (size_t)(lf - c->errors.p) + 1 : over;
}

/* Appends a truncated text: a buffer drops text that does not fit completely. */
static void add_cut(struct buf *b, struct str s)
{
	size_t room = b->max - b->n;

	buf_add(b, s.p, s.n < room ? s.n : room);
}

/* "ValueError: why", "TypeError [CODE]: why", "panic: why": most languages print the stack after it. */
static bool names_error(struct str line)
{
	size_t n = 0;

	while (n < line.n && line.p[n] != ':' && line.p[n] != ' ')
		n++;
	struct str first = {line.p, n};

	return n < line.n && (str_ends(first, STR("Error")) || str_ends(first, STR("Exception")) ||
	                      str_eq(first, STR("panic")));
}

static void end_stderr_line(struct child *c)
{
	struct str line = buf_view(&c->line);

	while (line.n && (unsigned char)line.p[line.n - 1] <= ' ')
		line.n--;
	if (line.n) {
		log_info("server: %.*s", STR_ARG(line));
		bool error = names_error(line);

		if (error || !c->names_error)
			buf_set(&c->last, line);
		c->names_error |= error;
	}
	buf_clear(&c->line);
}

static void add_stderr(struct child *c, struct str piece)
{
	buf_str(&c->errors, piece);
	size_t old = excess(c);
	if (old) {
		c->words_lost += old;
		buf_drop(&c->errors, old);
	}
	while (piece.n) {
		const char *lf = memchr(piece.p, '\n', piece.n);
		struct str line = {piece.p, lf ? (size_t)(lf - piece.p) : piece.n};

		add_cut(&c->line, line);
		if (lf)
			end_stderr_line(c);
		piece = str_skip(piece, line.n + 1);
	}
}

/* Reads once; the rest is left for the next call. False: no data. */
static bool read_stderr(struct child *c)
{
	char piece[16384];
	ssize_t n = c->err < 0 ? 0 : read(c->err, piece, sizeof(piece));

	if (n > 0) {
		add_stderr(c, (struct str){piece, (size_t)n});
		return true;
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		unwatch(c, &c->err);
		end_stderr_line(c);
	}
	return false;
}

static void read_lines(struct child *c)
{
	char *room = lines_room(&c->from, PIECE);

	c->full = !room;
	if (!room) {
		watch(c, c->out, 0);
		return;
	}
	ssize_t n = read(c->out, room, PIECE);
	if (n > 0)
		lines_added(&c->from, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		unwatch(c, &c->out);
}

static int on_ready(void *arg, int fd, short ready, struct error *err)
{
	struct child *c = arg;

	(void)ready, (void)err;
	if (fd == c->in) {
		write_out(c);
		watch(c, c->in, c->to.n ? POLLOUT : 0);
	} else if (fd == c->out) {
		read_lines(c);
	} else {
		read_stderr(c);
	}
	return 0;
}

/* ---- exit of the child ---- */

/* Has it exited? It is not reaped yet, so its process group id cannot be reused. */
bool child_has_ended(const struct child *c)
{
	siginfo_t info = {.si_pid = 0};

	return !c->pid || waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	       info.si_pid != 0;
}

static void explain(struct child *c, int status)
{
	if (WIFSIGNALED(status)) {
		snprintf(c->why, sizeof(c->why), "was killed by signal %d (%s)", WTERMSIG(status),
		         strsignal(WTERMSIG(status)));
		return;
	}
	int code = WEXITSTATUS(status), signal = code - 128; /* as a shell reports it */
	const char *name = signal > 0 && signal < 32 ? strsignal(signal) : NULL;

	c->not_found = code == 127;
	snprintf(c->why, sizeof(c->why), "exited with status %d", code);
	if (name) {
		snprintf(c->why, sizeof(c->why), "exited with status %d (signal %d: %s)", code,
		         signal, name);
	}
}

static int wait_for(pid_t pid)
{
	int status = 0;
	pid_t rc;

	do {
		rc = waitpid(pid, &status, 0);
	} while (rc < 0 && errno == EINTR);
	return status;
}

/* It has exited or is about to, like the processes it started and the guard. */
static void reap(struct child *c)
{
	if (!c->pid)
		return;
	kill(-c->pid, SIGKILL);
	if (c->guard)
		wait_for(c->guard);
	close_fd(&c->lifeline);
	int status = wait_for(c->pid);
	c->pid = 0;
	if (!*c->why)
		explain(c, status);
}

/* Discards its remaining output and waits until every process that holds its pipes has exited:
   at most ms, and at most EXIT_MS after the child itself exited. */
static bool await_end(struct child *c, uint64_t ms)
{
	uint64_t until = io_deadline_ns(c->io, ms);
	bool ended = false;

	while (io_now_ns(c->io) < until) {
		struct pollfd p[] = {{.fd = c->out, .events = POLLIN},
		                     {.fd = c->err, .events = POLLIN}};

		if (!ended && child_has_ended(c)) {
			uint64_t soon = io_deadline_ns(c->io, EXIT_MS);

			ended = true;
			until = soon < until ? soon : until;
		}
		if (ended && c->out < 0 && c->err < 0)
			return true;
		if (poll(p, ARRAY_LEN(p), STEP_MS) <= 0)
			continue;
		if (p[0].revents) {
			struct str unwanted;

			while (lines_next(&c->from, false, &unwanted) != LINES_NONE)
				;
			read_lines(c);
		}
		if (p[1].revents)
			read_stderr(c);
	}
	return false;
}

/* Called at the end of its output. Usually the child has exited, or is about to. */
static void check_exit(struct child *c)
{
	if (*c->why)
		return;
	await_end(c, EXIT_MS);
	if (child_has_ended(c))
		reap(c);
	else
		snprintf(c->why, sizeof(c->why), "closed its output");
}

void child_stop(struct child *c)
{
	write_out(c);
	unwatch(c, &c->in);
	if (!await_end(c, GRACE_MS) && !child_has_ended(c)) {
		log_info("the server did not exit after its stdin was closed: sending SIGTERM");
		kill(-c->pid, SIGTERM);
		await_end(c, TERM_MS);
	}
	reap(c);
}

void child_terminate(struct child *c)
{
	if (!child_has_ended(c)) {
		kill(-c->pid, SIGTERM);
		await_end(c, GRACE_MS);
	}
	reap(c);
}

void child_free(struct child *c)
{
	if (!c)
		return;
	reap(c);
	unwatch(c, &c->in);
	unwatch(c, &c->out);
	unwatch(c, &c->err);
	BUFS_RELEASE(&c->to, &c->errors, &c->line, &c->last);
	lines_release(&c->from);
	free(c);
}

/* ---- lines ---- */

bool child_send(struct child *c, struct str line)
{
	if (c->in < 0)
		return true;
	if (!buf_room(&c->to, line.n + 1)) {
		c->to.full = false;
		return false;
	}
	buf_str(&c->to, line);
	buf_char(&c->to, '\n');
	write_out(c);
	watch(c, c->in, c->to.n ? POLLOUT : 0);
	return true;
}

/* there may be room again */
static void resume_reading(struct child *c)
{
	if (c->full)
		watch(c, c->out, POLLIN);
	c->full = false;
}

int child_next(struct child *c, struct str *line, struct error *err)
{
	enum lines_got got = lines_next(&c->from, c->out < 0, line);

	resume_reading(c);
	if (got == LINES_TOO_LONG) {
		return error_set(err, FAIL_PROTOCOL, "the server wrote a line of more than %zu MiB",
		                 c->from.max_line >> 20);
	}
	return got == LINES_ONE;
}

int child_receive(struct child *c, struct str *line, uint64_t timeout_ms, struct error *err)
{
	uint64_t deadline = io_deadline_ns(c->io, timeout_ms);

	for (bool over = false;;) {
		int got = child_next(c, line, err);

		if (got)
			return got;
		if (c->out < 0) {
			check_exit(c);
			return 0;
		}
		if (over)
			return error_set(err, FAIL_TIMEOUT, "timed out");
		over = io_now_ns(c->io) >= deadline;
		if (io_turn(c->io, deadline, err) < 0)
			return -1;
	}
}

const char *child_why(const struct child *c)
{
	return c->why;
}

bool child_not_found(const struct child *c)
{
	return c->not_found;
}

struct str child_stderr(const struct child *c)
{
	struct str errors = buf_view(&c->errors);

	while (c->err >= 0 && errors.n < WORDS_MAX && errors.n && errors.p[errors.n - 1] != '\n')
		errors.n--;
	return errors;
}

uint64_t child_stderr_lost(const struct child *c)
{
	return c->words_lost;
}

void child_clear_stderr(struct child *c)
{
	buf_drop(&c->errors, child_stderr(c).n);
	c->words_lost = 0;
	c->names_error = false;
}

struct str child_last_stderr_line(const struct child *c)
{
	return buf_view(c->line.n && !c->names_error ? &c->line : &c->last);
}
