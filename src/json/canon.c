/* The canonical form in one pass over the bytes: members are written in the order they are read,
   and an object with unsorted keys is sorted when it closes. Iterative; small values need no
   allocation. Most bytes are canonical already: they are copied in long runs, each up to the next
   byte that is not (a blank, an escape with another form, an edit), or to the end of an object that
   must be sorted. */
#include "json/canon.h"

#include "base/mem.h"
#include "json/lex.h"
#include "json/paths_internal.h"
#include "json/scan.h"
#include "json/write.h"

#include <stdio.h>
#include <stdlib.h>

/* JSON nested in strings doubles the backslashes at each level, so 64 levels would not fit in
   memory. */
#define STRINGS_MAX 64

/* A written member: its text is out[at .. end). */
struct written_member {
	struct str key; /* decoded */
	size_t at, end;
};

struct frame {
	unsigned char closer;       /* ']', '}', or 0 for a string */
	bool sorted;                /* the keys so far are sorted */
	size_t count;               /* children written */
	size_t index;               /* children seen */
	size_t members;             /* index of its first member in canon.members */
	size_t states, states_open; /* its open patterns */
};

/* A string that is read as JSON because a pattern may match inside it. */
struct string_frame {
	char *text;
	const unsigned char *string, *after, *end; /* in the surrounding text */
	size_t begin, edits;
};

struct canon {
	const unsigned char *p, *end;
	const unsigned char *from; /* the first byte before p that is not written yet */
	struct buf *out;
	const struct json_paths *paths;
	enum json_edit edit;
	size_t edits; /* number of edits so far */
	struct path_states states;
	struct frame *frames;
	struct written_member *members;
	size_t frames_n, frames_cap, members_n, members_cap, strings_n;
	struct arena keys;            /* keys that had escapes, decoded */
	struct string_frame *strings; /* NULL until a string is read as JSON */
	struct frame first_frames[16];
	struct written_member first_members[32];
};

/* ---- the order of members ---- */

/* Byte order. Most keys differ in their first byte, which needs no function call. */
ALWAYS_INLINE int key_order(struct str a, struct str b)
{
	if (a.n && b.n && a.p[0] != b.p[0])
		return (unsigned char)a.p[0] < (unsigned char)b.p[0] ? -1 : 1;
	return str_order(a, b);
}

#define SORTED_RUN   16   /* members that are sorted by insertion */
#define SORTED_SMALL 1024 /* bytes of members that are sorted without allocation */

static void insert_all(struct written_member *m, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct written_member one = m[i];
		size_t j = i;

		for (; j > 0 && key_order(m[j - 1].key, one.key) > 0; j--)
			m[j] = m[j - 1];
		m[j] = one;
	}
}

/* Equal keys keep their order. */
static int by_key(const void *left, const void *right)
{
	const struct written_member *a = left, *b = right;
	int order = key_order(a->key, b->key);

	return order ? order : (a->at > b->at) - (a->at < b->at);
}

/* Sorts adjacent, comma-separated members by key. Equal keys keep their order. */
static void sort_written(struct written_member *m, size_t n, char *out)
{
	char small[SORTED_SMALL], *to = out + m[0].at;
	const size_t begin = m[0].at, length = m[n - 1].end - begin;
	char *copy = length <= sizeof(small) ? small : mem_array(length, 1);

	memcpy(copy, to, length);
	if (n <= SORTED_RUN)
		insert_all(m, n);
	else
		qsort(m, n, sizeof(*m), by_key);
	for (size_t i = 0; i < n; i++) {
		size_t size = m[i].end - m[i].at;

		if (i > 0)
			*to++ = ',';
		memcpy(to, copy + (m[i].at - begin), size);
		to += size;
	}
	if (copy != small)
		free(copy);
}

/* ---- output ---- */

/* Writes everything before p. */
static void flush(struct canon *c)
{
	buf_add(c->out, c->from, (size_t)(c->p - c->from));
	c->from = c->p;
}

/* The offset that the byte at p has in the output. */
ALWAYS_INLINE size_t place(const struct canon *c)
{
	return c->out->n + (size_t)(c->p - c->from);
}

/* Leaves out what is between p, up to which all is written, and `after`. */
static void skip_to(struct canon *c, const unsigned char *after)
{
	c->p = c->from = after;
}

ALWAYS_INLINE void skip_blanks(struct canon *c)
{
	if (UNLIKELY(c->p < c->end && *c->p <= ' ')) {
		flush(c);
		skip_to(c, lex_blanks(c->p, c->end));
	}
}

