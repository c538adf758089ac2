/* The Debug Adapter Protocol for editors (microsoft.github.io/debug-adapter-protocol).
   Single-threaded. The rollout's steps up to the current one are stack frames, the facts of a step
   are scopes, and JSON values are variables. A movement starts after the response to its request.
   While it runs, requests wait, but for threads, which editors need to show that it runs; pause, disconnect and
   terminate interrupt it. */
#include "debug/debugger.h"

#include "base/mem.h"
#include "base/text.h"
#include "debug/dap_wire.h"

#include <stdlib.h>

#define FRAMES_MAX 20 /* per response if `levels` is absent */
#define VALUES_MAX 100000

struct dap {
	struct debugger *d;
	/* the containers that were sent: the client refers to them by number, N is values[N - 1] */
	struct str *values; /* raw JSON, in the arena */
	size_t value_count;
	struct arena arena;
	struct dap_wire wire;
	bool leaves;
	const char *stopped; /* reason of the pending stopped event; NULL: none */
	/* what to start after the response: a command, or (begins) the live session */
	const char *movement, *reason;
	bool begins;
	bool paused; /* the client interrupted the movement */
};

/* Writes the members of a response's body. */
typedef int answer_fn(struct dap *p, const struct dap_request *q, struct json_writer *w,
                      struct error *err);
/* The same, if nothing can go wrong. */
typedef void write_fn(struct dap *p, const struct dap_request *q, struct json_writer *w);

static int send_output(struct dap *p, const char *category, struct str text, struct error *err)
{
	struct json_writer w;

	if (!text.n)
		return 0;
	w = dap_begin_event(&p->wire, "output");
	jw_pack(&w, "category:%t,output:%s", category, text);
	return dap_end_event(&p->wire, &w, err);
}

/* ---- why it stops ---- */

static void forget_stops(struct dap *p)
{
	p->d->points.hit = p->d->points.hit_watch = p->paused = false;
}

static void note_stop(struct dap *p, const char *reason)
{
	const struct points *points = &p->d->points;

	p->value_count = 0;
	arena_reset(&p->arena);
	p->stopped = points->hit_watch ? "data breakpoint"
	             : points->hit     ? "breakpoint"
	             : p->paused       ? "pause"
	                               : reason;
}

/* ---- the session ---- */

static void on_initialize(struct dap *p, const struct dap_request *q, struct json_writer *w)
{
	jw_pack(w, "supportsConfigurationDoneRequest:true,supportsFunctionBreakpoints:true,"
	           "supportsConditionalBreakpoints:true,supportsStepBack:true,"
	           "supportsEvaluateForHovers:true,supportsTerminateRequest:true");
}

static void on_configured(struct dap *p, const struct dap_request *q, struct json_writer *w)
{
	p->begins = !p->d->cursor;
	p->stopped = p->begins ? NULL : "entry";
}

static void on_threads(struct dap *p, const struct dap_request *q, struct json_writer *w)
{
	jw_pack(w, "threads:[{id:1,name:%s}]",
	        p->d->cursor ? cursor_facts(p->d->cursor)->rollout : STR("rollout"));
}

static int64_t number_of(const struct dap_request *q, const char *key, int64_t fallback)
{
	int64_t n;

	return json_i64(json_get(q->arguments, str_from(key)), &n) ? n : fallback;
}

/* The current step is the innermost frame; its source is the recording. */
static void write_frame(struct debugger *d, struct json_writer *w)
{
	AUTO_BUF title = BUF(BUF_MAX_SMALL);

	stop_title(&d->now, (struct style){.columns = 80}, &title);
	jw_pack(w, "{id:%i,name:%s,line:%i,column:1,source:{name:%t,path:%t}}", d->now.position + 1,
	        text_trim(buf_view(&title)), (int64_t)d->now.number, debugger_file(d),
	        debugger_file(d));
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
	jw_put_i64(w, "totalFrames", here + 1);
	jw_put_array(w, "stackFrames");
	for (int64_t at = first; at >= 0 && at > first - levels && !failed; at--) {
		failed = at_position(d, at, err);
		if (!failed)
			write_frame(d, w);
	}
	jw_end(w);
	return at_position(d, here, err) || failed ? -1 : 0;
}

/* ---- values ---- */

/* The number of a container; 0: the value has no members. */
static int64_t add_value(struct dap *p, struct str value)
{
	enum json_type type = json_type(value);
	bool container = type == JSON_OBJECT || type == JSON_ARRAY;

	if (!container || !json_count(value) || p->value_count == VALUES_MAX)
		return 0;
	p->values = mem_grow(p->values, p->value_count, sizeof(*p->values));
	p->values[p->value_count++] = arena_str(&p->arena, value);
	return (int64_t)p->value_count;
}

