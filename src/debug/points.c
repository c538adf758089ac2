/* Breakpoints, watchpoints and displays: see points.h. */
#include "debug/points.h"

#include "base/text.h"
#include "report/brief.h"

#include <stdlib.h>

#define CHANGED     "changed "
#define VALUE_CELLS 200 /* longest value shown at a stop; print shows all of it */

static void point_free(struct point *p)
{
	expression_free(p->expression);
	expression_free(p->condition);
	arena_release(&p->arena);
	free(p);
}

void points_release(struct points *p)
{
	for (size_t i = 0; i < p->count; i++)
		point_free(p->list[i]);
	*p = (struct points){.count = 0};
}

static int add(struct points *p, enum point_kind kind, struct point **out, struct error *err)
{
	struct point *one;

	if (p->count == POINTS_MAX) {
		return error_set(err, FAIL_USAGE,
		                 "no more than %d breakpoints and displays: delete some",
		                 POINTS_MAX);
	}
	one = mem_new(sizeof(*one));
	*one = (struct point){.number =
	                              kind == POINT_DISPLAY ? ++p->last_display : ++p->last_number,
	                      .kind = kind};
	p->list[p->count++] = *out = one;
	return 0;
}

static void take_path(void *ctx, const struct path *path)
{
	struct point *one = ctx;

	if (!one->path.pointer.p)
		one->path = *path;
}

int points_add_break(struct points *p, enum point_kind kind, struct str text, struct point **out,
                     size_t *at, struct error *err)
{
	AUTO_BUF whole = BUF(BUF_MAX_MESSAGE);
	size_t before = kind == POINT_WATCH ? strlen(CHANGED) : 0;
	struct expression *e;

	buf_add(&whole, CHANGED, before);
	buf_str(&whole, text_trim(text));
	if (expression_parse(buf_view(&whole), &e, at, err)) {
		*at = *at > before ? *at - before : 0;
		return -1;
	}
	if (add(p, kind, out, err)) {
		expression_free(e);
		return -1;
	}
	(*out)->expression = e;
	(*out)->text = str_skip(expression_text(e), before);
	if (before)
		expression_each_path(e, take_path, *out);
	return 0;
}

int points_add_display(struct points *p, struct str text, struct point **out, size_t *at,
                       struct error *err)
{
	struct arena arena = {.bytes = 0};
	struct path path;
	struct str kept = arena_str(&arena, text);

	if (path_parse(kept, &arena, &path, at, err) || add(p, POINT_DISPLAY, out, err)) {
		arena_release(&arena);
		return -1;
	}
	(*out)->arena = arena;
	(*out)->path = path;
	(*out)->text = kept;
	return 0;
}

int point_set_condition(struct point *p, struct str text, size_t *at, struct error *err)
{
	struct expression *e = NULL;

	if (text.n && expression_parse(text, &e, at, err))
		return -1;
	expression_free(p->condition);
	p->condition = e;
	return 0;
}

struct point *points_find(const struct points *p, bool display, int64_t number)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->list[i]->number == number && (p->list[i]->kind == POINT_DISPLAY) == display)
			return p->list[i];
	return NULL;
}

void points_delete(struct points *p, struct point *one)
{
	size_t i = 0;

	while (p->list[i] != one)
		i++;
	memmove(&p->list[i], &p->list[i + 1], (p->count - i - 1) * sizeof(struct point *));
	p->count--;
	point_free(one);
}

/* ---- does it stop there? ---- */

static bool looks_ahead(const struct point *one)
{
	return one->expression && expression_is_before(one->expression) &&
	       (!one->condition || expression_is_before(one->condition));
}

bool points_look_ahead(const struct points *p)
{
	for (size_t i = 0; i < p->count; i++)
		if (looks_ahead(p->list[i]))
			return true;
	return false;
}

static bool point_stops(const struct point *one, const struct known *k, enum point_phase phase)
{
	bool fits = phase == PHASE_RECORDED || looks_ahead(one) == (phase == PHASE_PROPOSED);

	return one->expression && fits && expression_holds(one->expression, k) &&
	       (!one->condition || expression_holds(one->condition, k));
}

bool points_stop(const struct points *p, const struct known *k, enum point_phase phase)
{
	for (size_t i = 0; i < p->count; i++)
		if (point_stops(p->list[i], k, phase))
			return true;
	return false;
}

