/* The explanations of changes: see explain.h. */
#include "evidence/explain.h"

#include "evidence/limits.h"
#include "json/canon.h"
#include "json/scan.h"
#include "json/walk.h"

#include <stdio.h>
#include <stdlib.h>

const char *const bookkeeping_names[] = {
#define BOOKKEEPING(name) name,
#include "evidence/bookkeeping.def"
#undef BOOKKEEPING
};
const size_t bookkeeping_names_count = ARRAY_LEN(bookkeeping_names);

static const unsigned char name_lengths[] = {
#define BOOKKEEPING(name) sizeof(name) - 1,
#include "evidence/bookkeeping.def"
#undef BOOKKEEPING
};

/* ---- names ---- */

/* The last token of the pointer. */
static struct str name_of(struct str pointer)
{
	size_t n = pointer.n;

	while (n && pointer.p[n - 1] != '/')
		n--;
	return str_skip(pointer, n);
}

/* ASCII letters in any case; `name` is in lower case, and of the same length. */
static bool is_spelled(struct str text, const char *name)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != name[i])
			return false;
	}
	return true;
}

bool is_bookkeeping_name(struct str pointer)
{
	struct str name = name_of(pointer);

	for (size_t i = 0; i < bookkeeping_names_count; i++)
		if (name.n == name_lengths[i] && is_spelled(name, bookkeeping_names[i]))
			return true;
	return false;
}

static bool is_named(const char *const *list, size_t count, const struct member *m)
{
	for (size_t i = 0; i < count; i++) {
		struct str top = str_from(list[i]);

		if (str_starts(m->pointer, top) &&
		    (m->pointer.n == top.n || m->pointer.p[top.n] == '/')) {
			return true;
		}
	}
	return false;
}

/* ---- one function an explanation ---- */

static bool is_volatile(const struct member *m)
{
	return m->controls > 0 || m->always_now || m->moves;
}

static bool is_bookkeeping(const struct member *m, const struct explaining *e)
{
	return is_named(e->ignored, e->ignored_count, m) ||
	       (e->names && is_bookkeeping_name(m->pointer));
}

static bool is_steady(const struct member *m, const struct series *s)
{
	bool each = m->trials == (int64_t)s->known_count && m->trials >= COUNT_TRIALS;

	return m->even && each && (!m->is_list || m->step == 1);
}

/* Is it a count, or an entry of a list that grows by one at each call? What changes within the
   entries that were there is none. */
static bool is_count(const struct member *m, const struct series *s)
{
	struct str list = m->pointer;

	while (list.n && list.p[list.n - 1] != '/')
		list.n--;
	list.n -= list.n > 0;
	const struct member *above =
		m->pointer.n ? map_find(&s->members, map_hash_with(map_hash(list), 1), STR_NONE)
			     : NULL;

	return is_steady(m, s) || (above && is_steady(above, s));
}

/* One call, or the same call again, proves no echo unless the value is nothing but its words. */
static bool is_echo(const struct member *m, const struct series *s)
{
	return m->echoes && (m->is_word || (s->known_count > 1 && s->calls_differ));
}

static enum explanation explain(const struct member *m, const struct series *s,
                                const struct explaining *e)
{
	if (is_named(e->effects, e->effect_count, m))
		return MEMBER_EFFECT;
	return is_volatile(m)         ? MEMBER_VOLATILE
	       : is_bookkeeping(m, e) ? MEMBER_BOOKKEEPING
	       : is_count(m, s)       ? MEMBER_COUNT
	       : is_echo(m, s)        ? MEMBER_ECHO
	                              : MEMBER_EFFECT;
}

void explain_members(struct series *s, const struct explaining *e)
{
	struct member **list = map_list(&s->members);

	for (size_t i = 0; i < s->members.count; i++) {
		struct member *m = list[i];

		m->explanation = explain(m, s, e);
		m->drifts = m->explanation == MEMBER_VOLATILE && !m->always_now &&
		            !is_bookkeeping(m, e);
		m->paced = m->drifts && is_steady(m, s);
	}
	free(list);
}

bool explain_newest(const struct series *s, const struct explaining *e)
{
	const struct call_trial *t = &s->trials[s->trial_count - 1];

	for (size_t i = 0; i < t->count; i++) {
		const struct member *m = s->changed[t->first + i];

		if (is_named(e->effects, e->effect_count, m) ||
		    (!is_volatile(m) && !is_bookkeeping(m, e))) {
			return true;
		}
	}
	return false;
}

