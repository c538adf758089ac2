/* For tests of evidence/: the readings of a rollout in one line of text, separated by " > ". One
   after a call has its arguments before it, "{\"n\":2}|7"; without them they are {}. One after "="
   follows without a call, one after "~" while others act, and "?" is unknown. */
#pragma once

#include "evidence/series.h"

#define NOW_MS INT64_C(1767225600000) /* 2026-01-01 */

static inline struct str observed_part(struct str *rest)
{
	static const struct str arrow = {" > ", 3};
	size_t n = 0;

	while (n + arrow.n <= rest->n && memcmp(rest->p + n, arrow.p, arrow.n) != 0)
		n++;
	n = n + arrow.n > rest->n ? rest->n : n;
	struct str part = {rest->p, n};
	*rest = str_skip(*rest, n == rest->n ? n : n + arrow.n);
	return part;
}

static inline struct str observed_state(struct str text)
{
	return str_eq(text, STR("?")) ? STR_NONE : text;
}

static inline void observed_reading(struct series *s, struct str one, struct str call)
{
	char kind = one.p[0];
	struct str state = observed_state(kind == '=' || kind == '~' ? str_skip(one, 1) : one);

	if (kind == '=' || kind == '~') {
		series_control(s, state, kind == '~');
		return;
	}
	series_call(s, call, NOW_MS);
	series_trial(s, state);
}

static inline void observe(struct series *s, const char *text)
{
	struct str rest = str_from(text);

	series_start(s, observed_state(observed_part(&rest)));
	while (rest.n) {
		struct str part = observed_part(&rest), call = STR("{}");
		const char *bar = memchr(part.p, '|', part.n);

		if (bar) {
			call = (struct str){part.p, (size_t)(bar - part.p)};
			part = str_skip(part, call.n + 1);
		}
		observed_reading(s, part, call);
	}
}
