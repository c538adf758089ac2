/* Proposes options and tries them: see proposals.h. */
#include "compare/proposals.h"

#include "base/map.h"
#include "base/text.h"
#include "compare/patterns.h"
#include "evidence/clocks.h"
#include "json/paths.h"
#include "json/scan.h"
#include "json/walk.h"

#include <ctype.h>
#include <math.h>

#define ID_MIN     8
#define ID_MAX     36   /* a UUID; longer ones are digests of contents */
#define NAME_MIN   6    /* what mkdtemp fills in */
#define SET_MAX    1000 /* elements: comparing each with each is slow */
#define POINT_MAX  4    /* numbers: a place, a color, a box; their order is a fact */
#define TRIALS_MAX 64

/* ---- what a difference looks like ---- */

enum likeness { IS_FACT, IS_UNSTABLE, IS_NOISE, IS_TIME_OR_ID };

static bool is_sign(char c)
{
	return c && strchr("-_:.", c);
}

/* The length of the UUID or of the hex digits at the end of one word such as "req-7d444840", in *letters
   how many of them are letters; 0: it has none. */
static size_t hex_length(struct str word, size_t *letters)
{
	size_t n = 0;

	*letters = 0;
	for (size_t i = 0; i < word.n; i++)
		if (!isalnum((unsigned char)word.p[i]) && !is_sign(word.p[i]))
			return 0;
	if (word.n >= ID_MAX && clocks_is_uuid(str_skip(word, word.n - ID_MAX))) {
		*letters = 1;
		return ID_MAX;
	}
	while (n < word.n && isxdigit((unsigned char)word.p[word.n - n - 1])) {
		n++;
		*letters += !isdigit((unsigned char)word.p[word.n - n]);
	}
	bool whole = n == word.n || is_sign(word.p[word.n - n - 1]);

	return whole && *letters < n && n >= ID_MIN && n <= ID_MAX ? n : 0;
}

/* A number is none: letters are among the digits. */
static size_t id_length(struct str word)
{
	size_t letters, n = hex_length(word, &letters);

	return letters ? n : 0;
}

static bool are_times_or_ids(struct str a, struct str b)
{
	struct str x = json_inner(a), y = json_inner(b);
	size_t n = id_length(x);

	return (clocks_is_now(a, -1) && clocks_is_now(b, -1)) ||
	       (n && n == id_length(y) && x.n == y.n && memcmp(x.p, y.p, x.n - n) == 0);
}

/* Noise is at most 1e-7 of a number, as single precision has it, and 1e-5 in all. Sets the exponent of
   a tolerance of twice the difference or more. */
static bool are_near(struct str a, struct str b, int *exponent)
{
	double x, y, most = 1e-18;

	if (!json_double(a, &x) || !json_double(b, &y))
		return false;
	double size = fmin(fmax(fmax(fabs(x), fabs(y)), 0.1), 100);
	for (*exponent = -18; most < 2 * fabs(x - y) && *exponent < 0; ++*exponent)
		most *= 10;
	return x != y && fabs(x - y) <= 1e-7 * size;
}

/* Equal sums: the same words in some order. */
static uint64_t sum_of_words(struct str string)
{
	struct str word;
	uint64_t sum = 0;

	for (size_t at = 0; json_next_word(json_inner(string), &at, &word);)
		sum += map_hash(word);
	return sum;
}

static bool in_name(struct str s, size_t i)
{
	return i < s.n && (isalnum((unsigned char)s.p[i]) || s.p[i] == '_');
}

/* Equal but for names of as many letters, with digits: temporary files (XXXXXX), tokens, short ids. */
static bool differ_in_names(struct str a, struct str b)
{
	for (size_t i = 0, n; i < a.n; i += n) {
		bool differs = false, digits = false;

		for (n = 0; in_name(a, i + n) && in_name(b, i + n); n++) {
			differs = differs || a.p[i + n] != b.p[i + n];
			digits = digits || isdigit((unsigned char)a.p[i + n]) ||
			         isdigit((unsigned char)b.p[i + n]);
		}
		if ((differs && !(digits && n >= NAME_MIN)) || (!n && a.p[i] != b.p[i]))
			return false;
		n += !n;
	}
	return true;
}

