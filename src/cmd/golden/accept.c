/* --update, --accept and --review: see accept.h. */
#include "cmd/golden/accept.h"

#include "base/log.h"

#include <poll.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

#define ROWS accept
#include "cmd/options/rows.h"
const struct option_group accept_group = {accept_opts, ARRAY_LEN(accept_opts), NULL};

static bool is_in_ci(const struct context *c)
{
	const char *ci = c->variable("CI");

	return ci && *ci && strcmp(ci, "0") != 0 && strcmp(ci, "false") != 0;
}

int accept_choose(const struct accept_options *o, const struct context *c, enum update *out,
                  struct error *err)
{
	if (o->review) {
		*out = UPDATE_REVIEW;
		if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO))
			return 0;
		return error_set(
			err, FAIL_USAGE,
			"--review needs a terminal: read the differences, then use --accept (all "
			"of them) or mv GOLDEN.new GOLDEN (one)");
	}
	const char *word = o->accept ? "all" : o->update ? o->update : is_in_ci(c) ? "none" : "new";

	*out = !strcmp(word, "none") ? UPDATE_NONE : !strcmp(word, "all") ? UPDATE_ALL : UPDATE_NEW;
	return 0;
}

/* ---- may it be accepted? ---- */

/* Says the class that the environment did not answer with, but its server, or what is before it. */
static bool is_outage(enum error_class c)
{
	return c == CLASS_TRANSPORT || c == CLASS_PROTOCOL || c == CLASS_SESSION ||
	       c == CLASS_CAPACITY || c == CLASS_AUTH || c == CLASS_TIMEOUT ||
	       c == CLASS_UNKNOWN_TOOL;
}

static bool fails_now(const struct line *want, const struct line *got)
{
	return want->outcome == OUTCOME_OK && got->outcome != OUTCOME_OK &&
	       is_outage(line_error_class(got));
}

/* The calls are sent again, but no model is asked. */
static bool has_conversation(const struct golden *g)
{
	size_t messages = json_count(g->want.reset.value[KEY_MESSAGES]);

	for (size_t i = 0; i < g->want.count; i++)
		messages += json_count(g->want.steps[i].value[KEY_MESSAGES]);
	return messages > 0;
}

/* NULL, or why the replay may not replace the golden. */
static const char *refusal_of(const struct golden *g, struct buf *why)
{
	size_t i = 0;

	while (i < g->want.count && i < g->got.count &&
	       !fails_now(&g->want.steps[i], &g->got.steps[i])) {
		i++;
	}
	if (i < g->want.count && i < g->got.count) {
		buf_printf(why, "step %zu was answered in the golden, and now fails with %s", i,
		           error_class_name(line_error_class(&g->got.steps[i])));
	} else if (g->got.count < g->want.count) {
		buf_printf(why,
		           "the environment ended the episode after %zu of its %zu calls; to keep "
		           "only these, replace the golden by %s.new",
		           g->got.count, g->want.count, g->file);
	} else if (has_conversation(g)) {
		buf_text(why, "a replay has no conversation with the model; record it again with "
		              "run");
	}
	return why->n ? buf_cstr(why) : NULL;
}

bool accept_may_replace(const struct golden *g)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	const char *why = refusal_of(g, &text);

	if (why)
		log_warn("%s: rollout %.*s is not accepted: %s", g->file, STR_ARG(g->want.id), why);
	return !why;
}

/* ---- on the terminal ---- */

/* The next byte; 0 at end of input. */
static int read_key(int stop_fd, char *key, struct error *err)
{
	struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
	                       {.fd = stop_fd, .events = POLLIN}};

	*key = 0;
	while (poll(fds, 2, -1) < 0 || (!fds[0].revents && !fds[1].revents)) {
	}
	if (fds[1].revents)
		return error_set(err, FAIL_INTERRUPTED, "interrupted");
	if (read(STDIN_FILENO, key, 1) != 1)
		*key = 0;
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
	for (size_t i = 0; answers[i].help; i++)
		fprintf(stderr, "%c,", answers[i].key);
	fputs("?]? ", stderr);
}

static void explain(const char *question)
{
	fputs("help\n", stderr);
	for (size_t i = 0; answers[i].help; i++)
		fprintf(stderr, "  %c  %s\n", answers[i].key, answers[i].help);
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
		if (!failed && key == '?')
			explain(question);
	} while (!failed && !(said = find_answer(key, out)));
	if (terminal)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	fprintf(stderr, "%s\n", failed ? "" : said);
	return failed;
}
