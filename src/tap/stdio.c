/* A stdio server behind the tap: see stdio.h. The server is our child, in our process group and with
   our standard error and variables: what a client does to the one reaches the other. If we are killed, so is
   it, by a guard. */
#include "tap/stdio.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/wake.h"
#include "net/line_splitter.h"
#include "tap/episode.h"
#include "tap/flow.h"
#include "tap/job.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE     ((size_t)64 << 10)
#define NS_PER_MS 1000000u

/* One direction. */
struct flow {
	enum tap_side from;
	int in, out; /* -1: closed */
	bool ours;   /* `out` is not shared with other processes, and does not block */
	bool ended;  /* the end of its input was passed on */
	char piece[PIECE];
	size_t n, sent;
	struct lines lines; /* the copy */
};

struct stdio {
	const struct tap_stdio_conf *conf;
	const struct tap_decoder *decoder;
	void *decoder_data;
	struct tap_connection connection;
	struct tap_exchange exchange;
	struct flow up, down; /* to the server, from it */
	pid_t pid;
	pid_t guard;  /* 0: none */
	int lifeline; /* our end of the pipe that the guard reads */
	int code;     /* its exit code, if it has exited */
	bool exited, stopped;
	enum tap_side first; /* which side ended first */
};

/* ---- the child ---- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Our standard streams keep their numbers, so that nothing opened later gets them. */
static void close_standard(int *fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, *fd);
		close(null);
	}
	*fd = -1;
}

static int start(struct stdio *s, struct error *err)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1}, failed;

	if (pipe_open(in) || pipe_open(out))
		failed = error_errno(err, "cannot start '%s'", s->conf->command[0]);
	else
		failed = tap_job_start(s->conf->command, NULL, NULL, (int[]){in[0], out[1]},
		                       &s->pid, err);
	close_fd(&in[0]);
	close_fd(&out[1]);
	s->up.out = in[1];
	s->down.in = out[0];
	if (!failed) {
		fcntl(s->up.out, F_SETFL, O_NONBLOCK);
		fcntl(s->down.in, F_SETFL, O_NONBLOCK);
	}
	return failed;
}

/* Starts a process that waits until we exit and then kills the server: one that hangs, which is why a client
   kills us, does not read that its input has ended. */
static void start_guard(struct stdio *s)
{
	char shell[] = "sh", option[] = "-c", script[64];
	int pipe[2];

	if (pipe_open(pipe))
		return;
	snprintf(script, sizeof(script), "read -r end; kill -KILL %ld", (long)s->pid);
	if (tap_job_start((char *[]){shell, option, script, NULL}, NULL, NULL,
	                  (int[]){pipe[0], pipe[0]}, &s->guard, ERROR_IGNORED))
		s->guard = 0;
	close_fd(&pipe[0]);
	s->lifeline = pipe[1];
}

static void stop_guard(struct stdio *s)
{
	if (s->guard) {
		kill(s->guard, SIGKILL);
		waitpid(s->guard, NULL, 0);
	}
	close_fd(&s->lifeline);
}

static void look_for_exit(struct stdio *s)
{
	if (!s->exited && tap_job_ended(s->pid, &s->code)) {
		s->exited = true;
		s->first = s->first == TAP_NOBODY ? TAP_SERVER : s->first;
	}
}

/* At a terminal Ctrl-C has reached the child too. */
static void pass_signal(struct stdio *s)
{
	int number = s->conf->take_stop();

	s->stopped = true;
	if (!s->exited && !(number == SIGINT && isatty(STDIN_FILENO)))
		kill(s->pid, number);
}

/* ---- relaying ---- */

/* The copy, after the bytes were passed on. */
static void read_copy(struct stdio *s, struct flow *f, struct str bytes, bool ended)
{
	char *room = lines_room(&f->lines, bytes.n);
	enum lines_got got;
	struct str line;

	if (room && bytes.n) {
		memcpy(room, bytes.p, bytes.n);
		lines_added(&f->lines, bytes.n);
	}
	while ((got = lines_next(&f->lines, ended, &line)) != LINES_NONE) {
		struct tap_bytes m = {.bytes = got == LINES_ONE ? line : STR(""),
		                      .cut = got != LINES_ONE,
		                      .unended = ended};

		if (s->decoder && s->decoder->message)
			s->decoder->message(s->decoder_data, &s->exchange, f->from, &m);
	}
}

/* Passes on that no more bytes come: closes both ends. */
static void end_flow(struct stdio *s, struct flow *f)
{
	if (f->ended)
		return;
	f->ended = true;
	s->first = s->first == TAP_NOBODY ? f->from : s->first;
	if (f->ours) {
		close_standard(&f->in);
		close_fd(&f->out);
	} else {
		close_fd(&f->in);
		close_standard(&f->out);
	}
	read_copy(s, f, STR(""), true);
}

/* Does not block: a descriptor that is shared with the client keeps its mode, and a pipe that is
   ready takes PIPE_BUF bytes. */
