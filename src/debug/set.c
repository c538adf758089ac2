/* The verbs for breakpoints, watchpoints and displays. */
#include "base/text.h"
#include "debug/debugger.h"
#include "debug/expression.h"

/* Warns about a pointer without a value here. Not an error: other steps may have one. */
static void warn_absent(void *ctx, const struct path *p)
{
	struct debugger *d = ctx;
	struct known k = debugger_known(d);
	AUTO_BUF scratch = BUF(BUF_MAX_MESSAGE);
	struct error why;

	if (!json_is_null(fact_value(p->fact, &k)) && !path_value(p, &k, &scratch).p) {
		nearest_pointer(p, &k, &why);
		buf_text(&d->out, "warning: ");
		text_escape_line(&d->out, str_from(why.text));
	}
}

int verb_break(struct debugger *d, int how, struct str arguments, struct error *err)
{
	static const char *const titles[] = {[POINT_BREAK] = "Breakpoint",
	                                     [POINT_TBREAK] = "Temporary breakpoint",
	                                     [POINT_WATCH] = "Watchpoint"};
	enum point_kind kind = (enum point_kind)how;
	struct point *one;

	if (!text_trim(arguments).n) {
		return error_set(err, FAIL_USAGE,
		                 kind == POINT_WATCH
		                         ? "which member of the state? watch ./position"
		                         : "which step, or which condition? break 5, break reward "
		                           "> 0, break tool NAME");
	}
	if (points_add_break(&d->points, kind, arguments, &one, &d->column, err))
		return -1;
	buf_printf(&d->out, "%s %d: ", titles[kind], one->number);
	text_escape_line(&d->out, one->text);
	expression_each_path(one->expression, warn_absent, d);
	return 0;
}

int verb_display(struct debugger *d, int how, struct str arguments, struct error *err)
{
	struct str text = text_trim(arguments);
	struct known k = debugger_known(d);
	struct point *one;

	if (text.n) {
		if (points_add_display(&d->points, text, &one, &d->column, err))
			return -1;
		warn_absent(d, &one->path);
	}
	points_display(&d->points, &k, &d->out);
	return 0;
}

/* ---- by number ---- */

static struct point *find(struct debugger *d, bool display, struct str text, struct error *err)
{
	int64_t number;

	if (!text_i64(text, &number)) {
		error_set(err, FAIL_USAGE, "expected a number, got '%.*s'", STR_ARG(text));
		return NULL;
	}
	struct point *one = points_find(&d->points, display, number);
	if (!one) {
		error_set(err, FAIL_USAGE, "no %s number %lld", display ? "display" : "breakpoint",
		          (long long)number);
	}
	return one;
}

/* how: displays */
int verb_delete(struct debugger *d, int how, struct str arguments, struct error *err)
{
	bool display = how, all = !text_trim(arguments).n;

	for (size_t i = all ? d->points.count : 0; i-- > 0;)
		if ((d->points.list[i]->kind == POINT_DISPLAY) == display)
			points_delete(&d->points, d->points.list[i]);
	while (text_trim(arguments).n) {
		struct point *one = find(d, display, argument_word(&arguments), err);

		if (!one)
			return -1;
		points_delete(&d->points, one);
	}
	return 0;
}

int verb_condition(struct debugger *d, int how, struct str arguments, struct error *err)
{
	struct str text = arguments, word = argument_word(&text);
	struct point *one = find(d, false, word, err);

	if (!one)
		return -1;
	if (point_set_condition(one, text, &d->column, err)) {
		d->column += d->column == SIZE_MAX ? 0 : (size_t)(text.p - arguments.p);
		return -1;
	}
	buf_printf(&d->out,
	           text.n ? "Breakpoint %d now stops only if %.*s\n"
	                  : "Breakpoint %d now unconditional.%.*s\n",
	           one->number, STR_ARG(text));
	return 0;
}
