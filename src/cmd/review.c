/* Single-key answers: see review.h. */
#include "cmd/review.h"

#include <poll.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

int review_possible(struct error *err)
{
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO)) {
		return 0;
	}
	return error_set(err, FAIL_USAGE,
	                 "--review needs a terminal: read the differences, then use --accept (all "
	                 "of them) or mv GOLDEN.new GOLDEN (one)");
}

/* The next byte; 0 at end of input. */
static int read_key(int stop_fd, char *key, struct error *err)
{
	struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
	                       {.fd = stop_fd, .events = POLLIN}};

	*key = 0;
	while (poll(fds, 2, -1) < 0 || (!fds[0].revents && !fds[1].revents)) {
	}
	if (fds[1].revents) {
		return error_set(err, FAIL_INTERRUPTED, "interrupted");
	}
	if (read(STDIN_FILENO, key, 1) != 1) {
		*key = 0;
	}
	return 0;
}

static bool is_answer(char key, enum review_answer *out)
{
	static const struct {
		char key;
		enum review_answer answer;
	} answers[] = {{'a', REVIEW_ACCEPT},
	               {'r', REVIEW_REJECT},
	               {'s', REVIEW_SKIP},
	               {0, REVIEW_SKIP},
	               {'\x04', REVIEW_SKIP}};

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		if (answers[i].key == key) {
			*out = answers[i].answer;
			return true;
		}
	}
	return false;
}

int review_ask(const char *question, int stop_fd, enum review_answer *out, struct error *err)
{
	static const char *const names[] = {"accepted", "rejected", "skipped"};
	struct termios before, raw;
	bool terminal = tcgetattr(STDIN_FILENO, &before) == 0;
	char key;
	int failed;

	if (terminal) {
		raw = before;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	fprintf(stderr, "%s: (a)ccept, (r)eject, (s)kip? ", question);
	do {
		failed = read_key(stop_fd, &key, err);
	} while (!failed && !is_answer(key, out));
	if (terminal) {
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	}
	fprintf(stderr, "%s\n", failed ? "" : names[*out]);
	return failed;
}
