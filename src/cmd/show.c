/* rolldbg show: prints a recording as text. */
#include "base/mem.h"
#include "base/names.h"
#include "cmd/cmd.h"
#include "cmd/html_file.h"
#include "cmd/store/store.h"
#include "cmd/verdicts.h"
#include "evidence/effects_read.h"
#include "evidence/evidence.h"
#include "policy/llm/conversation.h"
#include "report/brief.h"
#include "report/tables.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the pager ---- */

/* On a terminal, long results are shown in the user's pager, as in git: ROLLDBG_PAGER, else PAGER,
   else less; no pager if that is empty or "cat", with --no-pager, or on a dumb terminal. Zeroed: none. */
struct pager {
	bool asked; /* pager_start was called */
	FILE *pipe; /* NULL: no pager */
	int terminal;
};

/* LESS and LV are set as by git: quit if everything fits on the screen, show colors, keep the text on the
   screen. The shell must survive an interrupt, because less does. */
static const char script[] = "trap : INT QUIT\n"
			     "LESS=${LESS-FRX} LV=${LV--c}\n"
			     "export LESS LV\n"
			     "%s\n"
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

static void ignore_signals(void)
{
	static const int signals[] = {SIGINT, SIGQUIT, SIGPIPE};
	struct sigaction action = {.sa_handler = SIG_IGN};

	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		sigaction(signals[i], &action, NULL);
}

/* Redirects standard output to the pager, which then also handles interrupts; only the first time. */
static int pager_start(struct pager *p, const struct context *c, struct error *err)
{
	const char *pager = p->asked ? NULL : pager_of(c);
	AUTO_BUF command = BUF(BUF_MAX_MESSAGE);

	p->asked = true;
	if (!pager)
		return 0;
	buf_printf(&command, script, pager);
	/* NOLINTNEXTLINE(cert-env33-c): a pager is a command of the user */
	p->pipe = popen(buf_cstr(&command), "we");
	if (!p->pipe)
		return error_errno(err, "cannot start the pager");
	ignore_signals();
	p->terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	dup2(fileno(p->pipe), STDOUT_FILENO);
	return 0;
}

static void pager_finish(struct pager *p)
{
	if (!p->pipe)
		return;
	dup2(p->terminal, STDOUT_FILENO);
	close(p->terminal);
	pclose(p->pipe); /* closes the pager's input, and waits for its end */
	p->pipe = NULL;
}

#define ROWS_AT_ONCE ((size_t)64 << 10) /* bytes */

#define OPTIONS show
#include "cmd/options/table.h"

/* One rollout's part of the table. Rows of the first unfinished rollout are printed immediately;
   those of later rollouts wait until all before them have ended. */
struct shown_rollout {
	struct table *table;
	struct buf waiting;
	bool ended;
	struct shown_rollout *next;
};

struct showing {
	const struct context *context;
	const struct show_options *opts;
	struct output out;
	struct evidence *facts;
	struct effects *effects;
	FILE *copy; /* of a recording that cannot be read twice; NULL: it can */
	struct pager pager;
	struct turn_view *turn;             /* for --turn */
	struct tables *rows;                /* for --json without it */
	struct shown_rollout *first, *last; /* in order of their first lines */
	uint64_t torn_line;                 /* 0: none */
	struct names ids;                   /* of the rollouts seen, for messages */
	struct buf chosen;
	size_t rollouts;
	int64_t last_turn; /* of the rollout shown; -1: none */
	bool found;
	bool any; /* a whole line was read */

	/* For --prompt: the hash over the messages so far, and the recorded one. */
	struct buf scratch;
	char hash[HASH_HEX + 1];
	bool wrong_hash;
};

static bool wanted(const struct showing *s, const struct line *l)
{
	return !s->opts->rollout || str_is(l->rollout, s->opts->rollout);
}

