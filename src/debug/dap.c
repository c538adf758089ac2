/* The Debug Adapter Protocol (microsoft.github.io/debug-adapter-protocol): what editors speak. One
   thread; the steps of the rollout up to here are its frames, the facts of a step are scopes, and JSON
   values unfold. Breakpoints are function breakpoints, whose names are expressions, and data
   breakpoints, which watch a member of the state. */
#include "debug/debugger.h"

#include "base/mem.h"
#include "base/text.h"
#include "debug/dap_values.h"
#include "debug/dap_wire.h"

#include <stdlib.h>

#define FRAMES_MAX 20 /* of one answer without `levels` */

struct dap {
	struct debugger *d;
	struct dap_values values;
	struct dap_wire wire;
	bool leaves;
	const char *stopped; /* the reason of the event that follows the answer; NULL: none */
};

typedef int handler_fn(struct dap *p, const struct dap_request *q, struct json_writer *w,
                       struct error *err);

static int send_output(struct dap *p, struct str text, struct error *err)
{
	struct json_writer w;

	if (!text.n) {
		return 0;
	}
	w = dap_begin_event(&p->wire, "output");
	jw_key(&w, "category");
	jw_text(&w, "console");
	jw_key(&w, "output");
	jw_str(&w, text);
	return dap_end_event(&p->wire, &w, err);
}

/* ---- the session ---- */

/* A command as one would type it; what it prints goes to the client's console. */
static int run_line(struct dap *p, const char *line, struct error *err)
{
	struct error unwritten;

	buf_clear(&p->d->out);
	int failed = line_run(p->d, str_from(line), err);
	p->d->conf->spell(p->d->out.p, p->d->out.n);
	struct buf text = BUF(SIZE_MAX / 2);
	buf_str(&text, buf_view(&p->d->out));
	if (send_output(p, buf_view(&text), &unwritten)) {
		p->leaves = true;
	}
	buf_release(&text);
	return failed;
}

static int move(struct dap *p, const char *line, const char *reason, struct error *err)
{
	if (run_line(p, line, err)) {
		return -1;
	}
	dap_values_forget(&p->values);
	p->stopped = strstr(p->d->out.p ? p->d->out.p : "", "reakpoint ")   ? "breakpoint"
	             : strstr(p->d->out.p ? p->d->out.p : "", "atchpoint ") ? "data breakpoint"
	                                                                    : reason;
	return 0;
}

static int on_initialize(struct dap *p, const struct dap_request *q, struct json_writer *w,
                         struct error *err)
{
	static const char *const can[] = {
		"supportsConfigurationDoneRequest", "supportsFunctionBreakpoints",
		"supportsConditionalBreakpoints",   "supportsStepBack",
		"supportsDataBreakpoints",          "supportsEvaluateForHovers",
		"supportsTerminateRequest"};

	(void)p;
	(void)q;
	(void)err;
	for (size_t i = 0; i < ARRAY_LEN(can); i++) {
		jw_key(w, can[i]);
		jw_bool(w, true);
	}
	return 0;
}

/* The recording or the environment was named when the program started. */
static int on_launch(struct dap *p, const struct dap_request *q, struct json_writer *w,
                     struct error *err)
{
	(void)p;
	(void)q;
	(void)w;
	(void)err;
	return 0;
}

static int on_configured(struct dap *p, const struct dap_request *q, struct json_writer *w,
                         struct error *err)
{
	(void)q;
	(void)w;
	(void)err;
	p->stopped = "entry";
	return 0;
}

static int on_threads(struct dap *p, const struct dap_request *q, struct json_writer *w,
                      struct error *err)
{
	(void)q;
	(void)err;
	jw_key(w, "threads");
	jw_array(w);
	jw_object(w);
	jw_key(w, "id");
	jw_i64(w, 1);
	jw_key(w, "name");
	jw_str(w, cursor_facts(p->d->cursor)->rollout);
	jw_end(w);
	jw_end(w);
	return 0;
}

static int64_t number_of(const struct dap_request *q, const char *key, int64_t otherwise)
{
	int64_t n;

	return json_i64(json_get(q->arguments, str_from(key)), &n) ? n : otherwise;
}