/* Two numbers, or texts that differ only in numbers and ids, or in the order of their words. */
static bool are_alike(struct str a, struct str b)
{
	AUTO_BUF x = BUF(BUF_MAX_MESSAGE), y = BUF(BUF_MAX_MESSAGE);

	if (json_type(a) != JSON_STRING || json_type(b) != JSON_STRING)
		return json_type(a) == JSON_NUMBER && json_type(b) == JSON_NUMBER;
	text_mask(&x, json_inner(a));
	text_mask(&y, json_inner(b));
	return str_eq(buf_view(&x), buf_view(&y)) || sum_of_words(a) == sum_of_words(b) ||
	       (a.n == b.n && differ_in_names(json_inner(a), json_inner(b)));
}

static enum likeness likeness_of(const struct difference *d, int *exponent)
{
	if (d->kind != DIFFERENCE_CHANGED) { /* of members: perhaps a key that is an id */
		struct str key = str_skip(d->pointer, pointer_parent(d->pointer) + 1);
		size_t letters;

		return hex_length(key, &letters) ? IS_UNSTABLE : IS_FACT;
	}
	return are_times_or_ids(d->expected, d->got)     ? IS_TIME_OR_ID
	       : are_near(d->expected, d->got, exponent) ? IS_NOISE
	       : are_alike(d->expected, d->got)          ? IS_UNSTABLE
	                                                 : IS_FACT;
}

static bool is_in(struct str pointer, struct str top)
{
	return str_starts(pointer, top) && (pointer.n == top.n || pointer.p[top.n] == '/');
}

/* Not in the outcome, the reward, the end of an episode, the number of steps. */
static bool is_in_reply(const struct difference *d)
{
	return is_in(d->pointer, STR("/state")) || is_in(d->pointer, STR("/observation")) ||
	       is_in(d->pointer, STR("/structured"));
}

/* ---- trials ---- */

static bool copy_masked(const struct rollout_copy *from, const struct str *masks, size_t count,
                        struct rollout_copy *to)
{
	const struct line *l;
	struct strip *strip = NULL;
	/* a line that grew too long: nothing is proposed */
	bool failed = strip_new(masks, count, &strip, ERROR_IGNORED) != 0;

	for (size_t i = 0; !failed && (l = rollout_copy_line(from, i)); i++)
		failed = l->text.p && rollout_copy_add(to, strip, l, ERROR_IGNORED);
	strip_free(strip);
	return !failed;
}

struct pair {
	const struct rollout_copy *first, *second;
	const struct compare_conf *conf;
};

/* The options after those of the comparison. */
struct options {
	struct str *masks;
	struct tolerance *tolerances;
	struct unordered *unordered;
	size_t mask_count, tolerance_count, unordered_count;
	struct arena arena;
};

static struct options options_of(const struct compare_conf *conf, const struct proposals *p)
{
	size_t n = p->count + 1;
	struct options o = {.tolerance_count = conf->tolerance_count,
	                    .unordered_count = conf->unordered_count};

	o.masks = arena_new(&o.arena, n * sizeof(*o.masks));
	o.tolerances = arena_new(&o.arena, (o.tolerance_count + n) * sizeof(*o.tolerances));
	o.unordered = arena_new(&o.arena, (o.unordered_count + n) * sizeof(*o.unordered));
	for (size_t i = 0; i < conf->tolerance_count; i++)
		o.tolerances[i] = conf->tolerances[i];
	for (size_t i = 0; i < conf->unordered_count; i++)
		o.unordered[i] = conf->unordered[i];
	for (size_t i = 0; i < p->count; i++) {
		const struct proposed *one = &p->items[i];

		if (one->kind == PROPOSE_MASK) {
			o.masks[o.mask_count++] = str_from(one->pattern);
		} else if (one->kind == PROPOSE_TOLERANCE) {
			o.tolerances[o.tolerance_count++] =
				(struct tolerance){one->pattern, pow(10, one->exponent)};
		} else {
			o.unordered[o.unordered_count++] = (struct unordered){one->pattern, ""};
		}
	}
	return o;
}

