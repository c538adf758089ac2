/* The verbs that inspect: print, diff, list, backtrace, tools, info. */
#include "base/names.h"
#include "base/text.h"
#include "debug/debugger.h"
#include "debug/expression.h"
#include "policy/tool_set.h"
#include "report/outline.h"

#define LIST_ROWS 10

/* ---- print ---- */

static void print_value(struct debugger *d, const char *label, struct str value)
{
	if (value.p) {
		outline_add(&d->out, label, value, d->conf->style);
		buf_str(&d->value, value);
	} else {
		outline_text(&d->out, label, "unknown", d->conf->style);
	}
}

static int print_path(struct debugger *d, struct str text, struct error *err)
{
	AUTO_ARENA arena = {.bytes = 0};
	AUTO_BUF scratch = BUF(BUF_MAX_MESSAGE), label = BUF(BUF_MAX_SMALL);
	struct known k = debugger_known(d);
	struct path path;

	if (path_parse(text, &arena, &path, &d->column, err))
		return -1;
	struct str value = path_value(&path, &k, &scratch);

	buf_str(&label, text);
	if (!value.p && path.pointer.n && nearest_pointer(&path, &k, err))
		return -1;
	print_value(d, buf_cstr(&label), value);
	return 0;
}

/* Evaluates text with an operator as an expression at the current step. */
static int print_expression(struct debugger *d, struct str text, struct error *err)
{
	struct known k = debugger_known(d);
	struct expression *e;

	if (expression_parse(text, &e, &d->column, err))
		return -1;
	if (expression_asks_rules(e) && debugger_judge(d, err)) {
		expression_free(e);
		return -1;
	}
	const char *holds = expression_holds(e, &k) ? "true" : "false";
	buf_printf(&d->out, "%s\n", holds);
	buf_text(&d->value, holds);
	expression_free(e);
	return 0;
}

/* Prints the messages the model was given for this turn. */
static int print_prompt(struct debugger *d, struct error *err)
{
	struct reader_note note;
	struct reader *r;
	struct line l;
	int64_t turn = d->now.line->turn;
	int more = 1;
	bool own = false;
	size_t start = d->out.n;

	if (reader_open(cursor_facts(d->cursor)->path, &r, err))
		return -1;
	reader_seek(r, cursor_facts(d->cursor)->begin, d->now.end, 1);
	while (!own && (more = reader_next(r, &l, &note, err)) > 0 && !note.torn) {
		struct str message;

		if (!str_eq(l.rollout, cursor_facts(d->cursor)->rollout))
			continue;
		own = l.type == LINE_STEP && l.turn == turn;
		for (size_t cursor = 0; prompt_next(&l, turn, &cursor, &message);)
			report_message(message, d->conf->style, &d->out);
	}
	reader_close(r);
	if (more >= 0 && d->out.n == start)
		buf_text(&d->out, "no prompt: the policy uses no model\n");
	return more < 0 ? -1 : 0;
}

static void print_step(struct debugger *d)
{
	struct known k = debugger_known(d);

	stop_title(&d->now, d->conf->style, &d->out);
	for (enum named_fact f = FACT_BEFORE; f < FACT_RULE; f++) {
		struct str value = fact_value(f, &k);

		if (f != FACT_CHANGED && !json_is_null(value))
			outline_add(&d->out, named_facts[f].name, value, d->conf->style);
	}
}

static bool has_operator(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (strchr("=<>!&|~( ", text.p[i]))
			return true;
	return false;
}

int verb_print(struct debugger *d, int how, struct str arguments, struct error *err)
{
	struct str text = text_trim(arguments);

	if (!text.n) {
		print_step(d);
		return 0;
	}
	if (str_is(text, "prompt"))
		return print_prompt(d, err);
	if (str_is(text, "line")) {
		text_escape_json(&d->out, d->now.line->text);
		buf_char(&d->out, '\n');
		buf_str(&d->value, d->now.line->text);
		return 0;
	}
	if (str_is(text, named_facts[FACT_RULE].name))
		return verb_backtrace(d, 0, STR(""), err);
	return has_operator(text) ? print_expression(d, text, err) : print_path(d, text, err);
}

/* ---- what changed ---- */