struct stable {
	const struct series *s;
	const struct explaining *e;
	bool found;
};

static bool look_for_stable(void *ctx, struct str pointer, struct str value)
{
	struct stable *f = ctx;
	struct member named = {.pointer = pointer};
	const struct member *m =
		map_find(&f->s->members, map_hash_with(map_hash(pointer), 0), STR_NONE);
	bool leaf = json_type(value) != JSON_OBJECT && json_type(value) != JSON_ARRAY;

	f->found = leaf && !is_bookkeeping(&named, f->e) && !(m && is_volatile(m));
	return !f->found;
}

bool explain_has_stable(const struct series *s, const struct explaining *e)
{
	struct stable f = {.s = s, .e = e};
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	struct str last = buf_view(&s->last);

	if (json_type(last) != JSON_OBJECT && json_type(last) != JSON_ARRAY)
		return last.n > 0 && !json_is_null(last);
	json_canon(last, s->ignored, JSON_EDIT_DROP, &text);
	json_walk(buf_view(&text), look_for_stable, &f);
	return f.found;
}

bool explain_is_aside(const struct series *s, const struct explaining *e, struct str key)
{
	char pointer[80];
	int n = snprintf(pointer, sizeof(pointer), "/%.*s", STR_ARG(key));
	struct str text = {pointer, (size_t)n};
	struct member named = {.pointer = text};

	if (n < 0 || (size_t)n >= sizeof(pointer))
		return false;
	const struct member *m = map_find(&s->members, map_hash_with(map_hash(text), 0), STR_NONE);
	return (m && m->controls > 0) || is_bookkeeping(&named, e);
}

/* m: a member of another series; own: of this one, or NULL. */
static enum explanation explain_elsewhere(const struct series *s, const struct explaining *e,
                                          const struct member *m, const struct member *own)
{
	bool counts = own && own->even && own->trials > 0 && own->trials == (int64_t)s->known_count;

	if (is_named(e->effects, e->effect_count, m))
		return MEMBER_EFFECT;
	return m->always_now || (own && is_volatile(own)) ? MEMBER_VOLATILE
	       : is_bookkeeping(m, e)                     ? MEMBER_BOOKKEEPING
	       : counts || is_count(own ? own : m, s) ? MEMBER_COUNT
	       : own && is_echo(own, s) ? MEMBER_ECHO
	                                : MEMBER_EFFECT;
}

enum explanation explain_difference(const struct series *s, const struct explaining *e,
                                    struct str arguments, struct str a, struct str b,
                                    const struct member **own)
{
	struct series pair = {.ignored = s->ignored};
	enum explanation most = MEMBER_UNEXPLAINED;

	*own = NULL;
	series_start(&pair, a);
	series_call(&pair, arguments, -1);
	series_trial(&pair, b);
	for (size_t i = 0; i < pair.changed_count; i++) {
		const struct member *m = pair.changed[i];
		const struct member *mine = map_find(
			&s->members, map_hash_with(map_hash(m->pointer), m->is_list), STR_NONE);
		enum explanation one = explain_elsewhere(s, e, m, mine);

		*own = one > most || (one == most && !*own) ? mine : *own;
		most = one > most ? one : most;
	}
	most = most < MEMBER_COUNT && (pair.over || s->over) ? MEMBER_COUNT : most;
	pair.ignored = NULL;
	series_release(&pair);
	return most;
}

void explain_sentence(const struct member *m, char *out, size_t size)
{
	const char *what = m->pointer.n ? "" : "the state";
	int n = snprintf(out, size, "%s%.*s%s %s", what, STR_ARG(m->pointer),
	                 m->is_list ? " (entries)" : "",
	                 m->explanation == MEMBER_COUNT  ? "changes by the same amount at each call"
	                 : m->explanation == MEMBER_ECHO ? "repeats words of the call"
	                 : m->explanation == MEMBER_VOLATILE    ? "also changes without a call"
	                 : m->explanation == MEMBER_BOOKKEEPING ? "is bookkeeping by its name"
	                                                        : "is an effect of the calls");

	if (n > 0 && (size_t)n < size && !m->is_list &&
	    (m->explanation == MEMBER_COUNT || m->paced))
		snprintf(out + n, size - (size_t)n, " (%s -> %s)", m->before, m->after);
}
