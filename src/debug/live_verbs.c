/* The verbs that send calls: call, edit, rerun-to, fork, kill. */
#include "base/mem.h"
#include "base/text.h"
#include "debug/cursor.h"
#include "debug/debugger.h"
#include "debug/live.h"
#include "env/state_source.h"
#include "json/write.h"
#include "policy/call_text.h"
#include "policy/tool_set.h"
#include "report/changes.h"

#define DIFFERENCES_SHOWN 10

/* ---- repeats the beginning of a recorded rollout ---- */

struct prefix {
	struct live_request request; /* repeats the rollout with all its calls */
	int64_t steps;               /* how many of the calls are in the prefix */
	bool has_seed;
	int64_t unknown; /* states that could not be compared */
	struct json_paths *ignored;
};

/* ---- its calls ---- */

struct calls {
	struct json_writer w;
	int64_t until; /* last position */
	int64_t sent;  /* calls up to there */
	bool ended;    /* the last call ended the episode */
};

static int add_call(void *ctx, const struct moment *m, struct error *err)
{
	struct calls *c = ctx;
	struct str call = m->line->value[KEY_TOOL_CALL], arguments = JSON_GET(call, "arguments");

	if (m->line->step < 0 || json_type(JSON_GET(call, "name")) != JSON_STRING)
		return 0;
	jw_pack(&c->w, "{name:%r,arguments:%r}", JSON_GET(call, "name"),
	        json_type(arguments) == JSON_OBJECT ? arguments : STR("{}"));
	if (m->position <= c->until) {
		c->sent++;
		c->ended = m->line->terminated > 0 || m->line->truncated > 0;
	}
	return 0;
}

static int read_calls(struct prefix *p, struct cursor *c, int64_t position, struct error *err)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	struct calls calls = {.until = position};

	calls.w = jw_form(&text, "[");
	int got = cursor_search(c, false, add_call, &calls, err);
	jw_end(&calls.w);
	if (got >= 0 && text.full)
		got = error_set(err, FAIL_INPUT, "the calls of this rollout exceed 64 MiB");
	p->request.calls = arena_str(&p->request.arena, buf_view(&text));
	p->steps = calls.sent;
	p->request.parent_ended = calls.ended;
	return got < 0 ? -1 : 0;
}

/* ---- its header ---- */

static void take_header(struct prefix *p, const struct cursor_facts *f, const char *file, bool fork)
{
	struct live_request *q = &p->request;
	struct str task = f->header.value[KEY_TASK], reset = JSON_GET(task, "reset");
	AUTO_BUF state = BUF(BUF_MAX_MESSAGE);

	state_source_spell(f->header.value[KEY_STATE_SOURCE], &state);
	q->state = arena_str(&p->request.arena, buf_view(&state));
	q->again = true;
	p->has_seed = q->has_seed = json_i64(f->header.value[KEY_SEED], &q->seed);
	q->reset = json_type(reset) == JSON_OBJECT ? arena_str(&p->request.arena, reset) : STR_NONE;
	q->task = json_text(&p->request.arena, JSON_GET(task, "id")).p;
	q->sample = line_count(f->header.value[KEY_SAMPLE]);
	q->sample = q->sample < 0 ? 0 : q->sample;
	q->parent = fork ? arena_str(&p->request.arena, f->rollout) : STR_NONE;
	q->parent_steps = p->steps;
	q->parent_file = fork ? arena_str(&p->request.arena, str_from(file)).p : NULL;
	p->ignored = changes_ignored(&f->header);
}

/* Reads the steps of the cursor's rollout up to and including that position. *parent: a second
   cursor on it, for prefix_compare. `file`: the recording's name in a fork's header. FAIL_INPUT. */
static int prefix_read(struct prefix *p, const struct cursor *c, int64_t position, bool fork,
                       const char *file, struct cursor **parent, struct error *err)
{
	const struct cursor_facts *f = cursor_facts(c);
	const struct cursor_conf conf = {.path = f->path, .rollout = f->name};

	if (cursor_open(&conf, parent, err) || read_calls(p, *parent, position, err))
		return -1;
	take_header(p, cursor_facts(*parent), file, fork);
	return 0;
}

/* ---- comparing states ---- */

/* Compares `state` with the recorded state before step N (or after the last one). If they differ,
   *same is false, and the differences are appended. */
static int prefix_compare(struct prefix *p, struct cursor *parent, int64_t step, struct str state,
                          struct buf *out, bool *same, struct error *err)
{
	AUTO_BUF differences = BUF(BUF_MAX_MESSAGE);
	int got = step ? cursor_find(parent, false, step - 1, err) : cursor_go(parent, 0, err);
	struct str recorded = got > 0 ? cursor_now(parent)->after : STR_NONE;