static void write_scope(struct dap *p, struct json_writer *w, const char *name, struct str value)
{
	jw_pack(w, "{name:%t,variablesReference:%i,expensive:false}", name, add_value(p, value));
}

/* The call with its result, and the state after and before it. */
static int on_scopes(struct dap *p, const struct dap_request *q, struct json_writer *w,
                     struct error *err)
{
	static const enum named_fact facts[] = {
		FACT_TURN,      FACT_STEP,        FACT_TOOL,       FACT_ARGUMENTS,  FACT_OUTCOME,
		FACT_ERROR,     FACT_REWARD,      FACT_EFFECT,     FACT_TERMINATED, FACT_TRUNCATED,
		FACT_ENV_STEPS, FACT_OBSERVATION, FACT_STRUCTURED, FACT_META,
	};
	struct debugger *d = p->d;
	int64_t here = d->now.position, frame = number_of(q, "frameId", here + 1) - 1;
	AUTO_BUF step = BUF(SIZE_MAX / 2);

	if (at_position(d, frame, err))
		return -1;
	const struct known k = debugger_known(d);
	struct json_writer inner = jw_begin(&step);
	for (size_t i = 0; i < ARRAY_LEN(facts); i++)
		jw_put_raw(&inner, named_facts[facts[i]].name, fact_value(facts[i], &k));
	jw_end(&inner);
	jw_put_array(w, "scopes");
	write_scope(p, w, "Step", buf_view(&step));
	write_scope(p, w, "State", fact_value(FACT_STATE, &k));
	write_scope(p, w, "State before", fact_value(FACT_BEFORE, &k));
	jw_end(w);
	return at_position(d, here, err);
}

static int on_variables(struct dap *p, const struct dap_request *q, struct json_writer *w,
                        struct error *err)
{
	int64_t number = number_of(q, "variablesReference", 0);
	AUTO_BUF name = BUF(BUF_MAX_MESSAGE);
	size_t cursor = 0, index = 0;
	struct json_member m;

	if (number < 1 || (size_t)number > p->value_count) {
		return error_set(err, FAIL_INPUT, "unknown variablesReference %lld",
		                 (long long)number);
	}
	const struct str of = p->values[number - 1];
	bool array = json_type(of) == JSON_ARRAY;
	jw_put_array(w, "variables");
	while (array ? json_next(of, &cursor, &m.value) : json_next_member(of, &cursor, &m)) {
		buf_clear(&name);
		if (array)
			buf_printf(&name, "%zu", index++);
		else
			json_decode_key(m.key, &name);
		jw_pack(w, "{name:%s,value:%s,type:%t,variablesReference:%i}", buf_view(&name),
		        m.value, json_type_name(json_type(m.value)), add_value(p, m.value));
	}
	jw_end(w);
	return 0;
}

static int on_evaluate(struct dap *p, const struct dap_request *q, struct json_writer *w,
                       struct error *err)
{
	AUTO_BUF line = BUF(BUF_MAX_SMALL);
	struct str context = JSON_GET(q->arguments, "context");
	bool console = json_is(context, STR("repl"));

	buf_text(&line, console ? "" : "print ");
	json_decode(JSON_GET(q->arguments, "expression"), &line);
	buf_clear(&p->d->out);
	buf_clear(&p->d->value);
	forget_stops(p);
	p->d->moved = false;
	int failed = run_command(p->d, buf_view(&line), err);
	if (failed)
		return -1;
	AUTO_BUF text = BUF(SIZE_MAX / 2);
	p->d->conf->spell(p->d->out.p, p->d->out.n);
	buf_str(&text, p->d->value.n ? buf_view(&p->d->value) : buf_view(&p->d->out));
	if (p->d->moved)
		note_stop(p, "step");
	jw_put_str(w, "result", text_trim(buf_view(&text)));
	jw_put_i64(w, "variablesReference", add_value(p, buf_view(&p->d->value)));
	return 0;
}

/* ---- breakpoints: function breakpoints, whose names are expressions ---- */

static void set_breakpoint(struct points *points, struct str wanted, struct json_writer *w)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL), condition = BUF(BUF_MAX_SMALL);
	struct point *one = NULL;
	struct error why = {0};
	size_t at;

	json_decode(JSON_GET(wanted, "name"), &text);
	json_decode(JSON_GET(wanted, "condition"), &condition);
	int failed = points_add_break(points, POINT_BREAK, buf_view(&text), &one, &at, &why);
	if (!failed && point_set_condition(one, buf_view(&condition), &at, &why)) {
		points_delete(points, one);
		failed = -1;
	}
	if (failed)
		jw_pack(w, "{verified:false,message:%t}", why.text);
	else
		jw_pack(w, "{verified:true,id:%d}", one->number);
}

