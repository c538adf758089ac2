/* Breakpoints set by a client of the Debug Adapter Protocol: see dap_points.h. */
#include "debug/dap_points.h"

static void delete_points(struct points *points, enum point_kind kind)
{
	for (size_t i = points->count; i-- > 0;) {
		if (points->list[i]->kind == kind) {
			points_delete(points, points->list[i]);
		}
	}
}

static void write_breakpoint(const struct point *one, const struct error *why,
                             struct json_writer *w)
{
	jw_object(w);
	jw_bool(jw_key(w, "verified"), one != NULL);
	if (one) {
		jw_i64(jw_key(w, "id"), one->number);
	} else {
		jw_text(jw_key(w, "message"), why->text);
	}
	jw_end(w);
}

/* Sets one breakpoint of the request: the expression at `key`, with its condition. */
static void set_breakpoint(struct points *points, struct str wanted, const char *key,
                           enum point_kind kind, struct json_writer *w)
{
	struct buf text = BUF(BUF_MAX_SMALL), condition = BUF(BUF_MAX_SMALL);
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

void dap_points_set(struct points *points, const struct dap_request *q, const char *key,
                    enum point_kind kind, struct json_writer *w)
{
	struct str list = JSON_GET(q->arguments, "breakpoints"), one;

	delete_points(points, kind);
	jw_array(jw_key(w, "breakpoints"));
	for (size_t cursor = 0; json_next(list, &cursor, &one);) {
		set_breakpoint(points, one, key, kind, w);
	}
	jw_end(w);
}

void dap_points_refuse_lines(const struct dap_request *q, struct json_writer *w)
{
	const struct error why = {.text = "breakpoints on lines are not supported: set a "
	                                  "function breakpoint, whose name is an expression"};
	struct str list = JSON_GET(q->arguments, "breakpoints"), one;

	jw_array(jw_key(w, "breakpoints"));
	for (size_t cursor = 0; json_next(list, &cursor, &one);) {
		write_breakpoint(NULL, &why, w);
	}
	jw_end(w);
}
