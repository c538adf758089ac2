/* Compares recordings line by line: see same.h. */
#include "recording/same.h"

#include "recording/reader.h"
#include "recording/skim.h"

static bool are_same(struct reader *a, struct reader *b)
{
	struct reader_note x = {.line = 0}, y;
	struct line first, second;
	struct error ignored; /* the caller reads the files anyway and reports the error */
	int more, other;

	do {
		more = reader_skim(a, &first, &x, &ignored);
		other = reader_skim(b, &second, &y, &ignored);
		if (more < 0 || more != other ||
		    (more && (x.torn || y.torn || !line_same_but_meta(first.text, second.text)))) {
			return false;
		}
	} while (more);
	return x.line > 0;
}

bool recordings_are_same(const char *a, const char *b)
{
	struct reader *x = NULL, *y = NULL;
	struct error ignored;
	bool same =
		!reader_open(a, &x, &ignored) && !reader_open(b, &y, &ignored) && are_same(x, y);

	reader_close(x);
	reader_close(y);
	return same;
}
