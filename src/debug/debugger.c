/* A debugging session: the current step and the facts about it. See debugger.h. */
#include "debug/debugger.h"

#include "base/mem.h"
#include "check/judge.h"
#include "debug/cursor.h"
#include "json/write.h"
#include "recording/reader.h"
#include "report/changes.h"

#include <stdio.h>
#include <stdlib.h>

#define INTERRUPT_LINES 4096 /* lines between two polls of the signal */

const char *debug_mode_name(enum debug_mode m)
{
	static const char *const names[] = {
		[MODE_REC] = "rec", [MODE_LIVE] = "live", [MODE_FORK] = "fork"};

	return names[m];
}

enum debug_mode debugger_mode(const struct debugger *d)
{
	bool newest = d->cursor && d->now.position >= cursor_facts(d->cursor)->steps;

	if (!d->live || live_is_over(d->live) || !newest)
		return MODE_REC;
	return d->forked ? MODE_FORK : MODE_LIVE;
}

const char *debugger_file(const struct debugger *d)
{
	const char *path = cursor_facts(d->cursor)->path;

	return d->conf->path && !strcmp(path, d->conf->path) ? d->conf->name : path;
}

static bool finding_begins(void *ctx, struct str rule, const struct moment *m)
{
	const struct debugger *d = ctx;

	for (size_t i = 0; i < d->begin_count; i++) {
		const struct finding_begin *b = &d->begins[i];
		bool here = b->step >= 0   ? b->step == m->line->step
		            : b->turn >= 0 ? b->turn == m->line->turn
		                           : m->is_last;

		if (here && (!rule.n || str_is(rule, b->rule)))
			return true;
	}
	return false;
}

struct known debugger_known(struct debugger *d)
{
	return (struct known){.moment = &d->now, .begins = finding_begins, .ctx = d};
}

/* At the newest step of a live session, the state after it is known before it is recorded. */
static void add_live_state(struct debugger *d)
{
	const struct proposal *p = live_proposal(d->live);
	char hash[HASH_HEX + 1];

	if (p->state.p) {
		json_hash(p->state, d->ignored, &d->hashing, hash);
		snprintf(d->live_hash, sizeof(d->live_hash), "\"%s\"", hash);
		d->now.after = p->state;
		d->now.after_hash = str_from(d->live_hash);
		d->now.effect = effect_between(line_state_hash(d->now.line), str_from(hash));
	}
	if (d->now.line->type != LINE_STEP)
		d->now.effect = EFFECT_UNKNOWN;
}

void debugger_refresh(struct debugger *d)
{
	d->now = *cursor_now(d->cursor);
	if (debugger_mode(d) != MODE_REC)
		add_live_state(d);
}

int debugger_to_newest(struct debugger *d, struct error *err)
{
	if (cursor_read_all(d->cursor, err) ||
	    cursor_go(d->cursor, cursor_facts(d->cursor)->steps, err) < 0) {
		return -1;
	}
	debugger_refresh(d);
	return 0;
}

static bool has_signal(const struct debugger *d)
{
	return d->conf->interrupted && d->conf->interrupted(d->conf->ctx);
}

bool debugger_is_interrupted(void *ctx)
{
	const struct debugger *d = ctx;

	return has_signal(d) || (d->client_asks_stop && d->client_asks_stop(d->client));
}

/* An interrupt ends a script without a terminal; otherwise the next command is read. */
static bool clear_interrupt(void *ctx)
{
	struct debugger *d = ctx;
	const struct debug_conf *c = d->conf;
	bool attended = !c->batch && (c->terminal || !d->scripted);

	if (!has_signal(d))
		return true; /* requested by the client */
	if (c->terminal) {
		/* after the ^C echoed by the terminal */
		/* the next output reports the print error */
		(void)!c->print(c->ctx, false, STR("\n"), ERROR_IGNORED);
	}
	d->stopped = !c->resume(c->ctx) || !attended || d->stopped;
	return !d->stopped;
}

bool debugger_goes_on(struct debugger *d)
{
	return !d->stopped && (!has_signal(d) || clear_interrupt(d));
}

bool debugger_wait(struct debugger *d)
{
	return live_wait(d->live, debugger_is_interrupted, clear_interrupt, d);
}