/* p is at an escape with four hex digits, or at an escaped slash. */
static void pass_escape(struct canon *c)
{
	const unsigned char *after = c->p;
	char text[6];
	size_t n = lex_canonical(lex_unescape(&after, c->end), text);

	if ((size_t)(after - c->p) == n && memcmp(c->p, text, n) == 0) {
		c->p = after;
		return;
	}
	flush(c);
	buf_add(c->out, text, n);
	skip_to(c, after);
}

/* Moves p to the closing quote, or to the end if that is within the string. */
static void pass_text(struct canon *c)
{
	while ((c->p = run_text(c->p, c->end)) < c->end && *c->p == '\\')
		if (c->p[1] == 'u' || c->p[1] == '/')
			pass_escape(c);
		else
			c->p += 2;
}

ALWAYS_INLINE void pass_string(struct canon *c)
{
	c->p = run_text(c->p + 1, c->end);
	if (*c->p != '"')
		pass_text(c);
	c->p++;
}

/* ---- stacks ---- */

static void *grow(void *items, void *first, size_t *cap, size_t size)
{
	void *grown = mem_array(2 * *cap, size);

	memcpy(grown, items, *cap * size);
	if (items != first)
		free(items);
	*cap *= 2;
	return grown;
}

static struct frame *push_frame(struct canon *c, unsigned char closer, size_t states)
{
	if (c->frames_n == c->frames_cap)
		c->frames = grow(c->frames, c->first_frames, &c->frames_cap, sizeof(*c->frames));
	struct frame *f = &c->frames[c->frames_n++];
	*f = (struct frame){
		.closer = closer,
		.sorted = true,
		.members = c->members_n,
		.states = states,
		.states_open = c->states.n - states,
	};
	return f;
}

static void pop_frame(struct canon *c)
{
	struct frame *f = &c->frames[--c->frames_n];

	c->members_n = f->members;
	c->states.n = f->states;
}

static void add_member(struct canon *c, struct frame *f, struct str key)
{
	if (c->members_n == c->members_cap) {
		c->members =
			grow(c->members, c->first_members, &c->members_cap, sizeof(*c->members));
	}
	struct written_member *m = &c->members[c->members_n++];
	*m = (struct written_member){.key = key, .at = place(c)};
	if (f->count > 0) {
		m[-1].end = m->at - 1;
		f->sorted = f->sorted && key_order(m[-1].key, key) <= 0;
	}
}

/* ---- strings that hold JSON ---- */

static bool may_hold_json(struct str inner)
{
	const unsigned char *p = lex_begin(inner), *end = lex_end(inner);

	p = lex_blanks(p, end);
	return p < end && (*p == '{' || *p == '[' || *p == '\\');
}

/* Descends into the string at c->p if it is a JSON container. */
static bool enter_string(struct canon *c, size_t states)
{
	const unsigned char *after = lex_string(c->p, c->end);
	struct str inner = json_inner(lex_slice(c->p, after));
	struct json_fault fault;
	size_t n;

	if (c->strings_n == STRINGS_MAX || !may_hold_json(inner))
		return false;
	char *text = mem_new(inner.n + 1);
	lex_decode(inner, text, &n);
	struct str value;
	bool read = lex_validate((struct str){text, n}, &value, &fault) == 0;
	if (!read || (*value.p != '{' && *value.p != '[' && *value.p != '"')) {
		free(text);
		return false;
	}
	if (!c->strings)
		c->strings = mem_array(STRINGS_MAX, sizeof(*c->strings));
	flush(c);
	c->strings[c->strings_n++] = (struct string_frame){
		.text = text,
		.string = c->p,
		.after = after,
		.end = c->end,
		.begin = c->out->n,
		.edits = c->edits,
	};
	push_frame(c, 0, states);
	skip_to(c, lex_begin(value));
	c->end = lex_end(value);
	return true;
}

/* The JSON inside has been written: closes it as a string if anything was edited; otherwise
   writes the string unchanged. */
static void leave_string(struct canon *c)
{
	struct string_frame *s = &c->strings[--c->strings_n];

	flush(c);
	c->end = s->end;
	if (c->edits != s->edits) {
		AUTO_BUF inner = BUF(SIZE_MAX / 2);

		buf_str(&inner, str_skip(buf_view(c->out), s->begin));
		buf_cut(c->out, s->begin);
		json_quote(c->out, buf_view(&inner));
		skip_to(c, s->after);
	} else {
		buf_cut(c->out, s->begin);
		skip_to(c, s->string);
		pass_string(c);
	}
	free(s->text);
	pop_frame(c);
}