static ssize_t write_some(const struct flow *f)
{
	const char *p = f->piece + f->sent;
	size_t n = f->n - f->sent;

	if (f->ours)
		return write(f->out, p, n);
	ssize_t done = send(f->out, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (done < 0 && errno == ENOTSOCK)
		done = write(f->out, p, n < PIPE_BUF ? n : PIPE_BUF);
	return done;
}

static bool is_temporary(int number)
{
	return number == EAGAIN || number == EINTR;
}

static void push(struct stdio *s, struct flow *f)
{
	ssize_t done = write_some(f);

	if (done < 0 && !is_temporary(errno)) {
		/* the reader is gone, and the writer learns it in the same way */
		s->first = s->first == TAP_NOBODY && f->from == TAP_SERVER ? TAP_CLIENT : s->first;
		end_flow(s, f);
		return;
	}
	f->sent += done > 0 ? (size_t)done : 0;
	if (f->sent == f->n) {
		size_t n = f->n;

		f->n = f->sent = 0;
		read_copy(s, f, (struct str){f->piece, n}, false);
	}
}

static void pull(struct stdio *s, struct flow *f)
{
	ssize_t n = read(f->in, f->piece, PIECE);

	if (n > 0) {
		f->n = (size_t)n;
		push(s, f);
	} else if (n == 0 || !is_temporary(errno)) {
		end_flow(s, f);
	}
}

/* The descriptor that a flow waits for; the other end is watched for being closed by its reader. */
static void watch(const struct flow *f, struct pollfd pair[2])
{
	bool writes = f->n > 0;

	pair[0] = (struct pollfd){.fd = writes ? -1 : f->in, .events = POLLIN};
	pair[1] = (struct pollfd){.fd = f->out, .events = writes ? POLLOUT : 0};
}

static void serve(struct stdio *s, struct flow *f, const struct pollfd pair[2])
{
	if (f->ended)
		return;
	if (pair[1].revents & POLLERR && !f->n)
		end_flow(s, f);
	else if (pair[1].revents)
		push(s, f);
	else if (pair[0].revents)
		pull(s, f);
}

static int wait_ms(struct stdio *s)
{
	uint64_t next = tap_recording_tick(s->conf->recording);
	uint64_t now = s->conf->clock.monotonic_ns(s->conf->clock.ctx);
	uint64_t ms = next == UINT64_MAX ? INT_MAX : next > now ? (next - now) / NS_PER_MS + 1 : 0;

	if (s->exited)
		return 0; /* only what it has left in the pipe */
	return ms < INT_MAX ? (int)ms : -1;
}

enum { UP, DOWN = 2, CHILD = 4, STOP, FDS };

static void watch_all(struct stdio *s, struct pollfd fds[FDS])
{
	watch(&s->up, fds + UP);
	watch(&s->down, fds + DOWN);
	fds[CHILD] = (struct pollfd){.fd = s->exited ? -1 : s->conf->child_fd, .events = POLLIN};
	fds[STOP] = (struct pollfd){.fd = s->conf->stop_fd, .events = POLLIN};
	if (s->exited)
		fds[UP].fd = fds[UP + 1].fd = -1;
}

static void relay(struct stdio *s)
{
	struct pollfd fds[FDS];
	int ready = 1;

	while (!s->exited || (ready > 0 && !s->down.ended)) {
		watch_all(s, fds);
		int timeout = s->exited && s->down.n ? -1 : wait_ms(s);
		ready = poll(fds, FDS, timeout);
		if (ready < 0) {
			ready = 1; /* a signal */
			continue;
		}
		if (fds[STOP].revents) {
			if (s->exited)
				return;
			pass_signal(s);
		}
		serve(s, &s->up, fds + UP);
		serve(s, &s->down, fds + DOWN);
		while (fds[CHILD].revents && tap_signals_next() != TAP_SIGNAL_NONE) {
		}
		look_for_exit(s);
	}
}

/* ---- from start to exit ---- */

static void close_decoder(struct stdio *s)
{
	char why[64];

	snprintf(why, sizeof(why), "the server exited with status %d", s->code);
	struct tap_ending e = {.first = s->first, .stopped = s->stopped, .why = str_from(why)};
	if (s->decoder && s->decoder->closed)
		s->decoder->closed(s->decoder_data, &s->exchange, &e);
}

int tap_stdio(const struct tap_stdio_conf *conf, int *code, struct error *err)
{
	struct stdio *s = mem_new(sizeof(*s));

	*s = (struct stdio){
		.conf = conf,
		.connection = {.id = 1},
		.exchange = {.id = 1, .request = {.method = STR("")}},
		.up = {.from = TAP_CLIENT, .in = STDIN_FILENO, .out = -1, .ours = true},
		.down = {.from = TAP_SERVER, .in = -1, .out = STDOUT_FILENO},
		.first = TAP_NOBODY,
		.lifeline = -1,
	};
	s->exchange.connection = &s->connection;
	lines_init(&s->up.lines, TAP_BODY_MAX, PIECE);
	lines_init(&s->down.lines, TAP_BODY_MAX, PIECE);
	int failed = start(s, err);
	if (!failed) {
		struct tap_reader *reader = tap_reader_new(conf->clock, conf->recording);

		start_guard(s);
		s->decoder = tap_reader_find(reader, &s->exchange.request, false, &s->decoder_data);
		if (s->decoder && s->decoder->request)
			s->decoder->request(s->decoder_data, &s->exchange);
		relay(s);
		stop_guard(s);
		end_flow(s, &s->up);
		end_flow(s, &s->down);
		close_decoder(s);
		tap_reader_free(reader);
		*code = s->code;
	}
	close_fd(&s->up.out);
	close_fd(&s->down.in);
	lines_release(&s->up.lines);
	lines_release(&s->down.lines);
	free(s);
	return failed;
}