/* Replaces all breakpoints by those of the request. */
static void on_function_breakpoints(struct dap *p, const struct dap_request *q,
                                    struct json_writer *w)
{
	struct str list = JSON_GET(q->arguments, "breakpoints"), one;
	struct points *points = &p->d->points;

	for (size_t i = points->count; i-- > 0;)
		if (points->list[i]->kind == POINT_BREAK)
			points_delete(points, points->list[i]);
	jw_put_array(w, "breakpoints");
	for (size_t cursor = 0; json_next(list, &cursor, &one);)
		set_breakpoint(points, one, w);
	jw_end(w);
}

/* Breakpoints on lines of source. */
static void on_breakpoints(struct dap *p, const struct dap_request *q, struct json_writer *w)
{
	struct str list = JSON_GET(q->arguments, "breakpoints"), one;

	jw_put_array(w, "breakpoints");
	for (size_t cursor = 0; json_next(list, &cursor, &one);)
		jw_pack(w, "{verified:false,message:'breakpoints on lines are not supported: set a "
		           "function breakpoint, whose name is an expression'}");
	jw_end(w);
}

/* ---- answering ---- */

/* When a request is accepted, in addition to while the rollout is stopped, and what it does. */
enum {
	EARLY = 1,  /* before the rollout has started */
	PAUSES = 2, /* interrupts a running movement */
	LEAVES = 4,
	AT_ONCE = 8, /* answered while the rollout runs */
};

/* There is nothing to do for launch and attach: the recording or the environment was given on the
   command line. */
static const struct handler {
	const char *command;
	unsigned flags;
	write_fn *write;
	answer_fn *answer;
	const char *movement, *reason; /* a command, and why it stops unless at a breakpoint */
} handlers[] = {
	{"initialize", EARLY, .write = on_initialize},
	{"launch", .flags = EARLY},
	{"attach", .flags = EARLY},
	{"configurationDone", EARLY, .write = on_configured},
	{"threads", EARLY | AT_ONCE, .write = on_threads},
	{"stackTrace", 0, .answer = on_stack},
	{"scopes", 0, .answer = on_scopes},
	{"variables", 0, .answer = on_variables},
	{"evaluate", 0, .answer = on_evaluate},
	{"setBreakpoints", EARLY, .write = on_breakpoints},
	{"setFunctionBreakpoints", EARLY, .write = on_function_breakpoints},
	{"setExceptionBreakpoints", .flags = EARLY},
	{"continue", 0, .movement = "continue", .reason = "pause"},
	{"next", 0, .movement = "next", .reason = "step"},
	{"stepIn", 0, .movement = "step", .reason = "step"},
	{"stepOut", 0, .movement = "finish", .reason = "step"},
	{"stepBack", 0, .movement = "reverse-step", .reason = "step"},
	{"reverseContinue", 0, .movement = "reverse-continue", .reason = "pause"},
	{"pause", .flags = EARLY | PAUSES},
	{"disconnect", .flags = EARLY | PAUSES | LEAVES},
	{"terminate", .flags = EARLY | PAUSES | LEAVES},
};

static const struct handler *handler_of(struct str command)
{
	for (size_t i = 0; i < ARRAY_LEN(handlers); i++)
		if (json_is(command, str_from(handlers[i].command)))
			return &handlers[i];
	return NULL;
}

static int answer(struct dap *p, const struct dap_request *q, struct json_writer *w,
                  struct error *err)
{
	const struct handler *h = handler_of(q->command);

	if (!h) {
		return error_set(err, FAIL_INPUT, "the request %.*s is not supported",
		                 STR_ARG(q->command));
	}
	if (!(h->flags & EARLY) && !p->d->cursor) {
		return error_set(err, FAIL_USAGE,
		                 "the rollout has not started: send configurationDone first");
	}
	p->leaves = p->leaves || h->flags & LEAVES;
	if (h->movement) {
		p->movement = h->movement;
		p->reason = h->reason;
	}
	if (h->write)
		h->write(p, q, w);
	return h->answer ? h->answer(p, q, w, err) : 0;
}

static int send_stopped(struct dap *p, struct error *err)
{
	struct json_writer w = dap_begin_event(&p->wire, "stopped");

	jw_pack(&w, "reason:%t,threadId:1,allThreadsStopped:true", p->stopped);
	p->stopped = NULL;
	return dap_end_event(&p->wire, &w, err);
}

