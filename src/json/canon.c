/* The canonical form in one pass over the bytes: members are written in the order they are read,
   and an object with unsorted keys is sorted when it closes. Iterative; small values need no
   allocation. Most values are simple and have nothing masked: canon_plain handles those. */
#include "json/canon.h"

#include "base/mem.h"
#include "json/canon_plain.h"
#include "json/lex.h"
#include "json/paths_internal.h"
#include "json/scan.h"
#include "json/sort.h"
#include "json/string_words.h"
#include "json/write.h"

#include <stdio.h>
#include <stdlib.h>

/* JSON nested in strings doubles the backslashes at each level, so 64 levels would not fit in
   memory. */
#define STRINGS_MAX 64

struct frame {
	unsigned char closer;       /* ']', '}', or 0 for a string */
	bool sorted;                /* the keys so far are sorted */
	size_t begin;               /* offset in out, after the opening bracket */
	size_t count;               /* children written */
	size_t index;               /* children seen */
	size_t members;             /* index of its first member in canon.members */
	size_t states, states_open; /* its open patterns */
};

/* A string that is read as JSON because a pattern may match inside it. */
struct string_frame {
	char *text;
	struct str string;
	const unsigned char *after, *end; /* where the surrounding text continues */
	size_t begin, edits;
};

struct canon {
	const unsigned char *p, *end;
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

/* ---- output ---- */

ALWAYS_INLINE void put(struct canon *c, const void *bytes, size_t n)
{
	buf_add(c->out, bytes, n);
}

ALWAYS_INLINE void put_char(struct canon *c, char byte)
{
	put(c, &byte, 1);
}

ALWAYS_INLINE void put_between(struct canon *c, const unsigned char *begin,
                               const unsigned char *end)
{
	put(c, begin, (size_t)(end - begin));
}

/* c->p is at the first backslash of a string; the part before it is written. */
static void put_escaped(struct canon *c)
{
	while (*c->p == '\\') {
		char text[6];
		size_t n = lex_canonical(lex_unescape(&c->p, c->end), text);

		put(c, text, n);
		const unsigned char *begin = c->p;
		c->p = run_text(begin, c->end);
		put_between(c, begin, c->p);
	}
	c->p++;
	put_char(c, '"');
}

ALWAYS_INLINE void put_string(struct canon *c)
{
	const unsigned char *begin = c->p;

	c->p = run_text(begin + 1, c->end);
	if (LIKELY(*c->p == '"')) {
		c->p++;
		put_between(c, begin, c->p);
		return;
	}
	put_between(c, begin, c->p);
	put_escaped(c);
}

/* ---- stacks ---- */

static void *grow(void *items, void *first, size_t *cap, size_t size)
{
	void *grown = mem_array(2 * *cap, size);

	memcpy(grown, items, *cap * size);
	if (items != first) {
		free(items);
	}
	*cap *= 2;
	return grown;
}

static struct frame *push_frame(struct canon *c, unsigned char closer, size_t states)
{
	if (c->frames_n == c->frames_cap) {
		c->frames = grow(c->frames, c->first_frames, &c->frames_cap, sizeof(*c->frames));
	}
	struct frame *f = &c->frames[c->frames_n++];
	*f = (struct frame){
		.closer = closer,
		.sorted = true,
		.begin = c->out->n,
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
	*m = (struct written_member){.key = key, .at = c->out->n};
	if (f->count > 0) {
		m[-1].end = m->at - 1;
		f->sorted = f->sorted && str_order(m[-1].key, key) <= 0;
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
	struct str string = lex_slice(c->p, after), inner = json_inner(string);
	struct json_fault fault;
	size_t n;

	if (c->strings_n == STRINGS_MAX || !may_hold_json(inner)) {
		return false;
	}
	char *text = mem_new(inner.n + 1);
	lex_decode(inner, text, &n);
	struct str value;
	bool read = lex_validate((struct str){text, n}, &value, &fault) == 0;
	if (!read || (*value.p != '{' && *value.p != '[' && *value.p != '"')) {
		free(text);
		return false;
	}
	if (!c->strings) {
		c->strings = mem_array(STRINGS_MAX, sizeof(*c->strings));
	}
	c->strings[c->strings_n++] = (struct string_frame){
		.text = text,
		.string = string,
		.after = after,
		.end = c->end,
		.begin = c->out->n,
		.edits = c->edits,
	};
	push_frame(c, 0, states);
	c->p = lex_begin(value);
	c->end = lex_end(value);
	return true;
}

/* The JSON inside has been written: closes it as a string if anything was edited; otherwise
   writes the string unchanged. */
static void leave_string(struct canon *c)
{
	struct string_frame *s = &c->strings[--c->strings_n];

	if (!c->out->full && c->edits != s->edits) {
		struct buf inner = BUF(SIZE_MAX / 2);

		buf_add(&inner, c->out->p + s->begin, c->out->n - s->begin);
		buf_cut(c->out, s->begin);
		json_quote(c->out, buf_view(&inner));
		buf_release(&inner);
	} else if (!c->out->full) {
		buf_cut(c->out, s->begin);
		c->p = lex_begin(s->string);
		c->end = s->after;
		put_string(c);
	}
	c->p = s->after;
	c->end = s->end;
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
	const unsigned char *after = lex_string(c->p, c->end), *end = c->end;
	struct str string = lex_slice(c->p, after), inner = json_inner(string), word;
	struct buf text = BUF(SIZE_MAX / 2);
	const char *from = string.p;

	for (size_t at = 0, n = 0; json_next_word(inner, &at, &word); n++) {
		if (is_word_picked(c, states, n)) {
			buf_add(&text, from, (size_t)(word.p - from));
			buf_char(&text, '#');
			from = word.p + word.n;
			c->edits++;
		}
	}
	buf_add(&text, from, (size_t)(string.p + string.n - from));
	struct str edited = buf_view(&text);
	c->p = lex_begin(edited);
	c->end = lex_end(edited);
	put_string(c);
	c->p = after;
	c->end = end;
	buf_release(&text);
}

/* ---- values ---- */

/* Begins the value at c->p, or its opening bracket. Its open patterns are those from `states`
   on. */
static void begin_value(struct canon *c, size_t states)
{
	const unsigned char *begin = c->p;

	if (*begin == '{' || *begin == '[') {
		put_char(c, (char)*begin);
		push_frame(c, (unsigned char)(*begin + 2), states);
		c->p++;
		return;
	}
	if (*begin == '"') {
		bool open = c->states.n > states;

		if (UNLIKELY(open) && enter_string(c, states)) {
			return;
		}
		if (UNLIKELY(open) && !paths_are_wild(c->paths)) {
			put_words(c, states);
		} else {
			put_string(c);
		}
	} else {
		c->p = lex_word(begin, c->end);
		put_between(c, begin, c->p);
	}
	c->states.n = states;
}

/* Masks the value at c->p, which a pattern selects. */
static void mask_value(struct canon *c)
{
	static const char masked[] = "\"<masked>\"";

	put(c, masked, sizeof(masked) - 1);
	c->p = lex_value(c->p, c->end);
	c->edits++;
}

static void drop_value(struct canon *c)
{
	c->p = lex_value(c->p, c->end);
	c->edits++;
}

static void begin_element(struct canon *c, struct frame *f)
{
	size_t states = c->states.n;
	bool picked = false;

	if (f->states_open > 0) {
		char token[24];

		snprintf(token, sizeof(token), "%zu", f->index);
		picked = paths_child(c->paths, &c->states, f->states, f->states_open,
		                     str_from(token));
	}
	f->index++;
	if (picked && c->edit == JSON_EDIT_DROP) {
		c->states.n = states;
		drop_value(c);
		return;
	}
	if (f->count++ > 0) {
		put_char(c, ',');
	}
	if (picked) {
		c->states.n = states;
		mask_value(c);
		return;
	}
	begin_value(c, states);
}

/* The text of the key at c->p. */
static struct str key_text(struct canon *c, const unsigned char *after)
{
	struct str inner = lex_slice(c->p + 1, after - 1);

	if (!json_has_escape(inner)) {
		return inner;
	}
	char *text = arena_new(&c->keys, inner.n + 1);
	size_t n;
	lex_decode(inner, text, &n);
	return (struct str){text, n};
}

static void begin_member(struct canon *c, struct frame *f)
{
	const unsigned char *after = lex_string(c->p, c->end);
	struct str key = key_text(c, after);
	size_t states = c->states.n;
	bool picked = f->states_open > 0 &&
	              paths_child(c->paths, &c->states, f->states, f->states_open, key);

	if (picked && c->edit == JSON_EDIT_DROP) {
		c->states.n = states;
		c->p = lex_blanks(lex_blanks(after, c->end) + 1, c->end);
		drop_value(c);
		return;
	}
	if (f->count > 0) {
		put_char(c, ',');
	}
	add_member(c, f, key);
	f->count++;
	put_string(c);
	put_char(c, ':');
	c->p = lex_blanks(lex_blanks(c->p, c->end) + 1, c->end);
	if (picked) {
		c->states.n = states;
		mask_value(c);
		return;
	}
	begin_value(c, states);
}

static void end_container(struct canon *c)
{
	const struct frame *f = &c->frames[c->frames_n - 1];

	if (!f->sorted && !c->out->full) {
		c->members[c->members_n - 1].end = c->out->n;
		sort_written(c->members + f->members, c->members_n - f->members, c->out->p);
	}
	put_char(c, (char)f->closer);
	c->p++;
	pop_frame(c);
}

static void go_on(struct canon *c)
{
	struct frame *f = &c->frames[c->frames_n - 1];

	c->p = lex_blanks(c->p, c->end);
	if (f->closer == 0) {
		if (f->count++ == 0) {
			begin_value(c, f->states);
		} else {
			leave_string(c);
		}
		return;
	}
	if (*c->p == ',') {
		c->p = lex_blanks(c->p + 1, c->end);
	}
	if (*c->p == f->closer) {
		end_container(c);
	} else if (f->closer == '}') {
		begin_member(c, f);
	} else {
		begin_element(c, f);
	}
}

static void begin(struct canon *c, struct str value, struct buf *out)
{
	c->p = lex_blanks(lex_begin(value), lex_end(value));
	c->end = lex_end(value);
	c->out = out;
	c->edits = 0;
	path_states_init(&c->states);
	c->frames = c->first_frames;
	c->frames_cap = ARRAY_LEN(c->first_frames);
	c->members = c->first_members;
	c->members_cap = ARRAY_LEN(c->first_members);
	c->frames_n = c->members_n = c->strings_n = 0;
	c->strings = NULL;
	c->keys = (struct arena){0};
	/* the canonical form is rarely longer than its source, so this is the only growth */
	if (out->n <= out->max && value.n <= out->max - out->n) {
		buf_room(out, value.n);
	}
}

static void end(struct canon *c)
{
	while (c->strings_n > 0) {
		free(c->strings[--c->strings_n].text);
	}
	free(c->strings);
	if (c->frames != c->first_frames) {
		free(c->frames);
	}
	if (c->members != c->first_members) {
		free(c->members);
	}
	path_states_release(&c->states);
	arena_release(&c->keys);
	buf_add(c->out, "", 0); /* adds the terminating NUL */
}

/* Not inlined: its frame would be on the stack of each of a thousand threads below that of
   canon_plain. */
static __attribute__((noinline)) void canon_any(struct str value, const struct json_paths *paths,
                                                enum json_edit edit, struct buf *out)
{
	struct canon c;

	begin(&c, value, out);
	c.paths = paths;
	c.edit = edit;
	if (!paths_root(paths, &c.states)) {
		begin_value(&c, 0);
	} else if (edit == JSON_EDIT_MASK) {
		mask_value(&c);
	} else {
		buf_text(out, "null");
	}
	while (c.frames_n > 0 && !out->full) {
		go_on(&c);
	}
	end(&c);
}

void json_canon(struct str value, const struct json_paths *paths, enum json_edit edit,
                struct buf *out)
{
	if (value.n == 0) {
		buf_text(out, "null");
	} else if (paths || !canon_plain(value, out)) {
		canon_any(value, paths, edit, out);
	}
}

/* Are the values equal but for blanks between tokens? Most equal values are: cheaper to find out
   than their canonical forms. */
static bool same_tokens(struct str a, struct str b)
{
	const unsigned char *p = lex_begin(a), *p_end = lex_end(a);
	const unsigned char *q = lex_begin(b), *q_end = lex_end(b);

	for (;;) {
		p = lex_blanks(p, p_end);
		q = lex_blanks(q, q_end);
		if (p == p_end || q == q_end || *p != *q) {
			return p == p_end && q == q_end;
		}
		size_t n = *p == '"' ? (size_t)(lex_string(p, p_end) - p) : 1;
		if (n > (size_t)(q_end - q) || memcmp(p, q, n) != 0) {
			return false;
		}
		p += n;
		q += n;
	}
}

bool json_equal(struct str a, struct str b)
{
	struct buf canon[2] = {BUF(BUF_MAX_MESSAGE), BUF(BUF_MAX_MESSAGE)};

	if (json_type(a) != json_type(b) || same_tokens(a, b)) {
		return json_type(a) == json_type(b);
	}
	json_canon(a, NULL, JSON_EDIT_DROP, &canon[0]);
	json_canon(b, NULL, JSON_EDIT_DROP, &canon[1]);
	bool same = str_eq(buf_view(&canon[0]), buf_view(&canon[1]));
	buf_release(&canon[0]);
	buf_release(&canon[1]);
	return same;
}

/* Removes and returns the text up to the byte, which is dropped. */
static struct str take_until(struct str *rest, char byte)
{
	const char *at = memchr(rest->p, byte, rest->n);
	struct str taken = {rest->p, at ? (size_t)(at - rest->p) : rest->n};

	*rest = str_skip(*rest, taken.n + 1);
	return taken;
}

/* Line breaks in strings are always escaped, so any raw one is outside strings. */
void json_minify(struct str value, struct buf *out)
{
	while (value.n > 0) {
		struct str line = take_until(&value, '\n');

		while (line.n > 0) {
			buf_str(out, take_until(&line, '\r'));
		}
	}
}

void json_hash(struct hasher *h, struct str value, const struct json_paths *ignore,
               struct buf *scratch, char out[HASH_HEX + 1])
{
	buf_clear(scratch);
	json_canon(value, ignore, JSON_EDIT_DROP, scratch);
	hash_hex(h, buf_view(scratch), out);
}
