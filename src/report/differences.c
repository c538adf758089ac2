/* Differences below headings for rollout and line: see differences.h. */
#include "report/differences.h"

#include "base/text.h"
#include "evidence/evidence.h"
#include "json/write.h"
#include "report/brief.h"
#include "report/word_diff.h"

#define VALUE_COLUMNS ((size_t)60) /* maximum width of each of the two values */

/* ---- the steps after the first divergence ---- */

/* The calls from one step on, as recorded in the rollout. */
struct since {
	int64_t calls, ok;
	int64_t effective, unknown; /* steps, counted as in all summaries (evidence/evidence.h) */
};

struct since_counting {
	struct evidence *facts;
	int64_t from;
	struct since *out;
};

static void add_effects(struct since_counting *c, const struct rollout_facts *r)
{
	for (int64_t i = 0; i < r->steps; i++) {
		if (r->completed[i].step >= c->from) {
			c->out->effective += r->completed[i].effect == EFFECT_CHANGED;
			c->out->unknown += r->completed[i].effect == EFFECT_UNKNOWN;
		}
	}
}

static void add(struct since_counting *c, const struct line *l)
{
	struct evidence_update u;

	/* lines that evidence_line rejects are not counted */
	if (!l->text.p || evidence_line(c->facts, l, NULL, &u, ERROR_IGNORED))
		return;
	if (u.derived.is_step && l->step >= c->from) {
		c->out->calls++;
		c->out->ok += l->outcome == OUTCOME_OK;
	}
	if (u.end)
		add_effects(c, u.rollout);
}

static void since_step(const struct rollout_copy *r, int64_t step, struct since *out)
{
	struct since_counting c = {evidence_new(&(struct evidence_conf){.lenient = true}), step,
	                           out};

	*out = (struct since){.calls = 0};
	add(&c, &r->header);
	add(&c, &r->reset);
	for (size_t i = 0; i < r->count; i++)
		add(&c, &r->steps[i]);
	add(&c, &r->end);
	struct evidence_update u;
	while (evidence_end_next(c.facts, &u))
		add_effects(&c, u.rollout);
	evidence_free(c.facts);
}

/* ---- the text ---- */

struct str rollout_copy_status(const struct rollout_copy *r)
{
	return str_from(end_status_name(r->end.text.p ? r->end.status : END_INCOMPLETE));
}

struct str rollout_copy_reward(const struct rollout_copy *r)
{
	return line_has(&r->end, KEY_TOTAL_REWARD) ? r->end.value[KEY_TOTAL_REWARD] : STR("null");
}

static void put_first_place(const struct difference *first, size_t steps, struct buf *out)
{
	const struct line *l = first->line;

	if (!l || l->type != LINE_STEP) {
		buf_printf(out, "the %s", l ? line_type_name(l->type) : "whole rollout");
		return;
	}
	buf_printf(out, "step %lld of %zu", (long long)l->step, steps);
	if (first->kind == DIFFERENCE_MISSING_STEP || first->kind == DIFFERENCE_EXTRA_STEP) {
		buf_text(out, first->kind == DIFFERENCE_MISSING_STEP ? " was not sent"
		                                                     : " is an extra step");
	}
}

static int64_t step_of(const struct difference *first)
{
	if (!first->line || first->line->type == LINE_END)
		return INT64_MAX;
	return first->line->type == LINE_STEP ? first->line->step : 0;
}

static void put_since(const struct replayed_pair *pair, int64_t step, struct buf *out)
{
	struct since since;

	since_step(pair->got, step, &since);
	if (!since.calls)
		return;
	buf_printf(out, "; from there on %lld call%s, %lld ok, %lld effective",
	           (long long)since.calls, plural(since.calls), (long long)since.ok,
	           (long long)since.effective);
	if (since.unknown)
		buf_printf(out, " (%lld unknown)", (long long)since.unknown);
}

