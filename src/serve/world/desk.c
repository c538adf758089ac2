/* The items of a desk, drawn from the seed: see desk.h. */
#include "serve/world/desk.h"

#include "base/mem.h"
#include "base/rng.h"
#include "json/canon.h"
#include "json/scan.h"

#include <inttypes.h>
#include <stdlib.h>

const char *const drawer_names[DRAWERS] = {"inbox", "shelf", "archive"};

/* Values that careless code changes: numbers that no double holds, trailing zeros, look-alike
   letters, unnecessary escapes. Each # is a digit drawn from the seed. */
static const struct {
	const char *key, *value;
} first_items[] = {
	{"\"ledger\"", "90071992547409931##"},
	{"\"tide\"", "-0.##00"},
	{"\"\xcf\x80\"", "3.14159265358979323846264338327950288##"},
	{"\"caf\\u00e9\"", "{\"open\":true,\"tables\":1##}"},
	{"\"cafe\xcc\x81\"", "\"op\\u0065n, \\/##\""},
	{"\"\xf0\x9f\x97\x9d\"", "\"\\ud83d\\udd11 ##\""},
	{"\"memo\"", "\"nul \\u0000, tab \\t, ##\""},
	{"\"mass\"", "[1E400,-0,##.0e-3,null]"},
};

static void fill_in(const char *pattern, struct rng *rng, struct buf *out)
{
	for (; *pattern; pattern++) {
		bool drawn = *pattern == '#';

		buf_char(out, drawn ? (char)('1' + rng_below(rng, 9)) : *pattern);
	}
}

/* Draws `wanted` different numbers below count. */
static void choose(struct rng *rng, size_t count, size_t *row, size_t wanted)
{
	for (size_t i = 0; i < count; i++) {
		row[i] = i;
	}
	for (size_t i = 0; i < wanted; i++) {
		size_t j = i + rng_below(rng, (uint32_t)(count - i)), other = row[j];

		row[j] = row[i];
		row[i] = other;
	}
}

void desk_init(struct desk *d, uint64_t seed, uint64_t clock)
{
	size_t row[ARRAY_LEN(first_items)];
	struct buf value = BUF(BUF_MAX_SMALL);
	struct rng rng;

	rng_seed(&rng, seed, 1);
	d->clock = clock;
	for (size_t i = 0; i < ARRAY_LEN(first_items); i++) {
		buf_clear(&value);
		fill_in(first_items[i].value, &rng, &value);
		(void)!desk_put(d, str_from(first_items[i].key), buf_view(&value));
		d->items[i].drawer = (enum drawer)rng_below(&rng, DRAWER_ARCHIVE);
	}
	choose(&rng, ARRAY_LEN(first_items), row, DESK_WANTED);
	for (size_t i = 0; i < DESK_WANTED; i++) {
		d->task[i] = str_from(first_items[row[i]].key);
		d->items[row[i]].wanted = true;
	}
	buf_release(&value);
}

void desk_release(struct desk *d)
{
	for (size_t i = 0; i < d->count; i++) {
		free(d->items[i].text);
	}
	d->count = 0;
}

static bool same_text(struct str a, struct str b)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	bool whole = json_decode(a, &text);
	/* contains half a surrogate pair, which is decoded to its escape */
	bool same = whole ? json_is(b, buf_view(&text)) : str_eq(a, b);

	buf_release(&text);
	return same;
}

struct item *desk_find(struct desk *d, struct str key)
{
	for (size_t i = 0; i < d->count; i++) {
		if (same_text(key, d->items[i].key)) {
			return &d->items[i];
		}
	}
	return NULL;
}

static void set_text(struct item *item, struct str key, struct str value)
{
	struct buf text = BUF(2 * DESK_ITEM_MAX);

	buf_str(&text, key);
	json_minify(value, &text);
	char *old = item->text;

	item->text = text.p;
	item->key = (struct str){text.p, key.n};
	item->value = (struct str){text.p + key.n, text.n - key.n};
	free(old);
}

bool desk_put(struct desk *d, struct str key, struct str value)
{
	struct item *item = desk_find(d, key);

	if (key.n + value.n > DESK_ITEM_MAX || (!item && d->count == DESK_ITEMS_MAX)) {
		return false;
	}
	if (!item) {
		item = &d->items[d->count++];
		*item = (struct item){.drawer = DRAWER_INBOX};
		set_text(item, key, value);
	} else {
		set_text(item, item->key, value);
	}
	return true;
}

bool desk_move(struct desk *d, struct item *item, enum drawer to)
{
	bool arrived = item->wanted && to == DRAWER_ARCHIVE;

	item->drawer = to;
	if (arrived) {
		item->wanted = false;
		d->filed++;
	}
	return arrived;
}

void desk_delete(struct desk *d, struct item *item)
{
	size_t at = (size_t)(item - d->items);

	d->lost = d->lost || item->wanted;
	free(item->text);
	memmove(item, item + 1, (--d->count - at) * sizeof(*item));
}

bool desk_done(const struct desk *d)
{
	return d->lost || d->filed == DESK_WANTED;
}

static void write_drawer(const struct desk *d, enum drawer drawer, struct buf *out)
{
	const char *between = "";

	buf_printf(out, "\"%s\":{", drawer_names[drawer]);
	for (size_t i = 0; i < d->count; i++) {
		const struct item *item = &d->items[i];

		if (item->drawer == drawer) {
			buf_text(out, between);
			buf_str(out, item->key);
			buf_text(out, ":{\"value\":");
			buf_str(out, item->value);
			buf_printf(out, ",\"stamps\":%u}", item->stamps);
			between = ",";
		}
	}
	buf_char(out, '}');
}

void desk_state(const struct desk *d, struct buf *out)
{
	buf_printf(out, "{\"clock\":%" PRIu64 ",\"drawers\":{", d->clock);
	for (int i = 0; i < DRAWERS; i++) {
		buf_text(out, i ? "," : "");
		write_drawer(d, (enum drawer)i, out);
	}
	buf_text(out, "},\"task\":{\"archive\":[");
	for (size_t i = 0; i < DESK_WANTED; i++) {
		buf_text(out, i ? "," : "");
		buf_str(out, d->task[i]);
	}
	buf_printf(out, "],\"filed\":%u}}", d->filed);
}