/* The step it stands on is the innermost frame; its source is the recording. */
static void write_frame(struct debugger *d, struct json_writer *w)
{
	struct buf title = BUF(BUF_MAX_SMALL);

	stop_title(&d->now, (struct style){.columns = 80}, &title);
	jw_object(w);
	jw_key(w, "id");
	jw_i64(w, d->now.position + 1);
	jw_key(w, "name");
	jw_str(w, text_trim(buf_view(&title)));
	jw_key(w, "line");
	jw_u64(w, d->now.number);
	jw_key(w, "column");
	jw_i64(w, 1);
	jw_key(w, "source");
	jw_object(w);
	jw_key(w, "name");
	jw_text(w, debugger_file(d));
	jw_key(w, "path");
	jw_text(w, debugger_file(d));
	jw_end(w);
	jw_end(w);
	buf_release(&title);
}

static int at_position(struct debugger *d, int64_t position, struct error *err)
{
	int got = cursor_go(d->cursor, position, err);

	debugger_refresh(d);
	return got < 0 ? -1 : 0;
}

static int on_stack(struct dap *p, const struct dap_request *q, struct json_writer *w,
                    struct error *err)
{
	struct debugger *d = p->d;
	int64_t here = d->now.position, first = here - number_of(q, "startFrame", 0);
	int64_t levels = number_of(q, "levels", FRAMES_MAX);
	int failed = 0;

	levels = levels > 0 && levels < FRAMES_MAX ? levels : FRAMES_MAX;
	jw_key(w, "totalFrames");
	jw_i64(w, here + 1);
	jw_key(w, "stackFrames");
	jw_array(w);
	for (int64_t at = first; at >= 0 && at > first - levels && !failed; at--) {
		failed = at_position(d, at, err);
		if (!failed) {
			write_frame(d, w);
		}
	}
	jw_end(w);
	return at_position(d, here, err) || failed ? -1 : 0;
}

static int on_scopes(struct dap *p, const struct dap_request *q, struct json_writer *w,
                     struct error *err)
{
	struct debugger *d = p->d;
	int64_t here = d->now.position, frame = number_of(q, "frameId", here + 1) - 1;
	struct known k;

	if (at_position(d, frame, err)) {
		return -1;
	}
	k = debugger_known(d);
	dap_values_scopes(&p->values, &k, frame, w);
	return at_position(d, here, err);
}

static int on_variables(struct dap *p, const struct dap_request *q, struct json_writer *w,
                        struct error *err)
{
	return dap_values_members(&p->values, number_of(q, "variablesReference", 0), w, err);
}

static int on_evaluate(struct dap *p, const struct dap_request *q, struct json_writer *w,
                       struct error *err)
{
	struct buf line = BUF(BUF_MAX_SMALL);
	struct str context = JSON_GET(q->arguments, "context");
	bool console = json_is(context, STR("repl"));

	buf_text(&line, console ? "" : "print ");
	json_decode(JSON_GET(q->arguments, "expression"), &line);
	buf_clear(&p->d->out);
	buf_clear(&p->d->value);
	p->d->moved = false;
	int failed = line_run(p->d, buf_view(&line), err);
	buf_release(&line);
	if (failed) {
		return -1;
	}
	struct buf text = BUF(SIZE_MAX / 2);
	p->d->conf->spell(p->d->out.p, p->d->out.n);
	buf_str(&text, p->d->value.n ? buf_view(&p->d->value) : buf_view(&p->d->out));
	if (p->d->moved) {
		dap_values_forget(&p->values);
		p->stopped = "step";
	}
	jw_key(w, "result");
	jw_str(w, text_trim(buf_view(&text)));
	jw_key(w, "variablesReference");
	jw_i64(w, dap_values_add(&p->values, buf_view(&p->d->value)));
	buf_release(&text);
	return 0;
}

/* ---- breakpoints ---- */

static void delete_points(struct debugger *d, enum point_kind kind)
{
	for (size_t i = d->points.count; i-- > 0;) {
		if (d->points.list[i]->kind == kind) {
			points_delete(&d->points, d->points.list[i]);
		}
	}
}