static void remember_id(struct showing *s, const struct line *l)
{
	if (l->type == LINE_HEADER) {
		s->rollouts++;
		names_add(&s->ids, l->rollout);
	}
}

static void take_prompt(struct showing *s, const struct line *l)
{
	int64_t turn = (int64_t)s->opts->turn.value;
	struct str hash = JSON_GET(l->value[KEY_LLM], "prompt_hash"), message;

	if (l->type == LINE_HEADER) {
		s->hash[0] = '\0';
		s->found = false;
		buf_clear(&s->chosen);
	}
	for (size_t cursor = 0; !s->found && prompt_next(l, turn, &cursor, &message);) {
		conversation_chain(message, &s->scratch, s->hash);
		if (s->opts->json) {
			buf_text(&s->chosen, s->chosen.n ? "," : "[");
			buf_str(&s->chosen, message);
		} else {
			report_message(message, s->context->style, &s->chosen);
		}
	}
	if (l->type == LINE_STEP && l->turn == turn && !s->found) {
		s->found = true;
		s->wrong_hash = hash.p && !json_is(hash, str_from(s->hash));
	}
}

/* ---- the table ---- */

static struct shown_rollout *add_rollout(struct showing *s)
{
	struct shown_rollout *one = mem_new(sizeof(*one));

	one->table = table_new(s->context->style, false);
	one->waiting = BUF(SIZE_MAX / 2); /* bounded by the size of the input */
	if (s->last)
		s->last->next = one;
	else
		s->first = one;
	s->last = one;
	return one;
}

static void drop_first(struct showing *s)
{
	struct shown_rollout *one = s->first;

	s->first = one->next;
	s->last = s->first ? s->last : NULL;
	table_free(one->table);
	buf_release(&one->waiting);
	free(one);
}

/* Called when the first rollout has ended: prints the rows of the next one, and so on. */
static void print_next(struct showing *s)
{
	while (s->first && s->first->ended) {
		drop_first(s);
		if (s->first) {
			buf_str(&s->out.text, buf_view(&s->first->waiting));
			buf_clear(&s->first->waiting);
		}
	}
}

static void take_rows(struct showing *s, const struct evidence_update *u)
{
	struct shown_rollout **mine = u->user;

	if (!*mine)
		*mine = add_rollout(s);
	table_line((*mine)->table, u, *mine == s->first ? &s->out.text : &(*mine)->waiting);
	if (u->end) {
		(*mine)->ended = true;
		print_next(s);
	}
}

static void take_facts(struct showing *s, const struct evidence_update *u)
{
	if (s->turn) {
		turn_view_line(s->turn, u, &s->chosen);
		s->found = turn_view_found(s->turn);
	} else {
		take_rows(s, u);
		s->found = true;
	}
}

static void finish_facts(struct showing *s)
{
	struct evidence_update u;

	while (evidence_end_next(s->facts, &u))
		take_facts(s, &u);
	if (s->torn_line && !s->turn) {
		buf_printf(&s->out.text, "   !  the last line is truncated (line %llu)\n",
		           (unsigned long long)s->torn_line);
		s->torn_line = 0;
	}
}

/* Returns -1 with FAIL_NONE if the reader of the output has closed its end. */
static int print_some(struct showing *s, struct error *err)
{
	if (s->out.text.n && pager_start(&s->pager, s->context, err))
		return -1;
	if (output_flush(&s->out, err))
		return -1;
	return s->out.closed ? error_set(err, FAIL_NONE, "the pager has exited") : 0;
}

static int show_line(void *ctx, const struct line *l, const struct reader_note *note,
                     struct error *err)
{
	struct showing *s = ctx;
	struct evidence_update u;