static void put_diff(struct debugger *d)
{
	stop_title(&d->now, d->conf->style, &d->out);
	if (d->now.position == 0)
		buf_text(&d->out, "  this is the start of the rollout\n");
	else if (d->now.line->step < 0)
		buf_text(&d->out, "  this turn sent no call\n");
	stop_changes(d, SIZE_MAX, &d->out);
}

int verb_diff(struct debugger *d, int how, struct str arguments, struct error *err)
{
	int64_t number, before = d->now.position;
	bool turn;

	if (!text_trim(arguments).n) {
		put_diff(d);
		return 0;
	}
	if (argument_place(arguments, &turn, &number, err) || go_to_place(d, turn, number, err))
		return -1;
	put_diff(d);
	int back = cursor_go(d->cursor, before, err);
	debugger_refresh(d);
	return back < 0 ? -1 : 0;
}

/* ---- the steps around ---- */

static int put_rows(struct debugger *d, int64_t from, int64_t here, struct error *err)
{
	int got = 1;

	for (int64_t p = from; p < from + LIST_ROWS && got > 0; p++) {
		got = cursor_go(d->cursor, p, err);
		debugger_refresh(d);
		if (got > 0) {
			buf_text(&d->out, p == here ? "-> " : "   ");
			stop_title(&d->now, d->conf->style, &d->out);
		}
	}
	if (got == 0 && from > here)
		buf_text(&d->out, "   (end of the recording)\n");
	return got < 0 ? -1 : 0;
}

int verb_list(struct debugger *d, int how, struct str arguments, struct error *err)
{
	int64_t here = d->now.position, number;
	int64_t from = here - LIST_ROWS / 2;
	bool turn, again = d->listed_here == here && d->listed > 0;

	if (text_trim(arguments).n) {
		if (argument_place(arguments, &turn, &number, err) ||
		    go_to_place(d, turn, number, err)) {
			return -1;
		}
		from = d->now.position - LIST_ROWS / 2;
	} else if (again) {
		from = d->listed;
	}
	from = from > 0 ? from : 0;
	int failed = put_rows(d, from, here, err);
	d->listed = from + LIST_ROWS;
	d->listed_here = here;
	int back = cursor_go(d->cursor, here, failed ? ERROR_IGNORED : err);
	debugger_refresh(d);
	return failed || back < 0 ? -1 : 0;
}

/* ---- why ---- */

/* Findings, causes first, and the counters. */
static void put_causes(void *user, const struct rollout_verdict *v)
{
	struct debugger *d = user;
	struct style style = d->conf->style;

	for (size_t i = 0; i < v->finding_count; i++)
		report_finding(v, &v->findings[i], ORIGIN_NONE, style, &d->out);
	for (size_t i = 0; i < v->finding_count; i++)
		if (report_is_cause(v, &v->findings[i]))
			report_cause(v, &v->findings[i], ORIGIN_NONE, style, &d->out);
	if (!v->finding_count)
		buf_text(&d->out, "no findings\n");
	report_counters(v->counters.turns, v->counters.steps, v->counters.effective,
	                v->counters.unknown, v->counters.failed, v->counters.reward, &d->out);
}

int verb_backtrace(struct debugger *d, int how, struct str arguments, struct error *err)
{
	return debugger_findings(d, put_causes, d, err);
}

/* ---- tools ---- */

static void put_tool(struct debugger *d, struct str tool)
{
	AUTO_BUF name = BUF(BUF_MAX_SMALL), about = BUF(BUF_MAX_SMALL);
	struct tool_argument a;

	json_decode(JSON_GET(tool, "name"), &name);
	text_escape(&d->out, buf_view(&name));
	for (size_t cursor = 0; tool_next_argument(tool_schema(tool), &cursor, &a);) {
		buf_text(&d->out, a.required ? " " : " [");
		text_escape(&d->out, a.key);
		buf_text(&d->out, a.required ? "" : "]");
	}
	json_decode(JSON_GET(tool, "description"), &about);
	struct str lines = buf_view(&about);
	if (about.n) {
		buf_text(&d->out, "  ");
		text_escape_cut(&d->out, str_cut(&lines, '\n'), 60);
	}
	buf_char(&d->out, '\n');
}

