/* Turns of a model without a session: see tap_apart.h. */
#include "cmd/tap_apart.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>

int tap_apart_open(struct tap_apart *a, const struct recordings *rollouts, struct recorder **out,
                   struct error *err)
{
	static const struct plan no_plan = {.count = 0};
	struct str path = buf_view(&rollouts->path);
	struct buf name = BUF(BUF_MAX_SMALL);

	if (!a->path) {
		path.n -= str_ends(path, STR(".jsonl")) ? sizeof(".jsonl") - 1 : 0;
		buf_printf(&name, "%.*s.model.jsonl", STR_ARG(path));
		a->path = mem_text(buf_view(&name));
		buf_release(&name);
		a->options = *rollouts->options;
		a->options.out = a->path;
		if (recordings_choose(&a->recordings, rollouts->context, &a->options, &no_plan,
		                      rollouts->secrets, err) ||
		    recordings_open(&a->recordings, err)) {
			return -1;
		}
	}
	*out = a->recordings.recorder;
	return 0;
}

void tap_apart_release(struct tap_apart *a)
{
	recordings_release(&a->recordings);
	free(a->path);
}

void tap_apart_say(const struct tap_apart *a, const struct tap_joiner *j, struct buf *out)
{
	const struct tap_join_counts *c = j ? tap_joiner_counts(j) : NULL;

	if (!c)
		return;
	buf_printf(out, "model: %llu turns, joined by name %llu, by content %llu, by time %llu",
	           (unsigned long long)c->turns, (unsigned long long)c->named,
	           (unsigned long long)c->content, (unsigned long long)c->time);
	const struct {
		uint64_t n;
		const char *what;
	} more[] = {{c->apart, "recorded apart"},
	            {c->ambiguous, "calls that several turns could have made"},
	            {c->failed, "requests without a reply"},
	            {c->unread, "requests that could not be read"}};
	for (size_t i = 0; i < ARRAY_LEN(more); i++)
		if (more[i].n)
			buf_printf(out, ", %llu %s", (unsigned long long)more[i].n, more[i].what);
	buf_char(out, '\n');
	if (a->path)
		text_put_path(out, "apart", a->path);
}