static void put_end(struct str status, struct str reward, struct buf *out)
{
	buf_str(out, status.n ? status : STR("end unknown"));
	buf_text(out, ", reward ");
	text_escape_cut(out, json_is_null(reward) ? STR("unknown") : reward, 20);
}

/* Appends "  first divergence: step 1 of 6; from there on 5 calls, 2 ok, 1 effective; finished,
   reward 0 (golden: terminated, reward 1)", wrapped on a terminal. */
static void report_divergence(const struct replayed_pair *pair, const struct difference *first,
                              struct style style, struct buf *out)
{
	struct str status = rollout_copy_status(pair->got), reward = rollout_copy_reward(pair->got);
	struct str old_status = rollout_copy_status(pair->want),
		   old_reward = rollout_copy_reward(pair->want);

	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	buf_text(&text, "first divergence: ");
	put_first_place(first, pair->want->count, &text);
	put_since(pair, step_of(first), &text);
	buf_text(&text, "; ");
	put_end(status, reward, &text);
	if (!str_eq(status, old_status) || !str_eq(reward, old_reward)) {
		buf_text(&text, " (golden: ");
		put_end(old_status, old_reward, &text);
		buf_char(&text, ')');
	}
	buf_text(out, "  ");
	text_wrap(out, buf_view(&text), 4, style.terminal ? style.columns : SIZE_MAX);
}

static void report_divergence_json(const struct replayed_pair *pair, const struct difference *first,
                                   const char *file, struct buf *out)
{
	struct since since;
	int64_t step = step_of(first);

	since_step(pair->got, step, &since);
	json_line(out, "divergence",
	          "file:%t,rollout:%s,line:%t,step:%c,calls:%i,ok:%i,effective:%i,unknown:%i,"
	          "status:%s,reward:%r,expected_status:%s,expected_reward:%r",
	          file, first->rollout, first->line ? line_type_name(first->line->type) : NULL,
	          first->line && first->line->type == LINE_STEP ? step : -1, since.calls, since.ok,
	          since.effective, since.unknown, rollout_copy_status(pair->got),
	          rollout_copy_reward(pair->got), rollout_copy_status(pair->want),
	          rollout_copy_reward(pair->want));
}

/* ---- differences ---- */

void difference_printer_release(struct difference_printer *p)
{
	buf_release(&p->rollout);
	p->line = LINE_UNKNOWN;
}

/* ---- for people ---- */

/* What each of the two values can have of a terminal's line, "    POINTER  A -> B". */
static size_t value_columns(struct style style, struct str pointer)
{
	static const size_t least = 20;
	size_t others = 4 + text_cells(pointer) + 2 + strlen(" -> ");

	return !style.terminal                      ? VALUE_COLUMNS
	       : style.columns > others + 2 * least ? (style.columns - others) / 2
	                                            : least;
}

static void put_value(struct str value, const char *color, size_t columns, struct style style,
                      struct buf *out)
{
	style_begin(out, style, color);
	brief_put(out, value, columns);
	style_end(out, style);
}

static void put_step(const struct line *step, struct buf *out)
{
	if (step->step < 0)
		buf_printf(out, "turn %lld  ", (long long)step->turn);
	else
		buf_printf(out, "step %lld  ", (long long)step->step);
	if (line_has(step, KEY_TOOL_CALL))
		brief_put_call(out, step, VALUE_COLUMNS);
	else
		buf_text(out, "no tool call");
}

static bool is_unpaired(const struct difference *d)
{
	return d->kind >= DIFFERENCE_MISSING_STEP || !d->pointer.p;
}

static bool is_extra(const struct difference *d)
{
	return d->kind == DIFFERENCE_EXTRA_STEP || d->kind == DIFFERENCE_EXTRA_ROLLOUT ||
	       d->kind == DIFFERENCE_ADDED;
}

/* Returns true, and notes the rollout and its file, if it is not the previous one. */
static bool is_new_rollout(struct difference_printer *p, struct str id)
{
	if (p->rollout.n && p->file == p->rollout_file && str_eq(buf_view(&p->rollout), id))
		return false;
	p->rollout.max = BUF_MAX_MESSAGE;
	p->rollout_file = p->file;
	buf_set(&p->rollout, id);
	p->line = LINE_UNKNOWN;
	return true;
}

