/* Members over time: see series.h. Two readings are compared only if their bytes differ; what
   they have in common costs one comparison. */
#include "evidence/series.h"

#include "base/hash.h"
#include "evidence/clocks.h"
#include "evidence/limits.h"
#include "json/index.h"
#include "json/scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BLANK        '\1'               /* in place of the call's words */
#define EXACT_DOUBLE 9007199254740992.0 /* below it, unlike integers are unlike doubles */

void series_release(struct series *s)
{
	struct member **list = map_list(&s->members);

	for (size_t i = 0; i < s->members.count; i++)
		buf_release(&list[i]->value);
	free(list);
	json_paths_free(s->ignored);
	BUFS_RELEASE(&s->last, &s->text);
	json_form_release(&s->form);
	json_form_release(&s->next_form);
	free(s->words.set.list);
	free(s->words_before.set.list);
	BUFS_RELEASE(&s->words.arguments, &s->words_before.arguments);
	arena_release(&s->arena);
	*s = (struct series){.has_last = false};
}

void series_ignore(struct series *s, struct str pointers, struct str moving)
{
	AUTO_ARENA texts = {0};
	struct error skipped; /* not a pointer: nothing to ignore */
	struct json_index known;
	struct str one;

	json_paths_free(s->ignored);
	s->ignored = json_paths_new(false);
	s->formed = false;
	json_index_begin(&known, moving, &texts);
	for (size_t cursor = 0; json_next(pointers, &cursor, &one);) {
		struct str text = json_text(&texts, one);

		if (text.p && json_index_find(&known, text).p) {
			s->moving = arena_grow(&s->arena, s->moving, s->moving_count,
			                       sizeof(*s->moving));
			s->moving[s->moving_count++] = arena_str(&s->arena, text);
		} else if (text.p && json_paths_add(s->ignored, text, &skipped)) {
			continue;
		}
	}
}

/* ---- words of a call ---- */

static bool ends_word(char c)
{
	return c == '.' || c == ':' || c == '!' || c == '?' || c == '\'' || c == '*' || c == '`';
}

static struct str trimmed(struct str word)
{
	while (word.n > 1 && ends_word(word.p[word.n - 1]))
		word.n--;
	while (word.n > 1 &&
	       (word.p[0] == ':' || word.p[0] == '\'' || word.p[0] == '*' || word.p[0] == '`')) {
		word = str_skip(word, 1);
	}
	return word;
}

static bool is_number(struct str word, double *value)
{
	char c = word.n ? word.p[0] : '\0';

	return (c == '-' || (c >= '0' && c <= '9')) && json_double_text(word, value);
}

/* The same for words that differ in the case of ASCII letters only; by_value: and for 4 and 4.0. */
static uint64_t word_hash(struct str word, bool by_value)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	double value;

	word = trimmed(word);
	if (by_value && is_number(word, &value) && fabs(value) < EXACT_DOUBLE)
		return fingerprint((struct str){(const char *)&value, sizeof(value)});
	for (size_t i = 0; i < word.n; i++) {
		char c = word.p[i];

		hash ^= (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
		hash *= UINT64_C(1099511628211);
	}
	return hash;
}

static struct str text_of(struct str value)
{
	return json_type(value) == JSON_STRING ? json_inner(value) : value;
}

/* A bit for the first letter of a name of two bytes or more; 0: it is no name. */
static uint32_t first_letter(struct str word)
{
	char c = word.n > 1 ? (char)(word.p[0] | 32) : '\0';

	return c >= 'a' && c <= 'z' ? UINT32_C(1) << (c - 'a') : 0;
}

static void add_word(struct word_set *w, struct str word)
{
	w->firsts |= first_letter(trimmed(word));
	if (w->count + 2 > w->room) {
		w->room = w->room ? 2 * w->room : 16;
		w->list = mem_resize(w->list, w->room, sizeof(*w->list));
	}
	w->list[w->count++] = word_hash(word, false);
	w->list[w->count++] = word_hash(word, true);
}