int verb_tools(struct debugger *d, int how, struct str arguments, struct error *err)
{
	struct str tools = cursor_facts(d->cursor)->header.value[KEY_TOOLS], tool;
	struct str wanted = text_trim(arguments);

	if (wanted.n) {
		if (tool_require(tools, wanted, err))
			return -1;
		outline_add(&d->out, "tool", tool_find(tools, wanted), d->conf->style);
		return 0;
	}
	for (size_t cursor = 0; json_next(tools, &cursor, &tool);)
		put_tool(d, tool);
	buf_str(&d->value, tools);
	if (!json_count(tools))
		buf_text(&d->out, "the environment offers no tools, or they were not recorded\n");
	return 0;
}

/* ---- info ---- */

static int put_rollout(void *ctx, const struct rollout_place *p, struct error *err)
{
	struct debugger *d = ctx;

	buf_text(&d->out, p->offset == cursor_facts(d->cursor)->begin ? "-> " : "   ");
	text_escape(&d->out, p->id);
	if (p->instance > 1)
		buf_printf(&d->out, "#%lld", (long long)p->instance);
	buf_printf(&d->out, "  line %llu\n", (unsigned long long)p->line);
	return 0;
}

static void put_header(struct debugger *d, const struct line *h)
{
	static const enum key keys[] = {KEY_TASK,   KEY_SEED,   KEY_ENV,   KEY_STATE_SOURCE,
	                                KEY_POLICY, KEY_LIMITS, KEY_PARENT};
	static const char *const names[] = {"task",   "seed",   "env",   "state source",
	                                    "policy", "limits", "parent"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (line_has(h, keys[i]))
			outline_add(&d->out, names[i], h->value[keys[i]], d->conf->style);
}

static void put_session(struct debugger *d)
{
	const struct cursor_facts *f = cursor_facts(d->cursor);
	struct style style = d->conf->style;
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	outline_text(&d->out, "recording", debugger_file(d), style);
	buf_str(&text, str_from(f->name));
	buf_text(&text, f->others ? " (one of several: info rollouts)" : "");
	outline_text(&d->out, "rollout", buf_cstr(&text), style);
	put_header(d, &f->header);
	buf_clear(&text);
	buf_printf(&text, "%lld of %lld%s", (long long)d->now.position, (long long)f->steps,
	           f->whole ? "" : " read so far");
	outline_text(&d->out, "position", buf_cstr(&text), style);
	outline_text(&d->out, "mode", debug_mode_name(debugger_mode(d)), style);
	if (f->end.text.p)
		outline_text(&d->out, "ended", end_status_name(f->end.status), style);
	else if (f->torn)
		outline_text(&d->out, "ended", "the last line is truncated", style);
}

static int info_breakpoints(struct debugger *d, struct error *err)
{
	points_list(&d->points, false, &d->out);
	return 0;
}

static int info_display(struct debugger *d, struct error *err)
{
	points_list(&d->points, true, &d->out);
	return 0;
}

static int info_rollouts(struct debugger *d, struct error *err)
{
	const struct rollouts_interrupt interrupt = {debugger_is_interrupted, d};

	return rollouts_each(cursor_facts(d->cursor)->path, &interrupt, put_rollout, d, err);
}

static int info_facts(struct debugger *d, struct error *err)
{
	for (size_t i = 0; i < FACTS_NAMED; i++)
		buf_printf(&d->out, "  %-14s%s\n", named_facts[i].name, named_facts[i].meaning);
	buf_text(&d->out, "Members: error.class, state./grid/0, ./position (of the state). "
	                  "Operators: == != < <= > >= ~ (pattern) && || ! ( )\n");
	return 0;
}

static const struct {
	const char *name;
	int (*put)(struct debugger *d, struct error *err);
} info_about[] = {{"breakpoints", info_breakpoints},
                  {"display", info_display},
                  {"rollouts", info_rollouts},
                  {"facts", info_facts}};

const char *info_topic(size_t i)
{
	return i < ARRAY_LEN(info_about) ? info_about[i].name : NULL;
}

int verb_info(struct debugger *d, int how, struct str arguments, struct error *err)
{
	const char *names[ARRAY_LEN(info_about)];
	struct str word = text_trim(arguments);

	if (!word.n) {
		put_session(d);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(info_about); i++) {
		names[i] = info_about[i].name;
		if (str_starts(str_from(names[i]), word))
			return info_about[i].put(d, err);
	}
	error_set(err, FAIL_USAGE, "undefined info command: \"%.*s\"", STR_ARG(word));
	return names_suggest(err, word, names, ARRAY_LEN(names));
}
