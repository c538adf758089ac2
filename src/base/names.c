/* Suggests the nearest name: see names.h. */
#include "base/names.h"

#include "base/text.h"

#define LIST_COLUMNS 200 /* of listed names; further ones are left out */

static void list_all(struct buf *out, const char *const *names, size_t count)
{
	AUTO_BUF list = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < count; i++) {
		if (names[i] && list.n && list.n + strlen(names[i]) > LIST_COLUMNS) {
			buf_text(&list, ", ...");
			break;
		}
		if (names[i])
			buf_printf(&list, "%s%s", list.n ? ", " : "", names[i]);
	}
	if (list.n) {
		buf_text(out, "; available: ");
		text_escape_cut(out, buf_view(&list), (size_t)2 * LIST_COLUMNS);
	}
}

int names_suggest(struct error *err, struct str typed, const char *const *names, size_t count)
{
	const char *near = text_nearest(typed, names, count);
	AUTO_BUF end = BUF(BUF_MAX_SMALL);
	size_t start = strlen(err->text);

	if (near) {
		buf_text(&end, "; did you mean '");
		text_escape(&end, str_from(near));
		buf_text(&end, "'?");
	} else {
		list_all(&end, names, count);
	}
	text_copy(err->text + start, sizeof(err->text) - start, buf_view(&end));
	return -1;
}

void names_add(struct names *n, struct str name)
{
	if (n->count < NAMES_MAX)
		n->text[n->count++] = arena_str(&n->arena, name).p;
}

bool names_know(const struct names *n, struct str name)
{
	size_t i = 0;

	while (i < n->count && !str_is(name, n->text[i]))
		i++;
	return i < n->count || n->count == NAMES_MAX;
}

bool names_note(struct names *n, struct str name)
{
	bool known = names_know(n, name);

	if (!known)
		names_add(n, name);
	return !known;
}

void names_release(struct names *n)
{
	arena_release(&n->arena);
	n->count = 0;
}