static int order_hashes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool has_word(const struct word_set *w, struct str word, bool by_value)
{
	uint64_t hash = word_hash(word, by_value);

	return w->count && bsearch(&hash, w->list, w->count, sizeof(hash), order_hashes);
}

/* The words of the values in a call's arguments. Keys at the top are the same in every call. */
static const struct word_set *words_of(struct series_words *c)
{
	struct json_member m;
	struct str word;

	if (c->read)
		return &c->set;
	c->read = true;
	c->set.count = c->set.firsts = 0;
	for (size_t cursor = 0; json_next_member(buf_view(&c->arguments), &cursor, &m);)
		for (size_t at = 0; json_next_word(text_of(m.value), &at, &word);)
			add_word(&c->set, word);
	if (c->set.count > 1)
		qsort(c->set.list, c->set.count, sizeof(*c->set.list), order_hashes);
	return &c->set;
}

void series_call(struct series *s, struct str arguments, int64_t now_ms)
{
	struct series_words before = s->words_before;

	s->now_ms = now_ms;
	s->words_before = s->words;
	s->words = before;
	s->words.read = false;
	s->words.arguments.max = s->text.max = BUF_MAX_MESSAGE;
	buf_set(&s->words.arguments, arguments);
	bool same = str_eq(buf_view(&s->words.arguments), buf_view(&s->words_before.arguments));
	s->words.repeated = s->trial_count > 0 && same;
	s->calls_differ = s->calls_differ || (s->trial_count > 0 && !same);
}

struct blanked {
	uint64_t hash;
	bool any, only; /* some word was blanked; all words were */
};

/* Hashes a text with each run of the call's words replaced by one blank; apart: and each number, which
   is a member of its own, by a sign. */
static struct blanked blank_words(struct series_words *call, struct str text, bool apart,
                                  struct buf *out)
{
	const struct word_set *w = words_of(call);
	struct blanked b = {.only = true};
	struct str word;
	size_t from = 0;
	double value;

	buf_clear(out);
	for (size_t at = 0; json_next_word(text, &at, &word);) {
		size_t begin = (size_t)(word.p - text.p);
		bool ours = has_word(w, word, apart);
		bool again = ours && out->n && out->p[out->n - 1] == BLANK && begin == from + 1;

		if (!again) {
			buf_add(out, text.p + from, begin - from);
			buf_str(out, apart && is_number(trimmed(word), &value) ? STR("#")
			             : ours ? (struct str){"\1", 1}
			                    : word);
		}
		from = begin + word.n;
		b.any = b.any || ours;
		b.only = b.only && ours;
	}
	buf_str(out, str_skip(text, from));
	b.only = b.only && b.any;
	b.hash = fingerprint(buf_view(out));
	return b;
}

/* ---- members ---- */

static bool is_moving(const struct series *s, struct str pointer)
{
	for (size_t i = 0; i < s->moving_count; i++)
		if (str_eq(s->moving[i], pointer))
			return true;
	return false;
}

static struct member *find_member(struct series *s, struct str pointer, bool is_list)
{
	uint64_t hash = map_hash_with(map_hash(pointer), is_list);
	struct member *m = map_find(&s->members, hash, STR_NONE);

	if (!m) {
		m = arena_new(&s->arena, sizeof(*m));
		m->pointer = arena_str(&s->arena, pointer);
		m->is_list = is_list;
		m->newest = -1;
		m->value = BUF(SERIES_BYTES);
		m->always_now = m->even = true;
		m->moves = !is_list && is_moving(s, pointer);
		map_add(&s->members, &m->item, hash);
	}
	return m;
}

/* Nearly always the one that followed the last time, too. */
static struct member *member_at(struct series *s, struct str pointer, bool is_list)
{
	struct member *m = s->latest ? s->latest->follower : NULL;

