/* Single-key answers: see review.h. */
#include "cmd/golden/review.h"

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

/* With git's keys where git has them. */
static const struct {
	char key;
	enum review_answer answer;
	const char *said, *help; /* help NULL: not listed */
} answers[] = {
	{'a', REVIEW_ACCEPT, "accepted", "accept: the new recording becomes the golden"},
	{'r', REVIEW_REJECT, "rejected", "reject: keep the golden, remove GOLDEN.new"},
	{'s', REVIEW_SKIP, "skipped", "skip: keep the golden and GOLDEN.new"},
	{'A', REVIEW_ACCEPT_ALL, "accepted, like all that follow",
         "accept this one and all that follow"},
	{'q', REVIEW_QUIT, "skipped, like all that follow", "skip this one and all that follow"},
	{0, REVIEW_SKIP, "skipped", NULL},
	{'\x04', REVIEW_SKIP, "skipped", NULL},
};

static void ask(const char *question)
{
	fprintf(stderr, "%s [", question);
	for (size_t i = 0; answers[i].help; i++) {
		fprintf(stderr, "%c,", answers[i].key);
	}
	fputs("?]? ", stderr);
}

static void explain(const char *question)
{
	fputs("help\n", stderr);
	for (size_t i = 0; answers[i].help; i++) {
		fprintf(stderr, "  %c  %s\n", answers[i].key, answers[i].help);
	}
	ask(question);
}

static const char *find_answer(char key, enum review_answer *out)
{
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		if (answers[i].key == key) {
			*out = answers[i].answer;
			return answers[i].said;
		}
	}
	return NULL;
}

int review_ask(const char *question, int stop_fd, enum review_answer *out, struct error *err)
{
	const char *said = NULL;
	struct termios before, raw;
	bool terminal = tcgetattr(STDIN_FILENO, &before) == 0;
	char key = 0;
	int failed;

	if (terminal) {
		raw = before;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	ask(question);
	do {
		failed = read_key(stop_fd, &key, err);
		if (!failed && key == '?') {
			explain(question);
		}
	} while (!failed && !(said = find_answer(key, out)));
	if (terminal) {
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	}
	fprintf(stderr, "%s\n", failed ? "" : said);
	return failed;
}