int debugger_open(struct debugger *d, const char *path, const char *rollout, struct error *err)
{
	struct cursor_conf conf = {
		.path = path, .rollout = rollout, .interrupted = debugger_is_interrupted, .ctx = d};
	struct cursor *opened;

	/* of its own recording; of any other file they are read */
	if (d->live && !rollout && !strcmp(path, live_path(d->live)))
		conf.effects = live_effects(d->live);
	if (cursor_open(&conf, &opened, err))
		return -1;
	cursor_close(d->cursor);
	d->cursor = opened;
	json_paths_free(d->ignored);
	d->ignored = changes_ignored(&cursor_facts(opened)->header);
	d->begins_known = false;
	d->begin_count = 0;
	d->listed = 0;
	debugger_refresh(d);
	return 0;
}

/* ---- findings ---- */

static void add_begin(struct debugger *d, const struct finding *f)
{
	d->begins = mem_resize(d->begins, d->begin_count + 1, sizeof(*d->begins));
	d->begins[d->begin_count++] = (struct finding_begin){f->rule, f->first_turn, f->first_step};
}

static void add_begins(void *user, const struct rollout_verdict *v)
{
	struct debugger *d = user;

	for (size_t i = 0; i < v->finding_count; i++)
		add_begin(d, &v->findings[i]);
}

/* Judges a rollout up to a step. The rules read the lines of all rollouts, since some compare them.
   After the last line, a synthetic end line carries the final state. */
struct step_judging {
	struct debugger *d;
	const struct moment *until; /* NULL: to the end of the rollout */
	judged_fn *take;
	void *user;
	struct judge *judge;
	uint64_t lines;
	bool given;
};

static void take_verdict(void *ctx, const struct rollout_verdict *v)
{
	struct step_judging *g = ctx;

	if (!g->given && v->rollout.p && str_is(v->rollout, cursor_facts(g->d->cursor)->name)) {
		g->given = true;
		g->take(g->user, v);
	}
}

/* Returns 1 after the last line to read. */
static int take_line(struct step_judging *g, const struct line *l, const struct reader_note *note,
                     struct error *err)
{
	if (g->until && note->offset >= g->until->end)
		return 1;
	if (++g->lines % INTERRUPT_LINES == 0 && debugger_is_interrupted(g->d))
		return error_set(err, FAIL_INTERRUPTED, "interrupted");
	return judge_line(g->judge, l, note, err) ? -1 : g->given;
}

static int read_lines(struct step_judging *g, const char *path, struct error *err)
{
	struct reader_note note;
	struct reader *r;
	struct line l;
	int more, done = 0;

	if (reader_open(path, &r, err))
		return -1;
	while (!done && (more = reader_next(r, &l, &note, err)) > 0)
		done = take_line(g, &l, &note, err);
	reader_close(r);
	return done < 0 || (!done && more < 0) ? -1 : 0;
}

/* Ends the rollout here, with this state. */
static int put_end(struct step_judging *g, struct error *err)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE), id = BUF(BUF_MAX_MESSAGE);
	struct line l;

	json_pack(&text, "{type:%t,rollout:%s,state:%r,state_hash:%r}", line_type_name(LINE_END),
	          cursor_facts(g->d->cursor)->rollout, g->until->after, g->until->after_hash);
	return line_parse(buf_view(&text), &id, &l, NULL, err) ||
	                       judge_line(g->judge, &l, NULL, err)
	               ? -1
	               : 0;
}

static int judge_until(struct debugger *d, const struct moment *until, judged_fn *take, void *user,
                       struct error *err)
{
	const char *path = cursor_facts(d->cursor)->path;
	struct step_judging g = {.d = d, .until = until, .take = take, .user = user};
	/* at `until`, the end is synthetic */
	const struct judge_conf rules = {
		.without = until ? "one-step-episode" : NULL, .verdict = take_verdict, .ctx = &g};

	if (judge_new(&rules, &g.judge, err))
		return -1;
	judge_many(g.judge);
	judge_file(g.judge, path);
	int failed = read_lines(&g, path, err);
	if (!failed && !g.given && until)
		failed = put_end(&g, err);
	else if (!failed && !g.given)
		judge_finish(g.judge);
	judge_free(g.judge);
	return failed ? -1 : 0;
}

