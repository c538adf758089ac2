/* Equality of values, their hash, and values on one line. */
#include "json/canon.h"
#include "json/scan.h"

bool json_equal(struct str a, struct str b)
{
	struct buf canon[2] = {BUF(BUF_MAX_MESSAGE), BUF(BUF_MAX_MESSAGE)};

	if (json_type(a) != json_type(b) || str_eq(a, b))
		return json_type(a) == json_type(b);
	json_canon(a, NULL, JSON_EDIT_DROP, &canon[0]);
	json_canon(b, NULL, JSON_EDIT_DROP, &canon[1]);
	bool same = str_eq(buf_view(&canon[0]), buf_view(&canon[1]));
	BUFS_RELEASE(&canon[0], &canon[1]);
	return same;
}

/* Line breaks in strings are always escaped, so any raw one is outside strings. */
void json_minify(struct str value, struct buf *out)
{
	while (value.n > 0) {
		struct str line = str_cut(&value, '\n');

		while (line.n > 0)
			buf_str(out, str_cut(&line, '\r'));
	}
}

void json_hash(struct hasher *h, struct str value, const struct json_paths *ignore,
               struct buf *scratch, char out[HASH_HEX + 1])
{
	buf_clear(scratch);
	json_canon(value, ignore, JSON_EDIT_DROP, scratch);
	hash_hex(h, buf_view(scratch), out);
}
