/* The operating system's side: arguments, time, signals, environment variables, the terminal.
   Prints the error, if any, and maps its kind to the exit code. */
#include "base/log.h"
#include "base/new_file.h"
#include "base/text.h"
#include "cmd/cmd.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PIPE_COLUMNS 100

static atomic_int stops, last_stop;
static struct wake stop = {-1, -1};

/* The first signal requests an orderly stop; the second one exits at once. */
static void on_stop(int number)
{
	atomic_store(&last_stop, number);
	if (atomic_fetch_add(&stops, 1) > 0) {
		new_files_remove();
		_exit(130);
	}
	wake_raise(&stop);
}

/* An ignored SIGHUP (nohup) stays ignored. SIGINT is caught even if it was ignored: shells
   ignore it for background jobs, which must still close their sessions. */
static void catch_stop(void)
{
	struct sigaction caught = {.sa_handler = on_stop}, before = {.sa_handler = SIG_DFL};

	sigemptyset(&caught.sa_mask);
	sigaction(SIGINT, &caught, NULL);
	sigaction(SIGTERM, &caught, NULL);
	sigaction(SIGHUP, NULL, &before);
	if (before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &caught, NULL);
}

/* Returns the signal that requested the stop and clears it: the next one counts as the first
   again. */
static int take_stop(void)
{
	wake_clear(&stop);
	atomic_store(&stops, 0);
	return atomic_load(&last_stop);
}

/* No descriptor that is opened later may become a standard stream. Closed ones are opened on
   /dev/null in the wrong mode, so that reading or writing them still fails. */
static void fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) {
			_exit(5);
		}
	}
}

static const char *variable(const char *name)
{
	return getenv(name);
}

/* COLUMNS, else the terminal's width, else a default that suits files and pipes. */
static size_t columns_of(int fd)
{
	const char *asked = getenv("COLUMNS");
	struct winsize size = {0};
	uint64_t columns;

	if (asked && text_u64(str_from(asked), &columns) && columns && columns < UINT16_MAX)
		return (size_t)columns;
	return ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col ? PIPE_COLUMNS : size.ws_col;
}

/* The terminal's width; 0 if a line cannot be rewritten in place. */
static size_t columns_of_stderr(void)
{
	const char *term = getenv("TERM");

	if (isatty(STDERR_FILENO) != 1 || !term || !strcmp(term, "dumb"))
		return 0;
	return columns_of(STDERR_FILENO);
}

static struct style style_of_stdout(void)
{
	bool terminal = isatty(STDOUT_FILENO) == 1;
	const char *no_color = getenv("NO_COLOR");

	return (struct style){.color = terminal && !(no_color && *no_color),
	                      .columns = columns_of(STDOUT_FILENO),
	                      .terminal = terminal};
}

static void print_error(const struct error *err, const struct context *c)
{
	AUTO_BUF line = BUF(BUF_MAX_SMALL);

	buf_text(&line, "rolldbg: ");
	text_escape(&line, str_from(err->text));
	buf_char(&line, '\n');
	if (err->kind == FAIL_USAGE && !c->started)
		help_hint(c->command, &line);
	ssize_t ignored = write(STDERR_FILENO, buf_cstr(&line), line.n);
	(void)ignored;
}

static int run(int argc, char **argv)
{
	struct error err = {0};
	struct context c = {.clock = clock_real(),
	                    .stop = stop,
	                    .catch_stop = catch_stop,
	                    .take_stop = take_stop,
	                    .variable = variable,
	                    .style = style_of_stdout(),
	                    .stderr_columns = columns_of_stderr()};

	int code = command_main(&c, argc, argv, &err);

	if (code < 0) {
		print_error(&err, &c);
		code = fail_exit_code(err.kind);
	}
	return code;
}

int main(int argc, char **argv)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	fill_standard_descriptors();
	if (wake_open(&stop)) {
		fputs("rolldbg: no file descriptor left for the stop signal\n", stderr);
		return 5;
	}
	/* exceeding RLIMIT_FSIZE becomes an error of write(); the recording stays intact */
	sigaction(SIGXFSZ, &ignore, NULL);
	return run(argc, argv);
}