/* ---- strings that are texts ---- */

/* Does a pattern select the word with that number? */
static bool is_word_picked(struct canon *c, size_t states, size_t number)
{
	char token[24];
	size_t open = c->states.n;

	snprintf(token, sizeof(token), "%zu", number);
	bool picked = paths_child(c->paths, &c->states, states, open - states, str_from(token));
	c->states.n = open;
	return picked;
}

/* Writes the string at c->p, which is a text, with `#` for each word that a pattern selects. */
static void put_words(struct canon *c, size_t states)
{
	const unsigned char *end = c->end, *after = lex_string(c->p, end);
	struct str inner = json_inner(lex_slice(c->p, after)), word;

	c->p++;
	for (size_t at = 0, n = 0; json_next_word(inner, &at, &word); n++) {
		if (is_word_picked(c, states, n)) {
			c->end = lex_begin(word);
			pass_text(c);
			flush(c);
			buf_add(c->out, "#", 1);
			skip_to(c, lex_end(word));
			c->edits++;
		}
	}
	c->end = after - 1;
	pass_text(c);
	c->end = end;
	c->p = after;
}

/* ---- values ---- */

/* Begins the value at c->p. Its open patterns are those from `states` on. */
ALWAYS_INLINE void begin_value(struct canon *c, size_t states)
{
	const unsigned char first = *c->p;
	const bool matches = c->states.n != states;

	if (first == '{' || first == '[') {
		c->p++;
		push_frame(c, (unsigned char)(first + 2), states);
		return;
	}
	if (first != '"')
		c->p = lex_word(c->p, c->end);
	else if (UNLIKELY(matches) && enter_string(c, states))
		return;
	else if (UNLIKELY(matches) && !paths_are_wild(c->paths))
		put_words(c, states);
	else
		pass_string(c);
	c->states.n = states;
}

/* Masks the value at c->p, which a pattern selects. */
static void mask_value(struct canon *c)
{
	static const char masked[] = "\"<masked>\"";

	flush(c);
	buf_add(c->out, masked, sizeof(masked) - 1);
	skip_to(c, lex_value(c->p, c->end));
	c->edits++;
}

/* Leaves out the child at c->p, whose value is at `value`, and the comma before it. */
static void drop_child(struct canon *c, const struct frame *f, const unsigned char *value)
{
	flush(c);
	if (f->count > 0 && !c->out->full)
		buf_cut(c->out, c->out->n - 1);
	skip_to(c, lex_value(value, c->end));
	c->edits++;
}

/* The value at c->p of a child that is not dropped. */
ALWAYS_INLINE void child_value(struct canon *c, struct frame *f, size_t states, bool picked)
{
	f->count++;
	if (UNLIKELY(picked)) {
		c->states.n = states;
		mask_value(c);
	} else {
		begin_value(c, states);
	}
}

ALWAYS_INLINE void begin_element(struct canon *c, struct frame *f)
{
	size_t states = c->states.n;
	bool picked = false;

	if (UNLIKELY(f->states_open > 0)) {
		char token[24];

		snprintf(token, sizeof(token), "%zu", f->index);
		picked = paths_child(c->paths, &c->states, f->states, f->states_open,
		                     str_from(token));
	}
	f->index++;
	if (UNLIKELY(picked) && c->edit == JSON_EDIT_DROP) {
		c->states.n = states;
		drop_child(c, f, c->p);
		return;
	}
	child_value(c, f, states, picked);
}

/* The text of a key with escapes. */
static struct str decoded_key(struct canon *c, struct str inner)
{
	char *text = arena_new(&c->keys, inner.n + 1);
	size_t n;

	lex_decode(inner, text, &n);
	return (struct str){text, n};
}

static void begin_member(struct canon *c, struct frame *f)
{
	const unsigned char *begin = c->p, *after = run_text(begin + 1, c->end);
	const bool plain = *after == '"';
	size_t states = c->states.n;

	after = plain ? after + 1 : lex_string(begin, c->end);
	struct str key = lex_slice(begin + 1, after - 1);
	key = plain ? key : decoded_key(c, key);
	bool picked = f->states_open > 0 &&
	              paths_child(c->paths, &c->states, f->states, f->states_open, key);
	if (UNLIKELY(picked) && c->edit == JSON_EDIT_DROP) {
		c->states.n = states;
		drop_child(c, f, lex_blanks(lex_blanks(after, c->end) + 1, c->end));
		return;
	}
	add_member(c, f, key);
	if (plain)
		c->p = after;
	else
		pass_string(c);
	skip_blanks(c);
	c->p++; /* the colon */
	skip_blanks(c);
	child_value(c, f, states, picked);
}

