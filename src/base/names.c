/* Nearest names: see names.h. */
#include "base/names.h"

#include "base/text.h"

void names_add(struct names *n, struct str name)
{
	if (n->count < NAMES_MAX) {
		n->text[n->count++] = arena_str(&n->arena, name).p;
	}
}

void names_release(struct names *n)
{
	arena_release(&n->arena);
}

int names_missing(const struct names *known, const char *what, struct str name,
                  struct error *err)
{
	const char *near = text_nearest(name, known->text, known->count);

	return error_set(err, FAIL_USAGE, "%s '%.*s'%s%s%s", what, STR_ARG(name),
	                 near ? "; did you mean '" : "", near ? near : "",
	                 near ? "'?" : "");
}