	if (!m || m->is_list != is_list || !str_eq(m->pointer, pointer))
		m = find_member(s, pointer, is_list);
	if (s->latest)
		s->latest->follower = m;
	s->latest = m;
	return m;
}

/* A comparison of two readings. */
struct reading_diff {
	struct series *s;
	struct call_trial *trial; /* NULL: a control */
	bool busy;
};

static void show(char out[SHOWN_VALUE], struct str value)
{
	size_t n = value.n < SHOWN_VALUE ? value.n : SHOWN_VALUE - 1;

	if (n)
		memcpy(out, value.p, n);
	out[n] = '\0';
}

static bool is_scalar(struct str value)
{
	enum json_type type = json_type(value);

	return type != JSON_OBJECT && type != JSON_ARRAY;
}

/* The values before and after the newest call; `first`: the member changed for the first time. */
static void follow_echo(struct series *s, struct member *m, struct str before, struct str after,
                        bool first)
{
	struct blanked b = {.hash = 0};

	if (!first && !m->echoes)
		return;
	if (is_scalar(after) && after.p)
		b = blank_words(&s->words, text_of(after), true, &s->text);
	if (first) {
		m->text = b.hash;
		m->is_word = b.only;
		m->echoes = b.any;
		s->echoing = m->echoes ? arena_grow(&s->arena, s->echoing, s->echoing_count,
		                                    sizeof(struct member *))
		                       : s->echoing;
		if (m->echoes)
			s->echoing[s->echoing_count++] = m;
		if (m->echoes && s->known_count > 1 && before.p && !json_is_null(before))
			b = blank_words(&s->words_before, text_of(before), true, &s->text);
	}
	m->echoes = m->echoes && b.any && b.hash == m->text;
	buf_clear(&m->value);
	if (m->echoes)
		buf_str(&m->value, text_of(after));
}

/* A call that changed nothing is no echo of a member unless the value repeats its words. */
static void follow_unchanged(struct series *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->echoing_count; i++) {
		struct member *m = s->echoing[i];

		if (m->echoes && m->newest != (int64_t)s->trial_count - 1) {
			struct blanked b =
				blank_words(&s->words, buf_view(&m->value), true, &s->text);

			m->echoes = b.any && b.hash == m->text;
		}
		if (m->echoes)
			s->echoing[kept++] = m;
	}
	s->echoing_count = kept;
}

static void follow_number(struct member *m, bool number, double by)
{
	if (m->trials == 1)
		m->step = by;
	m->even =
		m->even && number && by != 0 && fabs(by - m->step) <= 1e-9 * fmax(1, fabs(m->step));
}

/* Once for each control: entries of a list are several differences. */
static void add_control(const struct reading_diff *c, struct member *m)
{
	int64_t number = c->s->quiet + c->s->busy;

	m->controls += !c->busy && m->control < number;
	m->shared += c->busy && m->control < number;
	m->control = number;
}

/* One member differs. by: by how much, if it is a number. */
static void add_change(struct reading_diff *c, struct member *m, struct str before,
                       struct str after, bool number, double by, bool now)
{
	struct series *s = c->s;

	m->always_now = m->always_now && now;
	if (!c->trial) {
		add_control(c, m);
		return;
	}
	int64_t index = (int64_t)s->trial_count - 1;
	if (m->newest == index)
		return;
	m->newest = index;
	if (m->trials++ == 0) {
		show(m->before, before);
		show(m->after, after);
	}
	follow_number(m, number, by);
	follow_echo(s, m, before, after, m->trials == 1);
	s->changed = arena_grow(&s->arena, s->changed, s->changed_count, sizeof(struct member *));
	s->changed[s->changed_count++] = m;
	c->trial->count++;
}

static bool are_now(const struct series *s, struct str before, struct str after)
{
	return (!before.p || clocks_is_now(before, s->now_ms)) && after.p &&
	       clocks_is_now(after, s->now_ms);
}