	if (note->torn) {
		s->torn_line = note->line;
		return 0;
	}
	s->any = true;
	remember_id(s, l);
	if (!wanted(s, l) || l->type == LINE_UNKNOWN)
		return 0;
	if (l->type == LINE_STEP)
		s->last_turn = l->turn > s->last_turn ? l->turn : s->last_turn;
	if (s->opts->prompt) {
		take_prompt(s, l);
		return 0;
	}
	if (evidence_end_unfinished(s->facts, l, &u))
		take_facts(s, &u);
	if (evidence_line(s->facts, l, note, &u, err))
		return -1;
	take_facts(s, &u);
	return s->out.text.n < ROWS_AT_ONCE ? 0 : print_some(s, err);
}

static int no_such_turn(const struct showing *s, struct error *err)
{
	char last[48] = "";

	if (s->last_turn >= 0)
		snprintf(last, sizeof(last), "; the last is turn %" PRId64, s->last_turn);
	return error_set(err, FAIL_USAGE, "the recording has no turn %" PRIu64 "%s",
	                 s->opts->turn.value, last);
}

static int finish(struct showing *s, const char *path, struct error *err)
{
	if (!s->any) {
		bool torn = s->torn_line;

		s->torn_line = 0; /* said by the error */
		return error_set(err, FAIL_INPUT, "%s: contains no recording%s", path,
		                 torn ? ", only a truncated line" : "");
	}
	finish_facts(s);
	if (s->opts->turn.given && !s->opts->rollout && s->rollouts > 1) {
		error_set(err, FAIL_USAGE,
		          "--turn requires --rollout ID: the recording has %zu rollouts",
		          s->rollouts);
		return names_suggest(err, STR_NONE, s->ids.text, s->ids.count);
	}
	if (!s->found && s->opts->rollout && !s->opts->turn.given) {
		error_set(err, FAIL_USAGE, "the recording has no rollout '%s'", s->opts->rollout);
		return names_suggest(err, str_from(s->opts->rollout), s->ids.text, s->ids.count);
	}
	if (!s->found && s->opts->turn.given)
		return no_such_turn(s, err);
	if (s->opts->prompt && !s->chosen.n) {
		return error_set(err, FAIL_INPUT,
		                 "turn %" PRIu64 " has no prompt: no messages were recorded",
		                 s->opts->turn.value);
	}
	if (s->opts->prompt && s->opts->json)
		buf_text(&s->chosen, "]\n");
	if (s->opts->raw || s->opts->json)
		buf_str(&s->out.text, buf_view(&s->chosen));
	else
		brief_base64(&s->out.text, buf_view(&s->chosen));
	if (print_some(s, err))
		return -1;
	return s->wrong_hash ? error_set(err, FAIL_INPUT,
	                                 "these messages are not the prompt the model was given: "
	                                 "the turn's prompt_hash differs (masked, edited, or "
	                                 "incomplete)")
	                     : 0;
}

static int check_options(const struct show_options *o, int argc, char **argv, struct error *err)
{
	if (argc > 1 && !o->html)
		return error_set(err, FAIL_USAGE, "unexpected operand '%s'", argv[1]);
	if (o->json && o->turn.given && !o->prompt) {
		return error_set(err, FAIL_USAGE,
		                 "--json prints all steps, without --turn; with --turn it requires "
		                 "--prompt");
	}
	return 0;
}

static int show_html(const struct context *c, const struct show_options *o, int argc, char **argv,
                     struct error *err)
{
	struct file_list files = {0};
	const struct html_job job = {
		.path = o->html, .command = "show", .rollout = o->rollout, .sides = {&files}};
	struct html_judge *h = NULL;
	size_t unusable = 0;
	int failed = check_options(o, argc, argv, err) ||
	             store_operands(c, argc, argv, &files, err) ||
	             html_judge_new(&job, false, &h, err) || html_judge_finish(h, &unusable, err);

	html_judge_free(h);
	file_list_free(&files);
	return failed ? -1 : unusable ? fail_exit_code(FAIL_INPUT) : 0;
}

/* ---- steps as JSON lines ---- */