/* Compares with these options. False if that cannot be done. */
static bool compare_with(const struct pair *pair, const struct proposals *p, difference_fn *take,
                         void *ctx)
{
	struct options o = options_of(pair->conf, p);
	struct rollout_copy first = {.count = 0}, second = {.count = 0};
	struct compare_conf conf = *pair->conf;

	conf.tolerances = o.tolerances;
	conf.tolerance_count = o.tolerance_count;
	conf.unordered = o.unordered;
	conf.unordered_count = o.unordered_count;
	conf.take = take;
	conf.ctx = ctx;
	bool copied = copy_masked(pair->first, o.masks, o.mask_count, &first) &&
	              copy_masked(pair->second, o.masks, o.mask_count, &second);
	if (copied)
		compare_rollouts(&first, &second, &conf, &(struct compare_count){.rollouts = 0});
	rollout_copy_release(&first);
	rollout_copy_release(&second);
	arena_release(&o.arena);
	return copied;
}

/* ---- finding ---- */

struct proposing {
	struct pair pair;
	struct proposals *p;
	/* of the current comparison: */
	struct proposed next; /* the next one to try; without a pattern: none */
	size_t left, facts;   /* differences; those that are no numbers or the like */
	bool hard;            /* a fact beyond the replies: nothing is proposed */
	/* the order that is tried: elements that differ without regard to it */
	size_t within;
	struct names refused; /* lists whose order is not what differs */
};

/* False if there is one like it; a tolerance is raised. */
static bool add(struct proposals *p, struct proposed one)
{
	for (size_t i = 0; i < p->count; i++) {
		struct proposed *old = &p->items[i];

		if (old->kind == one.kind && strcmp(old->pattern, one.pattern) == 0) {
			bool raised = one.kind == PROPOSE_TOLERANCE && one.exponent > old->exponent;

			old->exponent = raised ? one.exponent : old->exponent;
			return raised;
		}
	}
	p->items = arena_grow(&p->arena, p->items, p->count, sizeof(*p->items));
	p->items[p->count++] = one;
	return true;
}

static void propose(struct proposing *s, enum proposed_kind kind, struct str pattern, int exponent)
{
	const char *kept = arena_str(&s->p->arena, pattern).p;

	s->next = (struct proposed){kind, kept, exponent};
}

/* An array without repetitions, and longer than a point if it has numbers. */
static bool is_set(struct str array)
{
	size_t count = json_count(array), at = 0;
	struct str one, other;

	if (json_type(array) != JSON_ARRAY || count > SET_MAX)
		return false;
	for (size_t cursor = 0; json_next(array, &cursor, &one);) {
		if (json_type(one) == JSON_NUMBER && count <= POINT_MAX)
			return false;
		for (at = cursor; json_next(array, &at, &other);)
			if (str_eq(one, other))
				return false;
	}
	return true;
}

/* Sets s->next to the innermost list around the difference whose order may be what differs. */
static bool find_order(struct proposing *s, const struct difference *d)
{
	AUTO_BUF pattern = BUF(BUF_MAX_SMALL), scratch = BUF(BUF_MAX_MESSAGE);
	struct str element = d->pointer;

	for (; element.n && !s->next.pattern; element.n = pointer_parent(element)) {
		struct str list = {element.p, pointer_parent(element)};

		buf_clear(&pattern);
		pattern_generalize(&pattern, element);
		if (!str_ends(buf_view(&pattern), STR("/*")))
			continue;
		buf_cut(&pattern, pattern.n - 2);
		if (names_know(&s->refused, buf_view(&pattern)))
			continue;
		if (is_set(json_point(d->line->text, list, &scratch)))
			propose(s, PROPOSE_UNORDERED, buf_view(&pattern), 0);
		else
			names_add(&s->refused, buf_view(&pattern));
	}
	return s->next.pattern;
}

struct covered {
	struct str mask;
	bool all_vary;
};

static bool see_covered(void *ctx, struct str pointer, struct str value)
{
	struct covered *c = ctx;

	c->all_vary = !json_pattern_fits(c->mask, pointer) || json_is_null(value) ||
	              str_eq(value, STR("\"<masked>\"")) || clocks_is_now(value, -1) ||
	              id_length(json_inner(value));
	return c->all_vary;
}