int debugger_judge(struct debugger *d, struct error *err)
{
	if (d->begins_known)
		return 0;
	d->begin_count = 0;
	if (judge_until(d, NULL, add_begins, d, err))
		return -1;
	d->begins_known = true;
	return 0;
}

int debugger_findings(struct debugger *d, judged_fn *take, void *user, struct error *err)
{
	bool whole = d->now.is_last && (!d->live || live_is_over(d->live));

	return judge_until(d, whole ? NULL : &d->now, take, user, err);
}

static void add_new_rules(void *user, const struct rollout_verdict *v)
{
	struct debugger *d = user;
	const struct line *l = d->now.line;

	for (size_t i = 0; i < v->finding_count; i++) {
		struct finding now = {
			.rule = v->findings[i].rule, .first_turn = l->turn, .first_step = l->step};
		bool known = false;

		for (size_t k = 0; k < d->begin_count; k++)
			known = known || !strcmp(d->begins[k].rule, now.rule);
		if (!known)
			add_begin(d, &now);
	}
}

int debugger_note_new_findings(struct debugger *d, struct error *err)
{
	d->begins_known = false;
	return debugger_findings(d, add_new_rules, d, err);
}

/* ---- the session ---- */

static int open_first(struct debugger *d, struct error *err)
{
	const struct debug_conf *c = d->conf;

	if (c->path)
		return debugger_open(d, c->path, c->rollout, err);
	return live_session_begin(d, err);
}

/* Runs the commands of the options up to the first failure. */
static int run_scripts(struct debugger *d, bool *failed, struct error *err)
{
	const struct debug_conf *c = d->conf;
	AUTO_BUF line = BUF(BUF_MAX_SMALL);
	int broken = 0;

	d->scripted = true;
	for (size_t i = 0; i < c->file_count && !broken && !d->quit && !*failed; i++) {
		buf_clear(&line);
		buf_printf(&line, "source %s", c->files[i]);
		broken = run_and_print(d, buf_view(&line), failed, err);
		d->quit = !debugger_goes_on(d) || d->quit;
	}
	for (size_t i = 0; i < c->command_count && !broken && !d->quit && !*failed; i++) {
		broken = run_and_print(d, str_from(c->commands[i]), failed, err);
		d->quit = !debugger_goes_on(d) || d->quit;
	}
	d->scripted = false;
	return broken;
}

/* Prints the start position; in JSON, a reply without a command. */
static int print_start(struct debugger *d, struct error *err)
{
	bool failed;

	d->starting = true;
	return run_and_print(d, STR(""), &failed, err);
}

static int run(struct debugger *d, bool *failed, struct error *err)
{
	const struct debug_conf *c = d->conf;

	d->scripted = c->dap;
	if (c->dap) {
		if ((c->path && open_first(d, err)) || dap_serve(d, err))
			return -1;
	} else if (open_first(d, err) || (!c->quiet && print_start(d, err)) ||
	           run_scripts(d, failed, err)) {
		return -1;
	}
	if (!d->quit && !c->batch && !c->dap && lines_read(d, failed, err))
		return -1;
	bool unused, runs = d->live && !live_is_over(d->live);
	if (runs && c->dap)
		live_end(d->live, d->stopped);
	else if (runs && run_and_print(d, STR("kill"), &unused, err))
		return -1;
	return d->stopped ? error_set(err, FAIL_INTERRUPTED, "interrupted") : 0;
}

int debug_run(const struct debug_conf *conf, struct debug_result *result, struct error *err)
{
	struct debugger d = {.conf = conf,
	                     .out = BUF(SIZE_MAX / 2),
	                     .value = BUF(BUF_MAX_MESSAGE),
	                     .hashing = BUF(BUF_MAX_MESSAGE),
	                     .proposed = BUF(BUF_MAX_MESSAGE),
	                     .last_command = BUF(BUF_MAX_SMALL)};

	*result = (struct debug_result){.failed = false};
	int broken = run(&d, &result->failed, err);
	result->diverged = d.diverged;
	cursor_close(d.cursor);
	live_free(d.live);
	BUFS_RELEASE(&d.hashing, &d.proposed);
	json_paths_free(d.ignored);
	points_release(&d.points);
	free(d.begins);
	BUFS_RELEASE(&d.out, &d.value, &d.last_command);
	return broken;
}