static int take_step_line(void *ctx, const struct line *l, const struct reader_note *note,
                          struct error *err)
{
	struct showing *s = ctx;

	s->any = s->any || !note->torn;
	remember_id(s, l);
	if (!wanted(s, l) && !note->torn)
		return 0;
	s->found = s->found || !note->torn;
	return tables_line(s->rows, l, note, err) ? -1 : print_some(s, err);
}

static int show_steps(struct showing *s, const char *path, struct error *err)
{
	struct reader *r;

	s->rows = tables_new(TABLE_STEPS, TABLE_VALUES, &s->out.text);
	s->facts = evidence_new(&(struct evidence_conf){.lenient = true}); /* has no rollout */
	tables_file(s->rows, path);
	int failed = reader_open(path, &r, err) || reader_each(r, take_step_line, s, err);

	tables_file_end(s->rows);
	failed = failed || finish(s, path, err);
	if (!failed) {
		buf_printf(&s->out.text, "{\"type\":\"summary\",\"rollouts\":%zu,\"steps\":%zu}\n",
		           s->opts->rollout ? 1 : s->rollouts, tables_count(s->rows));
		failed = print_some(s, err);
	}
	return failed ? -1 : 0;
}

static int open_once(const struct showing *s, const char *path, struct reader **out,
                     struct error *err)
{
	if (!s->copy)
		return reader_open(path, out, err);
	rewind(s->copy);
	return reader_open_fd(fileno(s->copy), path, out, err);
}

/* The effects of steps are known when their rollout is over: the first pass finds them. */
static int open_twice(struct showing *s, const char *path, struct reader **out, struct error *err)
{
	/* incomplete recordings are shown as well */
	struct evidence_conf conf = {.user_size = sizeof(struct shown_rollout *), .lenient = true};
	struct reader *first;

	if (recording_copy(path, NULL, &s->copy, err) || open_once(s, path, &first, err))
		return -1;
	s->effects = effects_read(first, NULL);
	conf.effects = s->effects;
	s->facts = evidence_new(&conf);
	return open_once(s, path, out, err);
}

static int show_main(const struct context *c, const void *opts, int argc, char **argv,
                     struct error *err)
{
	struct showing s = {.context = c,
	                    .opts = opts,
	                    .last_turn = -1,
	                    .out = output_of_results(((const struct show_options *)opts)->json),
	                    .chosen = BUF(BUF_MAX_MESSAGE),
	                    .scratch = BUF(BUF_MAX_MESSAGE)};
	AUTO_BUF latest = BUF(BUF_MAX_SMALL);
	struct reader *r = NULL;

	if (s.opts->html)
		return show_html(c, opts, argc, argv, err);
	s.turn = s.opts->turn.given ? turn_view_new((int64_t)s.opts->turn.value, c->style) : NULL;
	int failed =
		check_options(opts, argc, argv, err) || (!argc && store_latest(c, &latest, err));

	if (!failed) {
		const char *path = argc ? argv[0] : buf_cstr(&latest);

		failed = s.opts->json && !s.opts->prompt
		                 ? show_steps(&s, path, err)
		                 : open_twice(&s, path, &r, err) ||
		                           reader_each(r, show_line, &s, err) ||
		                           finish(&s, path, err);
	}
	if (failed && s.facts && !s.out.closed) {
		finish_facts(&s);
		(void)!print_some(&s, ERROR_IGNORED); /* rows are printed before the error */
	}
	pager_finish(&s.pager);
	failed = failed && !s.out.closed;
	while (s.first)
		drop_first(&s);
	turn_view_free(s.turn);
	tables_free(s.rows);
	evidence_free(s.facts);
	effects_free(s.effects);
	if (s.copy)
		(void)fclose(s.copy);
	output_release(&s.out);
	names_release(&s.ids);
	BUFS_RELEASE(&s.chosen, &s.scratch);
	return failed ? -1 : 0;
}

CODE(show)