/* Are all values that the mask covers times and ids? Those that differ are, or prevent it. */
static bool covers_facts(const struct rollout_copy *r, struct str mask)
{
	struct covered c = {mask, true};
	const struct line *l;

	for (size_t i = 0; c.all_vary && (l = rollout_copy_line(r, i)); i++)
		json_walk(l->text, see_covered, &c);
	return !c.all_vary;
}

/* One difference that no order explains. */
static void take_value(struct proposing *s, const struct difference *d, enum likeness likeness,
                       int exponent)
{
	AUTO_BUF pattern = BUF(BUF_MAX_SMALL);

	if (d->kind == DIFFERENCE_CHANGED) {
		pattern_generalize(&pattern, d->pointer);
	} else {
		pattern_generalize(&pattern,
		                   (struct str){d->pointer.p, pointer_parent(d->pointer)});
		buf_text(&pattern, "/*");
	}
	if (likeness < IS_NOISE || !text_is_safe(buf_view(&pattern)) ||
	    (likeness == IS_TIME_OR_ID && covers_facts(s->pair.first, buf_view(&pattern)))) {
		s->facts += likeness == IS_FACT;
		names_note(&s->p->unstable, buf_view(&pattern));
	} else {
		propose(s, likeness == IS_NOISE ? PROPOSE_TOLERANCE : PROPOSE_MASK,
		        buf_view(&pattern), exponent);
	}
}

static void take_difference(void *ctx, const struct difference *d)
{
	struct proposing *s = ctx;
	int exponent = 0;

	s->left++;
	if (s->next.pattern && is_in_reply(d))
		return;
	enum likeness likeness = likeness_of(d, &exponent);
	s->hard = s->hard || !(is_in_reply(d) || (likeness == IS_NOISE && d->pointer.n));
	if (!s->hard && !s->next.pattern && !find_order(s, d))
		take_value(s, d, likeness, exponent);
}

/* A random member of an element shows as another element. */
static void count_within(void *ctx, const struct difference *d)
{
	struct proposing *s = ctx;
	const struct proposals *p = s->p;
	AUTO_BUF deep = BUF(BUF_MAX_SMALL);

	buf_printf(&deep, "%s/**", p->items[p->count - 1].pattern);
	s->within += json_pattern_fits(buf_view(&deep), d->pointer);
}

/* Adds s->next if it removes differences. An order that does not remove all of a list is refused, until
   another option is found. */
static bool try_next(struct proposing *s)
{
	bool order = s->next.kind == PROPOSE_UNORDERED;

	if (!add(s->p, s->next))
		return false;
	s->within = 0;
	if (order && (!compare_with(&s->pair, s->p, count_within, s) || s->within)) {
		s->p->count--;
		names_add(&s->refused, str_from(s->next.pattern));
	} else {
		names_release(&s->refused);
	}
	return true;
}

void proposals_find(struct proposals *p, const struct rollout_copy *first,
                    const struct rollout_copy *second, const struct compare_conf *conf)
{
	struct proposing s = {.pair = {first, second, conf}, .p = p};

	for (int i = 0; i < TRIALS_MAX; i++) {
		s.next = (struct proposed){.pattern = NULL};
		s.left = s.facts = 0;
		names_release(&p->unstable);
		s.hard = !compare_with(&s.pair, p, take_difference, &s) || s.hard;
		if (s.hard || !s.next.pattern || !try_next(&s))
			break;
	}
	p->count = s.left ? 0 : p->count;
	if (s.hard || s.facts || s.next.pattern)
		names_release(&p->unstable);
	names_release(&s.refused);
}

/* ---- several rollouts ---- */

void proposals_add(struct proposals *p, const struct proposals *more)
{
	for (size_t i = 0; i < more->count; i++) {
		struct proposed one = more->items[i];

		one.pattern = arena_str(&p->arena, str_from(one.pattern)).p;
		(void)add(p, one);
	}
	for (size_t i = 0; i < more->unstable.count; i++)
		names_note(&p->unstable, str_from(more->unstable.text[i]));
}

void proposals_release(struct proposals *p)
{
	names_release(&p->unstable);
	arena_release(&p->arena);
	*p = (struct proposals){.count = 0};
}
