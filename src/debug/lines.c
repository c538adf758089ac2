/* Reads commands: see debugger.h. The only file that includes libedit, which is only loaded
   for a terminal: linking it would make the start of every command a tenth slower. */

#include "debug/debugger.h"

#include "base/library.h"
#include "base/mem.h"
#include "base/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <histedit.h>

#define LINE_MAX_BYTES ((size_t)1 << 20)
#define HISTORY_LINES  1000
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
		if (n < 0) {
			break;
		}
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

struct edit_library {
	void *handle;
	__typeof__(el_init) *init;
	__typeof__(el_set) *set;
	__typeof__(el_get) *get;
	__typeof__(el_gets) *read;
	__typeof__(el_line) *line;
	__typeof__(el_insertstr) *insert;
	__typeof__(el_end) *end;
	__typeof__(history_init) *history_init;
	__typeof__(history) *history;
	__typeof__(history_end) *history_end;
};

#define FUNCTION(member, name) {offsetof(struct edit_library, member), name}
static const struct library_function functions[] = {
	FUNCTION(init, "el_init"),    FUNCTION(set, "el_set"),
	FUNCTION(get, "el_get"),      FUNCTION(read, "el_gets"),
	FUNCTION(line, "el_line"),    FUNCTION(insert, "el_insertstr"),
	FUNCTION(end, "el_end"),      FUNCTION(history_init, "history_init"),
	FUNCTION(history, "history"), FUNCTION(history_end, "history_end"),
};

static int load(struct edit_library *l, struct error *err)
{
	l->handle = library_load("libedit.so.2", functions, ARRAY_LEN(functions), l,
	                         "read commands from a terminal", err);
	return l->handle ? 0 : -1;
}

struct editor {
	struct edit_library library;
	struct debugger *d;
	EditLine *line;
	History *history;
	char prompt[16];
	struct buf common; /* common prefix of all candidates */
	struct buf shown;  /* the candidates, wrapped to the terminal's width */
	size_t candidates, cells;
};

/* Callbacks only get the line; the library, which is loaded by then, stores the editor. */
static struct editor *editor_of(EditLine *line)
{
	struct editor *e = NULL;
	struct edit_library l;
	struct error unused;

	if (load(&l, &unused) == 0) {
		l.get(line, EL_CLIENTDATA, &e);
		dlclose(l.handle);
	}
	return e;
}

static char *prompt_of(EditLine *line)
{
	struct editor *e = editor_of(line);

	snprintf(e->prompt, sizeof(e->prompt), "(%s) ", debug_mode_name(debugger_mode(e->d)));
	return e->prompt;
}

static void take_candidate(void *ctx, struct str candidate)
{
	struct editor *e = ctx;
	size_t n = 0;

	if (!e->candidates++) {
		buf_clear(&e->common);
		buf_str(&e->common, candidate);
	}
	while (n < candidate.n && n < e->common.n && candidate.p[n] == e->common.p[n]) {
		n++;
	}
	buf_cut(&e->common, n);
	if (e->candidates <= SHOWN_MAX) {
		size_t cells = text_cells(candidate) + 2;
		bool fits = e->cells + cells < e->d->conf->style.columns;

		buf_text(&e->shown, !e->cells || fits ? "  " : "\n  ");
		text_escape(&e->shown, candidate);
		e->cells = fits ? e->cells + cells : cells;
	}
}

static size_t last_word(struct str line)
{
	size_t n = 0;

	while (n < line.n && line.p[line.n - 1 - n] != ' ') {
		n++;
	}
	return n;
}

/* The Tab key: inserts the common prefix of all candidates, or lists them. */
static unsigned char complete(EditLine *line, int key)
{
	struct editor *e = editor_of(line);
	const LineInfo *info = e->library.line(line);
	struct str typed = {info->buffer, (size_t)(info->cursor - info->buffer)};
	size_t word = last_word(typed);

	(void)key;
	e->candidates = e->cells = 0;
	buf_clear(&e->shown);
	complete_line(e->d, typed, take_candidate, e);
	if (!e->candidates) {
		return CC_ERROR;
	}
	if (e->candidates == 1) {
		buf_char(&e->common, ' ');
	}
	if (e->common.n > word) {
		return e->library.insert(line, buf_cstr(&e->common) + word) ? CC_ERROR : CC_REFRESH;
	}
	printf("\n%s\n", buf_cstr(&e->shown));
	fflush(stdout);
	return CC_REDISPLAY;
}

static void open_history(struct editor *e)
{
	HistEvent event;
	const struct edit_library *l = &e->library;
	const char *file = e->d->conf->history;

	e->history = l->history_init();
	l->history(e->history, &event, H_SETSIZE, HISTORY_LINES);
	l->history(e->history, &event, H_SETUNIQUE, 1);
	if (file) {
		l->history(e->history, &event, H_LOAD, file);
	}
	l->set(e->line, EL_HIST, l->history, e->history);
}

static void close_history(struct editor *e)
{
	HistEvent event;
	const char *file = e->d->conf->history;

	if (file) {
		e->library.history(e->history, &event, H_SAVE, file);
	}
	e->library.history_end(e->history);
}

/* An empty line repeats the last command if that moves or lists. */
static struct str or_last(struct debugger *d, struct str typed)
{
	const struct verb *v;
	struct error unused;
	struct str rest = typed, word = argument_word(&rest);

	if (!word.n) {
		return buf_view(&d->last_command);
	}
	buf_clear(&d->last_command);
	if (!verb_find(word, &v, &unused) && v->repeats) {
		buf_str(&d->last_command, typed);
	}
	return typed;
}

static int read_terminal(struct editor *e, struct error *err)
{
	struct debugger *d = e->d;
	HistEvent event;
	bool failed;
	int count, broken = 0;

	while (!broken && !d->quit) {
		const char *line = e->library.read(e->line, &count);

		if (!line || count <= 0) {
			bool interrupted = d->conf->interrupted(d->conf->ctx);

			d->quit = !interrupted || !debugger_goes_on(d);
			broken = d->conf->print(d->conf->ctx, false, STR("\n"), err);
			continue;
		}
		struct str typed = text_trim((struct str){line, (size_t)count});
		if (typed.n) {
			e->library.history(e->history, &event, H_ENTER, line);
		}
		broken = run_and_print(d, or_last(d, typed), &failed, err);
		d->quit = d->quit || !debugger_goes_on(d);
	}
	return broken;
}

static int edit_lines(struct debugger *d, struct error *err)
{
	struct editor e = {.d = d, .common = BUF(BUF_MAX_SMALL), .shown = BUF(BUF_MAX_MESSAGE)};

	const struct edit_library *l = &e.library;

	if (load(&e.library, err)) {
		return -1;
	}
	e.line = l->init("rolldbg", stdin, stdout, stderr);
	if (!e.line) {
		return error_set(err, FAIL_SYSTEM, "cannot use the terminal");
	}
	l->set(e.line, EL_CLIENTDATA, &e);
	l->set(e.line, EL_PROMPT, prompt_of);
	l->set(e.line, EL_EDITOR, "emacs");
	l->set(e.line, EL_ADDFN, "complete", "complete the word", complete);
	l->set(e.line, EL_BIND, "^I", "complete", NULL);
	open_history(&e);
	int broken = read_terminal(&e, err);
	close_history(&e);
	l->end(e.line); /* the library stays: it keeps what it allocated for the terminal */
	buf_release(&e.common);
	buf_release(&e.shown);
	return broken;
}

int lines_read(struct debugger *d, bool *failed, struct error *err)
{
	return d->conf->terminal ? edit_lines(d, err) : read_pipe(d, failed, err);
}
