/* Reads commands: see debugger.h. The only file that includes libedit. */

#include "debug/debugger.h"

#include "base/text.h"
#include "check/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <histedit.h>

#define LINE_MAX_BYTES ((size_t)1 << 20)
#define HISTORY_LINES  1000
#define POINTERS_MAX   200
#define SHOWN_MAX      200 /* maximum number of candidates listed */

/* ---- a pipe ---- */

static int read_pipe(struct debugger *d, bool *failed, struct error *err)
{
	char *line = NULL;
	size_t room = 0;
	int broken = 0;
	bool one_failed = false;

	while (!broken && !d->quit) {
		ssize_t n = getline(&line, &room, stdin);

		if (n < 0 && errno == EINTR && !feof(stdin) && debugger_goes_on(d)) {
			clearerr(stdin); /* no command was running */
			continue;
		}
		if (n < 0)
			break;
		if ((size_t)n > LINE_MAX_BYTES) {
			broken = error_set(err, FAIL_INPUT, "a command is longer than 1 MiB");
			break;
		}
		broken = run_and_print(d, text_trim((struct str){line, (size_t)n}), &one_failed,
		                       err);
		*failed = *failed || one_failed;
		d->quit = d->quit || !debugger_goes_on(d);
	}
	free(line);
	return broken;
}

/* ---- a terminal ---- */

struct editor {
	struct debugger *d;
	EditLine *line;
	History *history;
	char prompt[16];
	struct str word;   /* the last one of the line */
	struct buf common; /* common prefix of all candidates */
	struct buf shown;  /* the candidates */
	size_t candidates;
};

/* Callbacks only get the line, which stores the editor. */
static struct editor *editor_of(EditLine *line)
{
	struct editor *e = NULL;

	el_get(line, EL_CLIENTDATA, &e);
	return e;
}

static char *prompt_of(EditLine *line)
{
	struct editor *e = editor_of(line);

	snprintf(e->prompt, sizeof(e->prompt), "(%s) ", debug_mode_name(debugger_mode(e->d)));
	return e->prompt;
}

/* A peer's name with a line feed or an escape sequence is not put into the typed line. */
static void offer(struct editor *e, struct str candidate)
{
	size_t n = 0;

	if (!str_starts(candidate, e->word) || !text_is_safe(candidate))
		return;
	if (!e->candidates++)
		buf_set(&e->common, candidate);
	while (n < candidate.n && n < e->common.n && candidate.p[n] == e->common.p[n])
		n++;
	buf_cut(&e->common, n);
	if (e->candidates <= SHOWN_MAX)
		buf_printf(&e->shown, " %.*s", STR_ARG(candidate));
}

static void offer_tools(struct editor *e)
{
	AUTO_BUF name = BUF(BUF_MAX_SMALL);
	struct str tools = cursor_facts(e->d->cursor)->header.value[KEY_TOOLS], tool;

	for (size_t cursor = 0; json_next(tools, &cursor, &tool);) {
		buf_clear(&name);
		json_decode(JSON_GET(tool, "name"), &name);
		offer(e, buf_view(&name));
	}
}

/* Offers the members one level below the last slash of the word. */
static void offer_pointers(struct editor *e)
{
	AUTO_BUF pointer = BUF(BUF_MAX_SMALL), scratch = BUF(BUF_MAX_MESSAGE);
	size_t slash = e->word.n, cursor = 0;
	struct json_member m;

	while (slash && e->word.p[slash - 1] != '/')
		slash--;
	size_t dot = 0;
	while (dot < slash && e->word.p[dot] != '/')
		dot++;
	struct str above = {e->word.p + dot, slash ? slash - 1 - dot : 0};
	struct str value = json_point(e->d->now.after, above, &scratch);
	for (size_t n = 0; n < POINTERS_MAX && json_next_member(value, &cursor, &m); n++) {
		buf_set(&pointer, slash ? (struct str){e->word.p, slash} : STR("./"));
		buf_str(&pointer, m.key);
		offer(e, buf_view(&pointer));
	}
}

/* Candidates in an expression or for a path argument. */
static void offer_paths(struct editor *e)
{
	offer_pointers(e);
	if (e->word.n && memchr(e->word.p, '/', e->word.n))
		return;
	for (size_t i = 0; i < FACTS_NAMED; i++)
		offer(e, str_from(named_facts[i].name));
	for (size_t i = 0; e->word.n && i < checks_count; i++)
		offer(e, str_from(checks[i]->id));
	if (e->word.n)
		offer_tools(e);
}