static void put_rollout(const struct difference_printer *p, const struct difference *d,
                        struct buf *out)
{
	AUTO_BUF line = BUF(BUF_MAX_MESSAGE);

	if (p->file) {
		text_escape(&line, str_from(p->file));
		buf_text(&line, ": ");
	}
	buf_text(&line, "rollout ");
	text_escape(&line, d->rollout);
	style_put(out, p->style, COLOR_BOLD, buf_view(&line));
	buf_char(out, '\n');
	if (p->replayed.got)
		report_divergence(&p->replayed, d, p->style, out);
}

/* A step, rollout or line that exists on one side only. */
static void put_unpaired(struct difference_printer *p, const struct difference *d, struct buf *out)
{
	AUTO_BUF line = BUF(BUF_MAX_MESSAGE);
	bool extra = is_extra(d);

	buf_text(&line, extra ? "+ " : "- ");
	if (!d->line)
		buf_printf(&line, "only in the %s recording", extra ? "second" : "first");
	else if (d->line->type == LINE_STEP)
		put_step(d->line, &line);
	else
		buf_printf(&line, "the %s line", line_type_name(d->line->type));
	style_put(out, p->style, extra ? COLOR_GREEN : COLOR_RED, buf_view(&line));
	buf_char(out, '\n');
	p->line = LINE_UNKNOWN;
}

static void put_heading(struct difference_printer *p, const struct line *l, struct buf *out)
{
	if (p->line == l->type && p->step == l->turn)
		return;
	p->line = l->type;
	p->step = l->turn;
	buf_text(out, "  ");
	if (l->type == LINE_STEP)
		put_step(l, out);
	else
		buf_text(out, line_type_name(l->type));
	buf_char(out, '\n');
}

/* The length of a common start that is hidden so that the difference is visible. */
static size_t hidden_start(struct str a, struct str b, size_t columns)
{
	enum { KEPT = 12 };
	size_t n = 0;

	while (n < a.n && n < b.n && a.p[n] == b.p[n])
		n++;
	return n > columns / 2 ? text_utf8_cut(a, n - KEPT).n : 0;
}

static void put_cut(struct str text, size_t columns, const char *color, struct style style,
                    struct buf *out)
{
	style_begin(out, style, color);
	buf_text(out, "…");
	text_escape_cut(out, text, columns - 1);
	style_end(out, style);
}

/* Prints two strings as a word diff, if requested or if they are too long to show whole, or from their
   first difference on, if that is beyond the line's width. */
static bool put_strings(const struct difference_printer *p, const struct difference *d,
                        size_t columns, struct buf *out)
{
	struct word_diff_style words = {p->word_diff || !p->style.color, p->style.color};
	AUTO_BUF before = BUF(BUF_MAX_MESSAGE), after = BUF(BUF_MAX_MESSAGE);
	size_t hidden = 0;
	bool put = false;

	if (json_type(d->expected) == JSON_STRING && json_type(d->got) == JSON_STRING) {
		json_decode(d->expected, &before);
		json_decode(d->got, &after);
		put = (p->word_diff || d->expected.n > columns || d->got.n > columns) &&
		      word_diff(buf_view(&before), buf_view(&after), words, out);
		hidden = hidden_start(buf_view(&before), buf_view(&after), columns);
	}
	if (!put && hidden) {
		put_cut(str_skip(buf_view(&before), hidden), columns, COLOR_RED, p->style, out);
		buf_text(out, " -> ");
		put_cut(str_skip(buf_view(&after), hidden), columns, COLOR_GREEN, p->style, out);
	}
	return put || hidden;
}

static void put_pointer_and_values(const struct difference_printer *p, const struct difference *d,
                                   struct buf *out)
{
	size_t columns = value_columns(p->style, d->pointer);

