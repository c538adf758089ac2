/* Matches patterns against the values of lines: see patterns.h. */
#include "compare/patterns.h"

#include "base/text.h"
#include "json/paths.h"
#include "json/walk.h"

#include <stdlib.h>

/* number of lines whose pointers may be suggested; later lines have the same ones */
#define LINES_NAMED 64

void patterns_add(struct patterns *p, const char *origin, const char *text)
{
	p->items = mem_grow(p->items, p->count, sizeof(*p->items));
	p->items[p->count++] =
		(struct used_pattern){.origin = arena_str(&p->arena, str_from(origin)).p,
	                              .text = arena_str(&p->arena, str_from(text)).p};
	p->missed++;
}

static bool is_index(struct str token)
{
	size_t i = 0;

	while (i < token.n && token.p[i] >= '0' && token.p[i] <= '9')
		i++;
	return i && i == token.n;
}

void pattern_generalize(struct buf *out, struct str pointer)
{
	for (size_t i = 0, n; i < pointer.n; i += n + 1) {
		struct str token = str_skip(pointer, i + 1);

		for (n = 0; n < token.n && token.p[n] != '/';)
			n++;
		buf_char(out, '/');
		if (is_index((struct str){token.p, n})) {
			buf_char(out, '*');
			continue;
		}
		for (size_t k = 0; k < n; k++) {
			buf_add(out, token.p[k] == '*' ? "~2" : token.p + k,
			        1 + (token.p[k] == '*'));
		}
	}
}

static void note_name(struct patterns *p, struct str pointer)
{
	AUTO_BUF general = BUF(BUF_MAX_SMALL);

	if (str_starts(pointer, STR("/meta")) || str_starts(pointer, STR("/messages")) ||
	    str_starts(pointer, STR("/llm"))) {
		return;
	}
	pattern_generalize(&general, pointer);
	names_note(&p->near, buf_view(&general));
}

static bool see(void *ctx, struct str pointer, struct str value)
{
	struct patterns *p = ctx;

	for (size_t i = 0; i < p->count; i++) {
		struct used_pattern *one = &p->items[i];

		if (!one->matched && json_pattern_fits(str_from(one->text), pointer)) {
			one->matched = true;
			p->missed--;
		}
	}
	if (p->lines <= LINES_NAMED)
		note_name(p, pointer);
	return p->missed > 0;
}

void patterns_see(struct patterns *p, struct str line)
{
	if (p->missed && line.p) {
		p->lines++;
		json_walk(line, see, p);
	}
}

size_t pointer_parent(struct str pointer)
{
	size_t at = pointer.n;

	while (at > 0 && pointer.p[--at] != '/') {
	}
	return at;
}

bool patterns_suggest(const struct patterns *p, const struct used_pattern *missed, struct buf *out)
{
	struct str typed = str_from(missed->text);
	const char *names[NAMES_MAX];
	bool deep = strstr(missed->text, "/**/") != NULL;
	size_t kept = deep ? pointer_parent(typed) : 0;

	for (size_t i = 0; i < p->near.count; i++) {
		struct str name = str_from(p->near.text[i]);

		names[i] = deep ? p->near.text[i] + pointer_parent(name) : p->near.text[i];
	}
	const char *near = text_nearest(str_skip(typed, kept), names, p->near.count);
	if (!near)
		return false;
	buf_str(out, (struct str){typed.p, kept});
	buf_text(out, near);
	return true;
}

void patterns_release(struct patterns *p)
{
	free(p->items);
	names_release(&p->near);
	arena_release(&p->arena);
	*p = (struct patterns){.count = 0};
}