/* Offers what may be the last word of the line. */
static void offer_words(struct editor *e, struct str line)
{
	struct str rest = text_trim((struct str){line.p, line.n - e->word.n});
	struct str verb = argument_word(&rest);
	const struct verb *v = NULL;

	if (verb.n && verb_find(verb, &v, ERROR_IGNORED))
		return;
	if (!v || v->run == verb_help)
		for (size_t i = 0; i < verbs_count; i++)
			offer(e, str_from(verbs[i].name));
	else if (v->run == verb_info)
		for (size_t i = 0; info_topic(i); i++)
			offer(e, str_from(info_topic(i)));
	else if (v->group == GROUP_LIVE || v->run == verb_tools)
		offer_tools(e);
	else if (v->run == verb_print || v->group == GROUP_STOP)
		offer_paths(e);
}

/* The Tab key: inserts the common prefix of all candidates, or lists them. */
static unsigned char complete(EditLine *line, int key)
{
	struct editor *e = editor_of(line);
	const LineInfo *info = el_line(line);
	struct str typed = {info->buffer, (size_t)(info->cursor - info->buffer)};
	size_t n = 0;

	e->candidates = 0;
	buf_clear(&e->shown);
	while (n < typed.n && typed.p[typed.n - 1 - n] != ' ')
		n++;
	e->word = (struct str){typed.p + typed.n - n, n};
	offer_words(e, typed);
	if (!e->candidates)
		return CC_ERROR;
	if (e->candidates == 1)
		buf_char(&e->common, ' ');
	if (e->common.n > n)
		return el_insertstr(line, buf_cstr(&e->common) + n) ? CC_ERROR : CC_REFRESH;
	AUTO_BUF lines = BUF(BUF_MAX_MESSAGE);
	text_wrap(&lines, text_trim(buf_view(&e->shown)), 2, e->d->conf->style.columns);
	printf("\n  %s", buf_cstr(&lines));
	fflush(stdout);
	return CC_REDISPLAY;
}

static void open_history(struct editor *e)
{
	HistEvent event;
	const char *file = e->d->conf->history;

	e->history = history_init();
	history(e->history, &event, H_SETSIZE, HISTORY_LINES);
	history(e->history, &event, H_SETUNIQUE, 1);
	if (file)
		history(e->history, &event, H_LOAD, file);
	el_set(e->line, EL_HIST, history, e->history);
}

static void close_history(struct editor *e)
{
	HistEvent event;
	const char *file = e->d->conf->history;

	if (file)
		history(e->history, &event, H_SAVE, file);
	history_end(e->history);
}

/* An empty line repeats the last command if that moves or lists. */
static struct str or_last(struct debugger *d, struct str typed)
{
	const struct verb *v;
	struct str rest = typed, word = argument_word(&rest);

	if (!word.n)
		return buf_view(&d->last_command);
	buf_clear(&d->last_command);
	if (!verb_find(word, &v, ERROR_IGNORED) && v->repeats)
		buf_str(&d->last_command, typed);
	return typed;
}

static int read_terminal(struct editor *e, struct error *err)
{
	struct debugger *d = e->d;
	HistEvent event;
	bool failed;
	int count, broken = 0;

	while (!broken && !d->quit) {
		const char *line = el_gets(e->line, &count);

		if (!line || count <= 0) {
			bool interrupted = d->conf->interrupted(d->conf->ctx);

			d->quit = !interrupted || !debugger_goes_on(d);
			broken = d->conf->print(d->conf->ctx, false, STR("\n"), err);
			continue;
		}
		struct str typed = text_trim((struct str){line, (size_t)count});
		if (typed.n)
			history(e->history, &event, H_ENTER, line);
		broken = run_and_print(d, or_last(d, typed), &failed, err);
		d->quit = d->quit || !debugger_goes_on(d);
	}
	return broken;
}

static int edit_lines(struct debugger *d, struct error *err)
{
	struct editor e = {.d = d, .common = BUF(BUF_MAX_SMALL), .shown = BUF(BUF_MAX_MESSAGE)};

	e.line = el_init("rolldbg", stdin, stdout, stderr);
	if (!e.line)
		return error_set(err, FAIL_SYSTEM, "cannot use the terminal");
	el_set(e.line, EL_CLIENTDATA, &e);
	el_set(e.line, EL_PROMPT, prompt_of);
	el_set(e.line, EL_EDITOR, "emacs");
	el_set(e.line, EL_ADDFN, "complete", "complete the word", complete);
	el_set(e.line, EL_BIND, "^I", "complete", NULL);
	open_history(&e);
	int broken = read_terminal(&e, err);
	close_history(&e);
	el_end(e.line);
	BUFS_RELEASE(&e.common, &e.shown);
	return broken;
}

int lines_read(struct debugger *d, bool *failed, struct error *err)
{
	return d->conf->terminal ? edit_lines(d, err) : read_pipe(d, failed, err);
}
