/* Names: see naming.h. */
#include "tap/naming.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>

/* Resets of one batch follow each other; after this long without one, equal data is another's. */
#define BURST_NS UINT64_C(60000000000)

struct used_id {
	struct map_item item; /* must be first */
	uint64_t times;
};

void naming_release(struct naming *n)
{
	mem_free_all(map_list(&n->ids), n->ids.count);
	mem_free_all(map_list(&n->groups), n->groups.count);
}

void naming_clean(struct str name, struct buf *out)
{
	struct str cut = text_utf8_cut(name, NAMING_MAX);

	cut.n = text_utf8_valid(cut);
	for (size_t i = 0; i < cut.n; i++) {
		unsigned char c = (unsigned char)cut.p[i];

		buf_char(out, c <= ' ' || c == 127 ? '_' : (char)c);
	}
}

bool naming_is_random(struct str name)
{
	AUTO_BUF masked = BUF(BUF_MAX_SMALL);

	text_mask(&masked, name);
	return name.n >= 16 && str_is(buf_view(&masked), "#");
}

void naming_put_digest(uint64_t hash, struct buf *out)
{
	buf_printf(out, "-%06x", (unsigned)(hash & 0xffffff));
}

void naming_claim(struct naming *n, struct buf *id)
{
	struct used_id *used =
		map_find_or_add(&n->ids, map_hash(buf_view(id)), NULL, sizeof(*used));

	if (++used->times > 1)
		buf_printf(id, ".%llu", (unsigned long long)used->times);
}

struct naming_group *naming_join(struct naming *n, struct str data, uint64_t now_ns)
{
	struct naming_group *g = map_find_or_add(&n->groups, map_hash(data), NULL, sizeof(*g));

	if (!g->open || now_ns - g->last_ns > BURST_NS) {
		g->bursts++;
		g->members = 0;
		g->open = true;
	}
	g->members++;
	g->last_ns = now_ns;
	return g;
}