static void write_breakpoint(const struct point *one, const struct error *why,
                             struct json_writer *w)
{
	jw_object(w);
	jw_key(w, "verified");
	jw_bool(w, one != NULL);
	if (one) {
		jw_key(w, "id");
		jw_i64(w, one->number);
	} else {
		jw_key(w, "message");
		jw_text(w, why->text);
	}
	jw_end(w);
}

/* One of the request's list: what stands under `key`, with its condition. */
static void set_breakpoint(struct dap *p, struct str wanted, const char *key, enum point_kind kind,
                           struct json_writer *w)
{
	struct buf text = BUF(BUF_MAX_SMALL), condition = BUF(BUF_MAX_SMALL);
	struct points *points = &p->d->points;
	struct point *one = NULL;
	struct error why = {0};
	size_t at;

	json_decode(json_get(wanted, str_from(key)), &text);
	json_decode(JSON_GET(wanted, "condition"), &condition);
	int failed = kind == POINT_WATCH
	                     ? points_add_path(points, kind, buf_view(&text), &one, &at, &why)
	                     : points_add_break(points, kind, buf_view(&text), &one, &at, &why);
	if (!failed && point_set_condition(one, buf_view(&condition), &at, &why)) {
		points_delete(points, one);
		failed = -1;
	}
	write_breakpoint(failed ? NULL : one, &why, w);
	buf_release(&text);
	buf_release(&condition);
}

static void set_all(struct dap *p, const struct dap_request *q, const char *key,
                    enum point_kind kind, struct json_writer *w)
{
	struct str list = JSON_GET(q->arguments, "breakpoints"), one;

	delete_points(p->d, kind);
	jw_key(w, "breakpoints");
	jw_array(w);
	for (size_t cursor = 0; json_next(list, &cursor, &one);) {
		set_breakpoint(p, one, key, kind, w);
	}
	jw_end(w);
}

static int on_function_breakpoints(struct dap *p, const struct dap_request *q,
                                   struct json_writer *w, struct error *err)
{
	(void)err;
	set_all(p, q, "name", POINT_BREAK, w);
	return 0;
}

static int on_data_breakpoints(struct dap *p, const struct dap_request *q, struct json_writer *w,
                               struct error *err)
{
	(void)err;
	set_all(p, q, "dataId", POINT_WATCH, w);
	return 0;
}

/* A variable of the state can be watched by its pointer. */
static int on_data_info(struct dap *p, const struct dap_request *q, struct json_writer *w,
                        struct error *err)
{
	struct buf path = BUF(BUF_MAX_MESSAGE);

	(void)err;
	bool watched = dap_values_path(&p->values, number_of(q, "variablesReference", 0),
	                               JSON_GET(q->arguments, "name"), &path);
	jw_key(w, "dataId");
	jw_str(w, watched ? buf_view(&path) : STR_NONE);
	jw_key(w, "description");
	jw_str(w, watched ? buf_view(&path) : STR("only members of the state can be watched"));
	buf_release(&path);
	return 0;
}

/* Lines of a recording are steps: a breakpoint in a source stands on one. */
static int on_breakpoints(struct dap *p, const struct dap_request *q, struct json_writer *w,
                          struct error *err)
{
	struct str list = JSON_GET(q->arguments, "breakpoints"), one;

	(void)p;
	(void)err;
	jw_key(w, "breakpoints");
	jw_array(w);
	for (size_t cursor = 0; json_next(list, &cursor, &one);) {
		const struct error why = {
			.text = "use a function breakpoint, whose name is an expression"};

		write_breakpoint(NULL, &why, w);
	}
	jw_end(w);
	return 0;
}

/* ---- movements ---- */

#define MOVEMENT(name, line, reason)                                                               \
	static int on_##name(struct dap *p, const struct dap_request *q, struct json_writer *w,    \
	                     struct error *err)                                                    \
	{                                                                                          \
		(void)q;                                                                           \
		(void)w;                                                                           \
		return move(p, line, reason, err);                                                 \
	}
