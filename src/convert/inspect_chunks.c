/* Samples in several entries: see inspect_chunks.h. */
#include "convert/inspect_chunks.h"

#include "base/mem.h"
#include "base/text.h"
#include "json/scan.h"

#include <inttypes.h>
#include <stdlib.h>

struct inspect_chunk {
	uint64_t start;
	struct buf content;
};

/* The items of a sequence, in order. */
struct items {
	struct str *list;
	size_t count, room;
};

static void add_item(struct items *items, struct str item)
{
	if (items->count == items->room) {
		items->room = items->room ? 2 * items->room : 64;
		items->list = mem_resize(items->list, items->room, sizeof(*items->list));
	}
	items->list[items->count++] = item;
}

int inspect_chunks_add(struct inspect_chunks *c, const struct inspect_name *name,
                       struct buf *content, struct error *err)
{
	struct inspect_sequence *s =
		name->kind == INSPECT_MESSAGES ? &c->messages : &c->attachments;
	enum json_type type = json_type(buf_view(content));

	if (type != (name->kind == INSPECT_SHELL ? JSON_OBJECT : JSON_ARRAY)) {
		return error_set(err, FAIL_INPUT, "not %s",
		                 name->kind == INSPECT_SHELL ? "an object" : "an array");
	}
	c->bytes += content->n;
	if (name->kind == INSPECT_SHELL) {
		buf_release(&c->shell);
		c->shell = *content;
	} else {
		if (s->count == s->room) {
			s->room = s->room ? 2 * s->room : 4;
			s->list = mem_resize(s->list, s->room, sizeof(*s->list));
		}
		s->list[s->count++] = (struct inspect_chunk){name->start, *content};
	}
	*content = BUF(content->max);
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct inspect_chunk *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int missing(const char *what, uint64_t index, struct error *err)
{
	return error_set(err, FAIL_INPUT, "%s %" PRIu64 " is missing", what, index);
}

/* The entries have to follow one another without a gap. */
static int join(struct inspect_sequence *s, const char *what, struct items *items,
                struct error *err)
{
	struct str item;

	if (s->count) {
		qsort(s->list, s->count, sizeof(*s->list), by_start);
	}
	for (size_t i = 0; i < s->count; i++) {
		size_t cursor = 0;

		if (s->list[i].start != items->count) {
			return missing(what, items->count, err);
		}
		while (json_next(buf_view(&s->list[i].content), &cursor, &item)) {
			add_item(items, item);
		}
	}
	return 0;
}

/* The attachment that a string of a message refers to; absent for any other string. A reference to
   a missing attachment stays as it is, as in Inspect. */
static struct str attachment_of(struct str string, const struct items *attachments)
{
	static const struct str scheme = STR_INIT("\"attachment://");
	uint64_t index;

	if (!str_starts(string, scheme)) {
		return STR_NONE;
	}
	struct str number = str_skip(string, scheme.n);
	number.n--; /* the closing quote */
	return text_u64(number, &index) && index < attachments->count ? attachments->list[index]
	                                                              : STR_NONE;
}

static void put_message(struct str message, const struct items *attachments, struct buf *out)
{
	const char *from = message.p;
	struct str string;
	size_t cursor = 0;

	while (json_next_string(message, &cursor, &string)) {
		struct str content = attachment_of(string, attachments);

		if (content.p) {
			buf_add(out, from, (size_t)(string.p - from));
			buf_str(out, content);
			from = string.p + string.n;
		}
	}
	buf_add(out, from, (size_t)(message.p + message.n - from));
}

static bool get_range(struct str value, int64_t *start, int64_t *end)
{
	struct str first, last;
	size_t cursor = 0;

	return json_count(value) == 2 && json_next(value, &cursor, &first) &&
	       json_next(value, &cursor, &last) && json_i64(first, start) && json_i64(last, end) &&
	       *start >= 0 && *end >= *start;
}

static int put_refs(struct str refs, const struct items *messages, const struct items *attachments,
                    struct buf *out, struct error *err)
{
	size_t cursor = 0, count = 0;
	int64_t start, end;
	struct str range;

	buf_char(out, '[');
	while (json_next(refs, &cursor, &range)) {
		if (!get_range(range, &start, &end)) {
			return error_set(err, FAIL_INPUT,
			                 "message_refs are not ranges of messages");
		}
		for (int64_t i = start; i < end && !out->full; i++) {
			if ((uint64_t)i >= messages->count) {
				return missing("message", (uint64_t)i, err);
			}
			buf_text(out, count++ ? "," : "");
			put_message(messages->list[i], attachments, out);
		}
	}
	buf_char(out, ']');
	return 0;
}

int inspect_chunks_messages(struct inspect_chunks *c, struct buf *out, struct error *err)
{
	struct str refs = JSON_GET(buf_view(&c->shell), "message_refs");
	struct items messages = {0}, attachments = {0};
	int failed = 0;

	if (!c->shell.n || json_type(refs) != JSON_ARRAY) {
		return error_set(err, FAIL_INPUT, "%s is missing",
		                 c->shell.n ? "message_refs" : "sample.json");
	}
	failed = join(&c->messages, "message", &messages, err) ||
	         join(&c->attachments, "attachment", &attachments, err) ||
	         put_refs(refs, &messages, &attachments, out, err);
	free(messages.list);
	free(attachments.list);
	return failed ? -1 : 0;
}

static void release(struct inspect_sequence *s)
{
	for (size_t i = 0; i < s->count; i++) {
		buf_release(&s->list[i].content);
	}
	free(s->list);
	*s = (struct inspect_sequence){0};
}

void inspect_chunks_release(struct inspect_chunks *c)
{
	buf_release(&c->shell);
	release(&c->messages);
	release(&c->attachments);
	c->bytes = 0;
}