	if (got < 0)
		return -1;
	if (json_is_null(recorded) || json_is_null(state)) {
		p->unknown++;
		return 0;
	}
	changes_list(&differences, recorded, state, p->ignored, DIFFERENCES_SHOWN);
	*same = !differences.n;
	if (!*same) {
		buf_printf(out,
		           "the state %s step %lld differs from the recording (recorded -> now):\n",
		           step < p->steps ? "before" : "after",
		           (long long)(step < p->steps ? step : step - 1));
		buf_str(out, buf_view(&differences));
	}
	return 0;
}

static int need_live(struct debugger *d, struct error *err)
{
	if (debugger_mode(d) != MODE_REC)
		return 0;
	if (d->live && !live_is_over(d->live)) {
		return error_set(err, FAIL_USAGE,
		                 "this is a recorded step; go to the newest one first: goto end");
	}
	return error_set(err, FAIL_USAGE,
	                 d->live ? "the session has ended; start another one with: fork"
	                         : "no live session; start one with: fork");
}

/* ---- beginning a session ---- */

/* Starts a session and stops before its first call. A rollout that ends earlier is recorded as
   well, unless the options were wrong. */
static int begin(struct debugger *d, struct live_request *q, struct error *err)
{
	struct live *before = d->live; /* the cursor may still use it */

	if (before)
		live_end(before, false);
	if (live_start(d->conf->target, q, &d->live, err))
		return -1;
	(void)debugger_wait(d);
	if ((live_is_over(d->live) && live_failure(d->live, err)) ||
	    debugger_open(d, live_path(d->live), NULL, err)) {
		live_free(d->live);
		d->live = before;
		return -1;
	}
	live_free(before);
	return debugger_to_newest(d, err);
}

int live_session_begin(struct debugger *d, struct error *err)
{
	struct live_request as_options_say = {.again = false};

	return begin(d, &as_options_say, err);
}

/* ---- the proposed call ---- */

static int check_json(struct debugger *d, struct str json, struct error *err)
{
	struct json_fault fault;

	if (json_validate(json, &fault)) {
		d->column = fault.at;
		return error_set(err, FAIL_USAGE, "the arguments are not JSON: %s", fault.why);
	}
	return json_type(json) == JSON_OBJECT
	               ? 0
	               : error_set(err, FAIL_USAGE,
	                           "the arguments must be a JSON object: {\"name\": value}");
}

/* Only warns, because users may want to send an invalid call. */
static void warn_mismatch(struct debugger *d, struct str name, struct str json)
{
	struct str tools = cursor_facts(d->cursor)->header.value[KEY_TOOLS];
	struct error why;

	if (tool_require(tools, name, &why) ||
	    tool_check_arguments(tool_find(tools, name), json, &why)) {
		buf_text(&d->out, "warning: ");
		text_escape_line(&d->out, str_from(why.text));
	}
}

/* Replaces the proposed call by the user's. */
static int propose(struct debugger *d, struct str name, struct str json, struct error *err)
{
	size_t at = json.n ? 0 : SIZE_MAX;

	json = json.n ? json : STR("{}");
	if (check_json(d, json, err)) {
		d->column += at || d->column == SIZE_MAX ? 0 : name.n + 1;
		return -1;
	}
	warn_mismatch(d, name, json);
	live_edit(d->live, name, json);
	return 0;
}

/* NAME key=value .. */
static int propose_text(struct debugger *d, struct str text, struct error *err)
{
	struct policy_conf conf = {.tools = cursor_facts(d->cursor)->header.value[KEY_TOOLS],
	                           .force_call = true};
	struct script_call call = {.name = STR_NONE};
	AUTO_ARENA arena = {0};

	return call_text_read(&conf, arena_str(&arena, text).p, &arena, &call, err) ||
	       propose(d, call.name, call.arguments, err);
}

int verb_call(struct debugger *d, int how, struct str arguments, struct error *err)
{
	struct str rest = arguments, name = argument_word(&rest);

	if (need_live(d, err))
		return -1;
	if (!name.n)
		return error_set(err, FAIL_USAGE, "which tool? 'tools' lists them");
	bool json = !rest.n || rest.p[0] == '{';
	int failed = json ? propose(d, name, rest, err) : propose_text(d, arguments, err);
	return failed || verb_step(d, TRAVEL_STEPS, STR(""), err) ? -1 : 0;
}