static void sort(struct canon *c, const struct frame *f)
{
	struct written_member *m = c->members + f->members;
	const size_t n = c->members_n - f->members;

	m[n - 1].end = place(c);
	flush(c);
	if (!c->out->full)
		sort_written(m, n, c->out->p);
}

ALWAYS_INLINE void end_container(struct canon *c)
{
	const struct frame *f = &c->frames[c->frames_n - 1];

	if (UNLIKELY(!f->sorted))
		sort(c, f);
	c->p++;
	pop_frame(c);
}

/* Goes on with the first or next child of the innermost container, or closes it. */
ALWAYS_INLINE void go_on(struct canon *c)
{
	struct frame *f = &c->frames[c->frames_n - 1];

	skip_blanks(c);
	if (UNLIKELY(f->closer == 0)) {
		if (f->count++ == 0)
			begin_value(c, f->states);
		else
			leave_string(c);
		return;
	}
	if (*c->p == ',') {
		c->p++;
		if (UNLIKELY(f->count == 0)) /* what was before it was dropped */
			c->from = c->p;
		skip_blanks(c);
	}
	if (*c->p == f->closer)
		end_container(c);
	else if (f->closer == '}')
		begin_member(c, f);
	else
		begin_element(c, f);
}

static void begin(struct canon *c, struct str value, struct buf *out)
{
	c->end = lex_end(value);
	c->p = c->from = lex_blanks(lex_begin(value), c->end);
	c->out = out;
	c->edits = 0;
	c->states = (struct path_states){.n = 0};
	c->frames = c->first_frames;
	c->frames_cap = ARRAY_LEN(c->first_frames);
	c->members = c->first_members;
	c->members_cap = ARRAY_LEN(c->first_members);
	c->frames_n = c->members_n = c->strings_n = 0;
	c->strings = NULL;
	c->keys = (struct arena){0};
	/* the canonical form is rarely longer than its source, so this is the only growth */
	if (out->n <= out->max && value.n <= out->max - out->n)
		buf_room(out, value.n);
}

static void end(struct canon *c)
{
	while (c->strings_n > 0)
		free(c->strings[--c->strings_n].text);
	free(c->strings);
	if (c->frames != c->first_frames)
		free(c->frames);
	if (c->members != c->first_members)
		free(c->members);
	path_states_release(&c->states);
	arena_release(&c->keys);
	buf_add(c->out, "", 0); /* adds the terminating NUL */
}

static void finish(struct canon *c)
{
	while (c->frames_n > 0 && !c->out->full)
		go_on(c);
	flush(c);
	end(c);
}

/* A number, a literal, or a string without escapes, with nothing around it. */
static bool is_canonical_scalar(struct str value)
{
	switch (value.p[0]) {
	case '"':
		return value.p[value.n - 1] == '"' && !memchr(value.p, '\\', value.n);
	case '{':
	case '[':
		return false;
	default:
		return value.p[0] > ' ' && value.p[value.n - 1] > ' ';
	}
}

void json_canon(struct str value, const struct json_paths *paths, enum json_edit edit,
                struct buf *out)
{
	struct canon c;

	value = value.n ? value : STR("null");
	if (!paths && is_canonical_scalar(value)) {
		buf_str(out, value);
		return;
	}
	begin(&c, value, out);
	c.paths = paths;
	c.edit = edit;
	if (!paths_root(paths, &c.states)) {
		begin_value(&c, 0);
	} else if (edit == JSON_EDIT_MASK) {
		mask_value(&c);
	} else {
		buf_text(out, "null");
		c.p = c.from = c.end;
	}
	finish(&c);
}

void json_canon_member(struct str value, const struct json_paths *paths, struct str key,
                       struct buf *out)
{
	struct canon c;

	value = value.n ? value : STR("null");
	begin(&c, value, out);
	c.paths = paths;
	c.edit = JSON_EDIT_MASK;
	bool all = paths_root(paths, &c.states);
	size_t root = c.states.n;
	bool picked = paths_child(paths, &c.states, 0, root, key);
	if (all ? !json_is_null(value) : picked)
		mask_value(&c);
	else
		begin_value(&c, root);
	finish(&c);
}