/* Sends the response to a request. */
static int respond(struct dap *p, const struct dap_request *q, struct error *err)
{
	AUTO_BUF body = BUF(SIZE_MAX / 2);
	struct json_writer inner, w;
	struct error why = {0};

	inner = jw_begin(&body);
	int failed = answer(p, q, &inner, &why);
	w = dap_begin(&p->wire, "response");
	jw_pack(&w, "request_seq:%i,success:%b,command:%r", q->seq, !failed, q->command);
	if (failed) {
		jw_put_text(&w, "message", why.text);
	} else {
		jw_end(&inner);
		jw_put_raw(&w, "body", buf_view(&body));
	}
	jw_end(&w);
	return dap_send(&p->wire, err);
}

/* ---- while it runs ---- */

/* The requests stay queued, but for those that are answered at once. Malformed input and its end interrupt the
   movement, too. */
static bool client_asks_stop(void *ctx)
{
	struct dap *p = ctx;
	struct dap_request q;
	int found;
	bool before = p->paused, failed = false;

	while ((found = dap_look_ahead(&p->wire, &q, ERROR_IGNORED)) > 0) {
		const struct handler *h = handler_of(q.command);

		p->paused = p->paused || (h && h->flags & PAUSES);
		if (h && h->flags & AT_ONCE) {
			failed = failed || respond(p, &q, ERROR_IGNORED);
			dap_take_out(&p->wire);
		}
	}
	p->paused = p->paused || failed || found < 0 || dap_is_over(&p->wire);
	return p->paused && !before;
}

/* Sends printed output, and the error if a movement failed. */
static int send_printed(struct dap *p, const struct error *why, struct error *err)
{
	struct debugger *d = p->d;
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	d->conf->spell(d->out.p, d->out.n);
	int broken = send_output(p, "console", buf_view(&d->out), err);
	if (!broken && why->kind != FAIL_NONE && !(p->paused && why->kind == FAIL_INTERRUPTED)) {
		buf_printf(&text, "error: %s\n", why->text);
		d->conf->spell(text.p, text.n);
		broken = send_output(p, "stderr", buf_view(&text), err);
	}
	return broken;
}

/* Runs the movement's command; its output goes to the client's console. */
static int move(struct dap *p, struct error *err)
{
	struct error why = {0};

	forget_stops(p);
	buf_clear(&p->d->out);
	(void)!run_command(p->d, str_from(p->movement), &why);
	note_stop(p, p->reason);
	return send_printed(p, &why, err);
}

/* If the session cannot start, the client gets the reason and a terminated event. */
static int begin(struct dap *p, struct error *err)
{
	forget_stops(p);
	buf_clear(&p->d->out);
	if (live_session_begin(p->d, err)) {
		if (!send_printed(p, err, ERROR_IGNORED)) {
			/* DAP uses the same word */
			const char *ended = end_status_name(END_TERMINATED);
			struct json_writer w = dap_begin_event(&p->wire, ended);

			(void)!dap_end_event(&p->wire, &w, ERROR_IGNORED);
		}
		return -1;
	}
	note_stop(p, "entry");
	return 0;
}

/* ---- one request after the other ---- */

/* Sends the events that follow a response, and runs the movement it started. */
static int follow(struct dap *p, const struct dap_request *q, struct error *err)
{
	if (json_is(q->command, STR("initialize"))) {
		struct json_writer w = dap_begin_event(&p->wire, "initialized");

		return dap_end_event(&p->wire, &w, err);
	}
	if ((p->begins && begin(p, err)) || (p->movement && move(p, err)))
		return -1;
	return p->stopped && !p->leaves ? send_stopped(p, err) : 0;
}

static bool is_stopped(void *ctx)
{
	struct debugger *d = ctx;

	return !debugger_goes_on(d);
}

static int serve(struct dap *p, struct error *err)
{
	struct dap_request q;
	bool any = true;

	while (!p->leaves && !p->d->stopped && any) {
		p->stopped = p->movement = NULL;
		p->begins = false;
		if (dap_read(&p->wire, &q, &any, is_stopped, p->d, err) ||
		    (any && (respond(p, &q, err) || follow(p, &q, err)))) {
			return -1;
		}
	}
	return 0;
}

int dap_serve(struct debugger *d, struct error *err)
{
	struct dap p = {.d = d};

	dap_wire_init(&p.wire, d->conf);
	d->client_asks_stop = client_asks_stop;
	d->client = &p; // cppcheck-suppress autoVariables ; reset below
	int failed = serve(&p, err);
	d->client_asks_stop = NULL;
	d->client = NULL;
	free(p.values);
	arena_release(&p.arena);
	dap_wire_release(&p.wire);
	return failed;
}