MOVEMENT(continue, "continue", "pause")
MOVEMENT(next, "next", "step")
MOVEMENT(step_in, "step", "step")
MOVEMENT(step_out, "finish", "step")
MOVEMENT(step_back, "reverse-step", "step")
MOVEMENT(reverse, "reverse-continue", "pause")
#undef MOVEMENT

static int on_leave(struct dap *p, const struct dap_request *q, struct json_writer *w,
                    struct error *err)
{
	(void)q;
	(void)w;
	(void)err;
	p->leaves = true;
	return 0;
}

/* ---- answering ---- */

static const struct {
	const char *command;
	handler_fn *answer;
} handlers[] = {
	{"initialize", on_initialize},
	{"launch", on_launch},
	{"attach", on_launch},
	{"configurationDone", on_configured},
	{"threads", on_threads},
	{"stackTrace", on_stack},
	{"scopes", on_scopes},
	{"variables", on_variables},
	{"evaluate", on_evaluate},
	{"setBreakpoints", on_breakpoints},
	{"setFunctionBreakpoints", on_function_breakpoints},
	{"setDataBreakpoints", on_data_breakpoints},
	{"dataBreakpointInfo", on_data_info},
	{"setExceptionBreakpoints", on_launch},
	{"continue", on_continue},
	{"next", on_next},
	{"stepIn", on_step_in},
	{"stepOut", on_step_out},
	{"stepBack", on_step_back},
	{"reverseContinue", on_reverse},
	{"pause", on_launch},
	{"disconnect", on_leave},
	{"terminate", on_leave},
};

static int answer(struct dap *p, const struct dap_request *q, struct json_writer *w,
                  struct error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(handlers); i++) {
		if (json_is(q->command, str_from(handlers[i].command))) {
			return handlers[i].answer(p, q, w, err);
		}
	}
	return error_set(err, FAIL_INPUT, "the request %.*s is not supported", STR_ARG(q->command));
}

static int send_stopped(struct dap *p, struct error *err)
{
	struct json_writer w = dap_begin_event(&p->wire, "stopped");

	jw_key(&w, "reason");
	jw_text(&w, p->stopped);
	jw_key(&w, "threadId");
	jw_i64(&w, 1);
	jw_key(&w, "allThreadsStopped");
	jw_bool(&w, true);
	p->stopped = NULL;
	return dap_end_event(&p->wire, &w, err);
}

/* What follows an answer: initialized, stopped. */
static int send_events(struct dap *p, const struct dap_request *q, struct error *err)
{
	if (json_is(q->command, STR("initialize"))) {
		struct json_writer w = dap_begin_event(&p->wire, "initialized");

		return dap_end_event(&p->wire, &w, err);
	}
	return p->stopped ? send_stopped(p, err) : 0;
}

static int respond(struct dap *p, const struct dap_request *q, struct error *err)
{
	struct buf body = BUF(SIZE_MAX / 2);
	struct json_writer inner, w;
	struct error why = {0};

	p->stopped = NULL;
	jw_init(&inner, &body);
	jw_object(&inner);
	int failed = answer(p, q, &inner, &why);
	w = dap_begin(&p->wire, "response");
	jw_key(&w, "request_seq");
	jw_i64(&w, q->seq);
	jw_key(&w, "success");
	jw_bool(&w, !failed);
	jw_key(&w, "command");
	jw_raw(&w, q->command);
	if (failed) {
		jw_key(&w, "message");
		jw_text(&w, why.text);
	} else {
		jw_end(&inner);
		jw_key(&w, "body");
		jw_raw(&w, buf_view(&body));
	}
	jw_end(&w);
	buf_release(&body);
	return dap_send(&p->wire, err) || send_events(p, q, err) ? -1 : 0;
}

int dap_serve(struct debugger *d, struct error *err)
{
	struct dap p = {.d = d};
	struct dap_request q;
	bool any = true;
	int failed = 0;

	dap_wire_init(&p.wire, d->conf);
	while (!p.leaves && any && !failed) {
		failed = dap_read(&p.wire, &q, &any, err);
		if (!failed && any) {
			failed = respond(&p, &q, err);
		}
	}
	dap_values_release(&p.values);
	dap_wire_release(&p.wire);
	return failed;
}