int verb_edit(struct debugger *d, int how, struct str arguments, struct error *err)
{
	struct str rest = text_trim(arguments), name = STR_NONE;

	if (need_live(d, err))
		return -1;
	if (rest.n && rest.p[0] != '{')
		name = argument_word(&rest);
	if (!name.n && live_proposal(d->live)->kind != PROPOSAL_CALL) {
		return error_set(err, FAIL_USAGE,
		                 "no call is proposed; name a tool: edit NAME JSON");
	}
	if (!rest.n) {
		return error_set(err, FAIL_USAGE,
		                 "the new arguments are missing: edit JSON, or edit NAME JSON");
	}
	AUTO_BUF kept = BUF(BUF_MAX_MESSAGE);
	buf_str(&kept, name.n ? name : live_proposal(d->live)->name);
	if (propose(d, buf_view(&kept), rest, err))
		return -1;
	stop_proposal(d);
	return 0;
}

int live_session_report(struct debugger *d, struct error *err)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	live_ending(d->live, &text);
	buf_text(&d->out, "the session has ended: ");
	text_escape_line(&d->out, buf_view(&text));
	int failed = verb_backtrace(d, 0, STR(""), err);
	text_put_path(&d->out, "recorded", live_path(d->live));
	return failed;
}

int verb_kill(struct debugger *d, int how, struct str arguments, struct error *err)
{
	if (!d->live || live_is_over(d->live))
		return error_set(err, FAIL_USAGE, "no live session");
	live_end(d->live, d->stopped);
	return debugger_to_newest(d, err) || live_session_report(d, err) ? -1 : 0;
}

/* ---- running a prefix again ---- */

static void warn_unseeded(struct debugger *d, const struct prefix *p)
{
	if (!live_is_seeded(d->live)) {
		buf_printf(&d->out, "warning: %s; the new session may start in another state\n",
		           p->has_seed ? "the environment does not accept a seed"
		                       : "the recording has no seed");
	}
}

/* Sends the calls of the prefix one by one while the states match the recorded ones. */
static int run_prefix(struct debugger *d, struct prefix *p, struct cursor *parent, bool *same,
                      struct error *err)
{
	*same = true;
	for (int64_t step = 0; *same; step++) {
		if (prefix_compare(p, parent, step, d->now.after, &d->out, same, err))
			return -1;
		if (!*same && d->forked)
			live_note_divergence(d->live, step);
		if (!*same || step == p->steps)
			break;
		if (live_is_over(d->live)) {
			buf_printf(&d->out, "The session ended before step %lld.\n",
			           (long long)step);
			*same = false;
			break;
		}
		live_go(d->live);
		(void)debugger_wait(d);
		if (debugger_to_newest(d, err))
			return -1;
	}
	return 0;
}

static void report_prefix(struct debugger *d, const struct prefix *p, bool same)
{
	if (!same) {
		buf_printf(&d->out, "The new session differs from the recording; it stays live "
		                    "where it differs.\n");
	} else if (p->unknown) {
		buf_printf(&d->out,
		           "%lld step%s repeated; %lld of %lld states are unknown and could not be "
		           "compared\n",
		           (long long)p->steps, plural(p->steps), (long long)p->unknown,
		           (long long)p->steps + 1);
	} else {
		buf_printf(&d->out, "%lld step%s repeated; every state matches the recording\n",
		           (long long)p->steps, plural(p->steps));
	}
}

/* how: as a fork */
int verb_rerun_to(struct debugger *d, int how, struct str arguments, struct error *err)
{
	bool fork = how;
	struct prefix p = {.steps = -1};
	struct cursor *parent = NULL;
	bool turn, same = true;

	if (!d->conf->target) {
		return error_set(err, FAIL_USAGE,
		                 "no environment: start debug with \1env\2 TARGET");
	}
	if (text_trim(arguments).n && (argument_place(arguments, &turn, &p.steps, err) ||
	                               go_to_place(d, turn, p.steps, err))) {
		return -1;
	}
	int failed =
		prefix_read(&p, d->cursor, d->now.position, fork, debugger_file(d), &parent, err);
	if (failed) {
		arena_release(&p.request.arena);
	} else {
		d->forked = fork;
		failed = begin(d, &p.request, err);
	}
	if (!failed) {
		warn_unseeded(d, &p);
		failed = run_prefix(d, &p, parent, &same, err);
	}
	if (!failed) {
		d->diverged = d->diverged || !same;
		report_prefix(d, &p, same);
		text_put_path(&d->out, "recording", live_path(d->live));
		d->moved = true;
		stop_print(d);
	}
	json_paths_free(p.ignored);
	cursor_close(parent);
	return failed ? -1 : 0;
}
