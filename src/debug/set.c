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
	enum point_kind kind = (enum point_kind)how;
	struct str text = arguments;
	struct point *one;

	if (!text_trim(text).n) {
		return error_set(
			err, FAIL_USAGE,
			"which step, or which condition? break 5, break reward > 0, break tool "
			"NAME");
	}
	if (points_add_break(&d->points, kind, text, &one, &d->column, err))
		return -1;
	buf_printf(&d->out, "%s %d: ", kind == POINT_TBREAK ? "Temporary breakpoint" : "Breakpoint",
	           one->number);
	text_escape_line(&d->out, one->text);
	expression_each_path(one->expression, warn_absent, d);
	return 0;
}

/* Parses "PATH if CONDITION", as written by save. */
static struct str cut_condition(struct str *text)
{
	for (size_t i = 0; i + 4 <= text->n; i++) {
		if (!memcmp(text->p + i, " if ", 4)) {
			struct str condition = text_trim(str_skip(*text, i + 4));

			*text = text_trim((struct str){text->p, i});
			return condition;
		}
	}
	return STR("");
}

int verb_watch(struct debugger *d, int how, struct str arguments, struct error *err)
{
	struct str text = text_trim(arguments), condition = cut_condition(&text);
	size_t offset = condition.n ? (size_t)(condition.p - arguments.p) : 0;
	struct point *one;

	if (points_add_path(&d->points, POINT_WATCH, text, &one, &d->column, err))
		return -1;
	if (point_set_condition(one, condition, &d->column, err)) {
		d->column += offset;
		points_delete(&d->points, one);
		return -1;
	}
	buf_printf(&d->out, "Watchpoint %d: ", one->number);
	text_escape_line(&d->out, one->text);
	warn_absent(d, &one->path);
	return 0;
}

int verb_display(struct debugger *d, int how, struct str arguments, struct error *err)
{
	struct str text = text_trim(arguments);
	struct known k = debugger_known(d);
	struct point *one;

	if (text.n) {
		if (points_add_path(&d->points, POINT_DISPLAY, text, &one, &d->column, err))
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

static int delete_some(struct debugger *d, bool display, struct str arguments, struct error *err)
{
	bool all = !text_trim(arguments).n;

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

int verb_delete(struct debugger *d, int how, struct str arguments, struct error *err)
{
	struct str rest = arguments, word = argument_word(&rest);
	bool display = !how && str_is(word, "display");

	return delete_some(d, how || display, display ? rest : arguments, err);
}

int verb_enable(struct debugger *d, int how, struct str arguments, struct error *err)
{
	bool enabled = how;
	bool all = !text_trim(arguments).n;

	for (size_t i = 0; all && i < d->points.count; i++)
		d->points.list[i]->enabled = d->points.list[i]->kind == POINT_DISPLAY || enabled;
	while (text_trim(arguments).n) {
		struct point *one = find(d, false, argument_word(&arguments), err);

		if (!one)
			return -1;
		one->enabled = enabled;
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
