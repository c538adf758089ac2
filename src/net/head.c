/* Header lines: see head.h. */
#include "net/head.h"

#include "base/text.h"

#include <strings.h>

struct str head_value(struct str head, const char *name)
{
	struct str found = STR_NONE;
	size_t n = strlen(name);

	while (head.n) {
		const char *lf = memchr(head.p, '\n', head.n);
		struct str line = {head.p, lf ? (size_t)(lf - head.p) + 1 : head.n};

		if (line.n > n && line.p[n] == ':' && strncasecmp(line.p, name, n) == 0) {
			found = text_trim(str_skip(line, n + 1));
		}
		head = str_skip(head, line.n);
	}
	return found;
}