bool points_ask_rules(const struct points *p)
{
	bool ask = false;

	for (size_t i = 0; i < p->count && !ask; i++) {
		const struct point *one = p->list[i];

		ask = (one->expression && expression_asks_rules(one->expression)) ||
		      (one->condition && expression_asks_rules(one->condition));
	}
	return ask;
}

/* ---- for people ---- */

static void put_value(struct str value, struct buf *out)
{
	if (value.p)
		brief_put(out, value, VALUE_CELLS);
	else
		buf_text(out, "absent");
}

static void report_hit(const struct point *one, const struct known *k, struct buf *out)
{
	bool watch = one->kind == POINT_WATCH;

	if (watch) {
		buf_printf(out, "Watchpoint %d: ", one->number);
	} else {
		buf_printf(out, "%s %d, ",
		           one->kind == POINT_TBREAK ? "Temporary breakpoint" : "Breakpoint",
		           one->number);
	}
	text_escape_line(out, one->text);
	if (watch) {
		struct path before = {.fact = FACT_BEFORE, .pointer = one->path.pointer};
		AUTO_BUF scratch = BUF(BUF_MAX_MESSAGE);

		buf_text(out, "  Old value = ");
		put_value(path_value(&before, k, &scratch), out);
		buf_text(out, "\n  New value = ");
		put_value(path_value(&one->path, k, &scratch), out);
		buf_char(out, '\n');
	}
}

void points_hit(struct points *p, const struct known *k, enum point_phase phase, struct buf *out)
{
	for (size_t i = 0; i < p->count; i++) {
		struct point *one = p->list[i];

		if (!point_stops(one, k, phase))
			continue;
		one->hits++;
		p->hit = true;
		p->hit_watch = one->kind == POINT_WATCH;
		report_hit(one, k, out);
	}
	for (size_t i = p->count; i-- > 0;)
		if (p->list[i]->kind == POINT_TBREAK && p->list[i]->hits)
			points_delete(p, p->list[i]);
}

static void list_display(const struct point *one, struct buf *out)
{
	buf_printf(out, "%-4d", one->number);
	text_escape_line(out, one->text);
}

static void list_break(const struct point *one, struct buf *out)
{
	buf_printf(out, "%-4d%-13s%-5s", one->number,
	           one->kind == POINT_WATCH ? "watchpoint" : "breakpoint",
	           one->kind == POINT_TBREAK ? "del" : "keep");
	text_escape_line(out, one->text);
	if (one->condition) {
		buf_text(out, "        stop only if ");
		text_escape_line(out, expression_text(one->condition));
	}
	if (one->hits) {
		buf_printf(out, "        already hit %lld time%s\n", (long long)one->hits,
		           plural(one->hits));
	}
}

void points_list(const struct points *p, bool display, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < p->count; i++) {
		const struct point *one = p->list[i];

		if ((one->kind == POINT_DISPLAY) != display)
			continue;
		if (!any) {
			buf_text(out,
			         display ? "Num Expression\n" : "Num Type         Disp What\n");
		}
		any = true;
		(display ? list_display : list_break)(one, out);
	}
	if (!any) {
		buf_text(out,
		         display ? "There are no displays.\n" : "No breakpoints or watchpoints.\n");
	}
}

void points_display(const struct points *p, const struct known *k, struct buf *out)
{
	AUTO_BUF scratch = BUF(BUF_MAX_MESSAGE);

	for (size_t i = 0; i < p->count; i++) {
		const struct point *one = p->list[i];

		if (one->kind != POINT_DISPLAY)
			continue;
		buf_printf(out, "  %d: ", one->number);
		text_escape(out, one->text);
		buf_text(out, " = ");
		put_value(path_value(&one->path, k, &scratch), out);
		buf_char(out, '\n');
	}
}

void points_save(const struct points *p, struct buf *out)
{
	static const char *const verbs[] = {[POINT_BREAK] = "break",
	                                    [POINT_TBREAK] = "tbreak",
	                                    [POINT_WATCH] = "watch",
	                                    [POINT_DISPLAY] = "display"};

	for (size_t i = 0; i < p->count; i++) {
		const struct point *one = p->list[i];

		buf_printf(out, "%s %.*s%s%.*s\n", verbs[one->kind], STR_ARG(one->text),
		           one->condition ? " if " : "",
		           STR_ARG(one->condition ? expression_text(one->condition) : STR("")));
	}
}
