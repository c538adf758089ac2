/* Hashes of the first states of an episode: see trace.h. */
#include "evidence/trace.h"

#include "base/hash.h"
#include "base/text.h"
#include "evidence/clocks.h"
#include "json/scan.h"

#define VALUE_MAX ((size_t)64 << 10) /* bytes; longer ones are unknown */
#define ID_MIN    6                  /* characters */

/* Is the value one word with digits, such as a name generated for this episode? */
static bool is_id(struct str value)
{
	struct str text = json_type(value) == JSON_STRING ? json_inner(value) : STR_NONE;
	bool digit = false;

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == ' ')
			return false;
		digit = digit || (text.p[i] >= '0' && text.p[i] <= '9');
	}
	return digit && text.n >= ID_MIN;
}

static uint64_t masked(struct str value, struct buf *scratch)
{
	buf_clear(scratch);
	clocks_mask(value, scratch);
	return fingerprint(buf_view(scratch)) | 1;
}

/* The order of members is ignored. */
static struct trace_point point_of(const struct series *s, const struct explaining *e,
                                   struct str value, struct buf *scratch)
{
	struct trace_point p = {.seen = 1};
	struct json_member m;
	size_t cursor = 0;

	if (json_type(value) != JSON_OBJECT) {
		p.seen = masked(value, scratch);
		return p;
	}
	while (json_next_member(value, &cursor, &m)) {
		uint64_t key = fingerprint(m.key) | 1;
		if (is_id(m.value) || explain_is_aside(s, e, m.key))
			p.left_out += key;
		else
			p.seen += key * masked(m.value, scratch);
	}
	return p;
}

/* Is the value after the calls so far needed, and not added yet? */
static bool lacks_point(const struct trace *t)
{
	return t->calls <= TRACE_CALLS && t->point[t->calls].seen == 0;
}

void trace_add(struct trace *t, const struct series *s, const struct explaining *e,
               struct str value, struct buf *scratch)
{
	if (lacks_point(t) && value.p && value.n <= VALUE_MAX)
		t->point[t->calls] = point_of(s, e, value, scratch);
}

/* Appends a value without the strings that contain a digit. */
static void put_trace_words(struct buf *out, struct str value)
{
	size_t i = 0, end;

	while (i < value.n) {
		end = i + 1;
		if (value.p[i] != '"') {
			buf_char(out, value.p[i]);
			i = end;
			continue;
		}
		while (end < value.n && value.p[end] != '"')
			end += value.p[end] == '\\' ? 2 : 1;
		struct str text = {value.p + i, (end < value.n ? end + 1 : value.n) - i};
		buf_str(out, text_has_digit(text) ? STR("#") : text);
		i += text.n;
	}
}

void trace_add_start(struct trace *t, struct str reply, struct buf *scratch)
{
	struct json_member m;
	size_t cursor = 0;

	t->start = 0;
	while (reply.n <= VALUE_MAX && json_next_member(reply, &cursor, &m)) {
		if (m.type == JSON_STRING || m.type == JSON_ARRAY) {
			buf_clear(scratch);
			put_trace_words(scratch, m.value);
			t->start += (fingerprint(m.key) | 1) * fingerprint(buf_view(scratch));
		}
	}
}

void trace_add_hash(struct trace *t, uint64_t hash)
{
	if (lacks_point(t))
		t->point[t->calls] = (struct trace_point){.seen = hash | 1};
}

void trace_call(struct trace *t, uint64_t call)
{
	if (t->calls < TRACE_CALLS)
		t->call[t->calls] = call;
	t->calls += t->calls <= TRACE_CALLS;
}

static bool differ(const struct trace_point *a, const struct trace_point *b)
{
	return a->seen && b->seen && a->left_out == b->left_out && a->seen != b->seen;
}

enum trace_similarity trace_compare(const struct trace *a, const struct trace *b, size_t *calls)
{
	size_t n = 0;

	*calls = 0;
	if (differ(&a->point[0], &b->point[0]) || (a->start && b->start && a->start != b->start))
		return TRACE_DIFFERENT_START;
	while (n < a->calls && n < b->calls && n < TRACE_CALLS && a->call[n] == b->call[n]) {
		n++;
		if (differ(&a->point[n], &b->point[n])) {
			*calls = n;
			return TRACE_DIFFERENT_STEPS;
		}
	}
	return TRACE_EQUAL;
}
