/* Compares states without their keys: see unnamed_values.h. */
#include "facts/unnamed_values.h"

#include "facts/member_walk.h"
#include "facts/respelled.h"
#include "json/scan.h"

#define KEPT_MAX   ((size_t)16 << 10) /* bytes; longer states are not compared */
#define VALUES_MAX 32
#define SAME_MIN   3

void unnamed_values_release(struct unnamed_values *v)
{
	buf_release(&v->last);
}

void unnamed_values_reset(struct unnamed_values *v)
{
	buf_clear(&v->last);
}

static bool is_ignored(struct str key, const struct str *ignored, size_t count)
{
	struct buf pointer = BUF(BUF_MAX_SMALL);
	bool found = false;

	member_walk_put_token(&pointer, key);
	for (size_t i = 0; i < count && !found; i++) {
		found = str_eq(buf_view(&pointer), ignored[i]);
	}
	buf_release(&pointer);
	return found;
}

/* The values as an array. */
static void put_values(struct buf *out, struct str state, const struct str *ignored, size_t count)
{
	struct json_member m;
	size_t cursor = 0;

	buf_text(out, "[");
	while (json_next_member(state, &cursor, &m)) {
		if (!is_ignored(m.key, ignored, count)) {
			buf_text(out, out->n > 1 ? "," : "");
			buf_str(out, m.value);
		}
	}
	buf_text(out, "]");
}

void unnamed_values_add(struct unnamed_values *v, struct str state, const struct str *ignored,
                        size_t ignored_count)
{
	struct buf now = BUF(KEPT_MAX);

	if (json_type(state) != JSON_OBJECT || state.n > KEPT_MAX ||
	    json_count(state) > VALUES_MAX) {
		v->different++;
		return;
	}
	put_values(&now, state, ignored, ignored_count);
	if (v->last.n) {
		bool same = respelled_order(buf_view(&v->last), buf_view(&now));
		v->same += same;
		v->different += !same;
	}
	buf_release(&v->last);
	v->last = now;
}

bool unnamed_values_stay(const struct unnamed_values *v)
{
	return v->same >= SAME_MIN && v->different == 0 && !str_eq(buf_view(&v->last), STR("[]"));
}