static void compare_scalars(struct reading_diff *c, struct str pointer, struct str before,
                            struct str after)
{
	double from = 0, to = 0;
	bool number = json_double(before, &from) && json_double(after, &to);

	if (number && from == to && fabs(from) < EXACT_DOUBLE)
		return; /* another spelling: 1 and 1.0 */
	struct member *m = member_at(c->s, pointer, false);
	add_change(c, m, before, after, number, to - from,
	           m->always_now && are_now(c->s, before, after));
}

/* ---- texts ---- */

/* A text with its numbers replaced, and these numbers. */
struct numbered_text {
	struct buf prose;
	struct number {
		double value;
		size_t word; /* its number among the words */
		struct str text;
	} *list;
	size_t count;
};

static void read_numbers(struct str text, struct numbered_text *out)
{
	struct str word;
	size_t from = 0, words = 0;

	out->prose = BUF(text.n + 1);
	for (size_t at = 0; json_next_word(text, &at, &word); words++) {
		struct str digits = trimmed(word);
		double value;

		if (!is_number(digits, &value))
			continue;
		out->list = mem_grow(out->list, out->count, sizeof(*out->list));
		out->list[out->count++] = (struct number){value, words, digits};
		buf_add(&out->prose, text.p + from, (size_t)(digits.p - text.p) - from);
		buf_char(&out->prose, '#');
		from = (size_t)(digits.p - text.p) + digits.n;
	}
	buf_str(&out->prose, str_skip(text, from));
}

static void compare_numbers(struct reading_diff *c, struct str pointer,
                            const struct numbered_text *a, const struct numbered_text *b)
{
	AUTO_BUF name = BUF(BUF_MAX_MESSAGE);

	for (size_t i = 0; i < a->count && i < b->count && !c->s->over; i++) {
		if (a->list[i].value == b->list[i].value)
			continue;
		buf_set(&name, pointer);
		buf_printf(&name, "/%zu", a->list[i].word);
		add_change(c, member_at(c->s, buf_view(&name), false), a->list[i].text,
		           b->list[i].text, true, b->list[i].value - a->list[i].value, false);
	}
}

/* Only numbers of a text changed: it may repeat the call's all the same. */
static void follow_numbers(struct reading_diff *c, struct str pointer, struct str after)
{
	struct member *m = map_find(&c->s->members, map_hash_with(map_hash(pointer), 0), STR_NONE);

	if (!m || !m->echoes || !c->trial)
		return;
	m->newest = (int64_t)c->s->trial_count - 1;
	follow_echo(c->s, m, STR_NONE, after, false);
}

static void compare_texts(struct reading_diff *c, struct str pointer, struct str before,
                          struct str after)
{
	AUTO_BUF scratch = BUF(BUF_MAX_MESSAGE);
	struct numbered_text a = {.count = 0}, b = {.count = 0};
	struct str x = json_inner(before), y = json_inner(after);
	int64_t date;

	if (!clocks_may_be_in(x) && !clocks_may_be_in(y)) {
		add_change(c, member_at(c->s, pointer, false), x, y, false, 0, false);
		return;
	}
	bool dates = clocks_date(x, &date) && clocks_date(y, &date);

	clocks_mask_both(&x, &y, &scratch);
	if (str_eq(x, y)) {
		add_change(c, member_at(c->s, pointer, false), before, after, false, 0,
		           !dates || are_now(c->s, before, after));
	} else {
		read_numbers(x, &a);
		read_numbers(y, &b);
		bool same = str_eq(buf_view(&a.prose), buf_view(&b.prose));
		if (a.count == b.count)
			compare_numbers(c, pointer, &a, &b);
		if (same)
			follow_numbers(c, pointer, y);
		else
			add_change(c, member_at(c->s, pointer, false), x, y, false, 0, false);
	}
	BUFS_RELEASE(&a.prose, &b.prose);
	free(a.list);
	free(b.list);
}

