/* Draws from listed values: see draw_listed.h. */
#include "policy/draw_listed.h"

#include "json/scan.h"
#include "json/write.h"

#include <math.h>

/* The part of a range that is accepted; false: nothing of it. */
static bool span_of(const struct value_list *l, const struct listed_limits *limits, double *low,
                    double *high)
{
	bool whole = limits->whole || !limits->number;

	*low = fmax(l->low, limits->number ? limits->low : l->low);
	*high = fmin(l->high, limits->number ? limits->high : l->high);
	if (whole) {
		*low = ceil(*low);
		*high = floor(*high);
	}
	return l->shape == LIST_RANGE && *low <= *high && (limits->number || !l->counts_text);
}

static bool is_of_length(struct str word, const struct listed_limits *limits)
{
	return (int64_t)word.n >= limits->shortest && (int64_t)word.n <= limits->longest;
}

static bool number_fits(const struct listed_value *v, const struct listed_limits *limits)
{
	double n;
	int64_t i;

	return limits->number && json_double_text(v->number, &n) && n >= limits->low &&
	       n <= limits->high && (!limits->whole || json_i64(v->number, &i));
}

/* Is this value accepted, and as a number? */
static bool value_fits(const struct value_list *l, size_t i, const struct listed_limits *limits,
                       bool *as_number)
{
	const struct listed_value *v = &l->item[i];
	/* without a type, "1" in quotes is text, and so is the name of "LEFT(0)" */
	bool text_first = limits->text && (l->shape == LIST_MARKED || v->number.p != v->text.p);

	*as_number = !text_first && number_fits(v, limits);
	return *as_number || (limits->text && is_of_length(v->text, limits));
}

bool listed_fits(const struct value_list *l, const struct listed_limits *limits)
{
	double low, high;
	bool as_number;

	if (!limits->text && !limits->number) {
		return false;
	}
	if (l->shape == LIST_RANGE) {
		return span_of(l, limits, &low, &high);
	}
	for (size_t i = 0; i < l->count; i++) {
		if (value_fits(l, i, limits, &as_number)) {
			return true;
		}
	}
	return false;
}

static bool draw_in_range(struct rng *r, const struct value_list *l,
                          const struct listed_limits *limits, struct buf *out)
{
	const char *quote = limits->number ? "" : "\"";
	struct json_writer w;
	double low, high;

	if (!span_of(l, limits, &low, &high)) {
		return false;
	}
	if (limits->number && !limits->whole && !limits->text) {
		jw_init(&w, out);
		jw_double(&w, low + (high - low) * rng_unit(r));
		return true;
	}
	double span = floor(high) - ceil(low);
	uint32_t bound = span >= UINT32_MAX ? UINT32_MAX : (uint32_t)span + 1;
	buf_printf(out, "%s%.0f%s", quote, ceil(low) + rng_below(r, bound), quote);
	return true;
}

bool draw_listed(struct rng *r, const struct value_list *l, const struct listed_limits *limits,
                 struct buf *out)
{
	size_t fitting[VALUES_MAX], count = 0;
	bool as_number;

	if (!limits->text && !limits->number) {
		return false;
	}
	if (l->shape == LIST_RANGE) {
		return draw_in_range(r, l, limits, out);
	}
	for (size_t i = 0; i < l->count; i++) {
		if (value_fits(l, i, limits, &as_number)) {
			fitting[count++] = i;
		}
	}
	if (!count) {
		return false;
	}
	size_t chosen = fitting[rng_below(r, (uint32_t)count)];
	value_fits(l, chosen, limits, &as_number);
	if (as_number) {
		buf_str(out, l->item[chosen].number);
	} else {
		json_quote(out, l->item[chosen].text);
	}
	return true;
}

bool draw_described(struct rng *r, struct str description, const struct listed_limits *limits,
                    struct buf *out)
{
	struct arena scratch = {0};
	struct value_list *lists = NULL;
	struct tokens t;
	size_t count = 0, i = 0;

	if (json_type(description) == JSON_STRING && (limits->text || limits->number)) {
		tokens_read(&t, &scratch, json_text(&scratch, description));
		count = value_lists_read(&t, &scratch, &lists);
	}
	while (i < count && !(value_list_is_clear(&lists[i]) && listed_fits(&lists[i], limits))) {
		i++;
	}
	bool drawn = i < count && rng_below(r, 8) && draw_listed(r, &lists[i], limits, out);
	arena_release(&scratch);
	return drawn;
}