	text_escape(out, d->pointer);
	buf_text(out, "  ");
	if (put_strings(p, d, columns, out))
		return;
	if (d->expected.p)
		put_value(d->expected, COLOR_RED, columns, p->style, out);
	buf_text(out, !d->expected.p ? "added: " : !d->got.p ? " removed" : " -> ");
	if (d->got.p)
		put_value(d->got, COLOR_GREEN, columns, p->style, out);
}

/* ---- for programs ---- */

static void put_json(const struct difference *d, const char *file, struct buf *out)
{
	bool unpaired_line = d->line && !d->pointer.p && d->line->type != LINE_STEP;

	json_line(
		out, "difference",
		"file:%t,rollout:%s,line:%t,turn:%c,step:%c,pointer:%s,kind:%t,expected:%r,got:%r",
		file, d->rollout, d->line ? line_type_name(d->line->type) : NULL,
		d->line ? d->line->turn : -1, d->line ? d->line->step : -1, d->pointer,
		difference_kind_name(d->kind), unpaired_line ? STR_NONE : d->expected,
		unpaired_line ? STR_NONE : d->got);
}

void report_difference(struct difference_printer *p, const struct difference *d, struct buf *out)
{
	bool begins = is_new_rollout(p, d->rollout);

	if (p->json) {
		if (begins && p->replayed.got)
			report_divergence_json(&p->replayed, d, p->file, out);
		put_json(d, p->file, out);
		return;
	}
	if (begins)
		put_rollout(p, d, out);
	if (is_unpaired(d)) {
		put_unpaired(p, d, out);
	} else {
		put_heading(p, d->line, out);
		buf_text(out, "    ");
		put_pointer_and_values(p, d, out);
		buf_char(out, '\n');
	}
}

/* ---- in a sentence ---- */

void report_difference_sentence(const struct difference *d, struct buf *out)
{
	struct difference_printer plain = {.json = false};

	if (!d->line) {
		buf_printf(out, "%s rollout", is_extra(d) ? "extra" : "missing");
		return;
	}
	if (is_unpaired(d))
		buf_printf(out, "%s ", is_extra(d) ? "extra" : "missing");
	if (d->line->type == LINE_STEP)
		put_step(d->line, out);
	else
		buf_text(out, line_type_name(d->line->type));
	if (!is_unpaired(d)) {
		buf_text(out, ": ");
		put_pointer_and_values(&plain, d, out);
	}
}

uint64_t report_difference_line(const struct difference *d)
{
	bool theirs = is_unpaired(d) && is_extra(d);

	return d->line && !theirs ? d->line->number : 0;
}

/* ---- the end ---- */

static void put_json_summary(const struct compare_count *c, struct buf *out)
{
	struct json_writer w;

	jw_line(&w, out, "summary");
	jw_pack(&w, "rollouts:%i,different:%i,steps:%i,differences:{", (int64_t)c->rollouts,
	        (int64_t)c->different, (int64_t)c->steps);
	for (int kind = 0; kind < DIFFERENCE_KINDS; kind++)
		jw_put_u64(&w, difference_kind_name((enum difference_kind)kind), c->kinds[kind]);
	jw_end(&w);
	jw_line_end(&w);
}

void report_difference_summary(const struct compare_count *count, bool json, struct buf *out)
{
	size_t missing = count->kinds[DIFFERENCE_MISSING_ROLLOUT];
	size_t extra = count->kinds[DIFFERENCE_EXTRA_ROLLOUT];

	if (json) {
		put_json_summary(count, out);
	} else if (count->different) {
		buf_printf(
			out,
			"%zu of %zu rollout%s differ%s · %zu difference%s · %zu step%s compared\n",
			count->different, count->rollouts, plural(count->rollouts),
			count->different == 1 ? "s" : "", count->differences,
			plural(count->differences), count->steps, plural(count->steps));
		buf_text(out, missing && extra && missing + extra == count->rollouts
		                      ? "their rollouts' ids differ: no id is "
		                        "in both\n"
		                      : "");
	}
}