/* ---- two readings ---- */

/* An entry of a list was added or removed: its pointer ends in a number. */
static void grow_list(struct reading_diff *c, struct str pointer, double by)
{
	size_t n = pointer.n;

	while (n && pointer.p[n - 1] >= '0' && pointer.p[n - 1] <= '9')
		n--;
	if (n == pointer.n || n == 0 || pointer.p[n - 1] != '/')
		return;
	struct member *list = member_at(c->s, (struct str){pointer.p, n - 1}, true);
	bool again = list->newest == (int64_t)c->s->trial_count - 1 && c->trial;

	list->growth = again ? list->growth + by : by;
	if (!again)
		add_change(c, list, STR("-"), STR("-"), true, by, false);
	else if (list->trials == 1)
		list->step = list->growth;
	else
		list->even = false; /* by more than one entry, which no log of calls does */
}

static bool take_difference(void *ctx, const struct json_difference *d)
{
	struct reading_diff *c = ctx;

	if (!d->before.p || !d->after.p)
		grow_list(c, d->pointer, d->after.p ? 1 : -1);
	if (json_type(d->before) == JSON_STRING && json_type(d->after) == JSON_STRING)
		compare_texts(c, d->pointer, d->before, d->after);
	else
		compare_scalars(c, d->pointer, d->before, d->after);
	c->s->over = c->s->over || c->s->arena.bytes > SERIES_BYTES;
	return !c->s->over;
}

static void compare_readings(struct reading_diff *c, struct str state)
{
	struct series *s = c->s;
	struct str last = buf_view(&s->last);

	if (s->over || str_eq(last, state))
		return;
	if (!s->formed)
		json_form_read(&s->form, last, s->ignored);
	json_form_read(&s->next_form, state, s->ignored);
	json_diff_forms(&s->form, &s->next_form, take_difference, c);
	struct json_form before = s->form;
	s->form = s->next_form;
	s->next_form = before;
	s->formed = true;
}

/* compared: with the last one, just now. */
static void keep_last(struct series *s, struct str state, bool compared)
{
	s->formed = s->formed && compared;
	s->last.max = s->last.max ? s->last.max : BUF_MAX_MESSAGE;
	buf_set(&s->last, state);
	s->has_last = state.p && !s->last.full;
	s->any = s->any || s->has_last;
}

/* Does a key or a text of the state repeat a word of the call? */
static void look_for_words(struct series *s, struct str state)
{
	const struct word_set *w = words_of(&s->words);
	struct str word;

	for (size_t at = 0; w->firsts && !s->names_calls && json_next_word(state, &at, &word);)
		s->names_calls =
			first_letter(trimmed(word)) & w->firsts && has_word(w, word, false);
}

uint64_t series_wordless(struct series *s, struct str reply)
{
	return blank_words(&s->words, reply, false, &s->text).hash;
}

void series_trial(struct series *s, struct str state)
{
	struct reading_diff c = {.s = s};
	bool known = s->has_last && state.p && !s->over;

	s->trials = arena_grow(&s->arena, s->trials, s->trial_count, sizeof(*s->trials));
	c.trial = &s->trials[s->trial_count++];
	*c.trial = (struct call_trial){.first = s->changed_count};
	s->known_count += known;
	if (known) {
		bool same = str_eq(buf_view(&s->last), state);

		compare_readings(&c, state);
		follow_unchanged(s);
		if (!same || !s->words.repeated)
			look_for_words(s, state);
		c.trial->known = !s->over;
	}
	keep_last(s, state, known);
}

void series_control(struct series *s, struct str state, bool busy)
{
	struct reading_diff c = {.s = s, .busy = busy};
	bool known = s->has_last && state.p;

	if (known) {
		s->quiet += !busy;
		s->busy += busy;
		compare_readings(&c, state);
	}
	keep_last(s, state, known);
}

void series_start(struct series *s, struct str state)
{
	keep_last(s, state, false);
}
