/* The desk as a world: three drawers of items, its tools, their results and its rewards. An item has a
   key and a JSON value kept exactly as spelled. Two desks with the same seed differ only in the clock. */
#include "base/rng.h"
#include "base/text.h"
#include "json/canon.h"
#include "json/scan.h"
#include "json/write.h"
#include "serve/served.h"
#include "serve/world/world.h"

#include <inttypes.h>
#include <stdlib.h>

#define ITEMS_MAX 64
#define ITEM_MAX  ((size_t)64 << 10) /* bytes of a key plus its value */
#define WANTED    3

enum drawer { DRAWER_INBOX, DRAWER_SHELF, DRAWER_ARCHIVE, DRAWERS };

static const char *const drawer_names[DRAWERS] = {"inbox", "shelf", "archive"};

/* Key and value are raw JSON, as received. */
struct item {
	char *text; /* the key, then the value; owned */
	struct str key, value;
	enum drawer drawer;
	unsigned stamps; /* only visible in the state */
	bool wanted;     /* belongs in the archive and is not there yet */
};

struct desk {
	struct item items[ITEMS_MAX];
	size_t count;
	struct str task[WANTED]; /* keys, raw */
	unsigned filed;          /* of those, in the archive */
	bool lost;               /* one of them was deleted */
	uint64_t clock;          /* number of calls, including refused ones */
};

/* ---- items ---- */

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

static bool same_text(struct str a, struct str b)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	bool whole = json_decode(a, &text);
	/* contains half a surrogate pair, which is decoded to its escape */
	bool same = whole ? json_is(b, buf_view(&text)) : str_eq(a, b);

	return same;
}

/* NULL: no item has that key. Keys are compared decoded, so escapes do not matter. */
static struct item *find(struct desk *d, struct str key)
{
	for (size_t i = 0; i < d->count; i++)
		if (same_text(key, d->items[i].key))
			return &d->items[i];
	return NULL;
}

static void set_text(struct item *item, struct str key, struct str value)
{
	struct buf text = BUF(2 * ITEM_MAX);

	buf_str(&text, key);
	json_minify(value, &text);
	char *old = item->text;

	item->text = text.p;
	item->key = (struct str){text.p, key.n};
	item->value = (struct str){text.p + key.n, text.n - key.n};
	free(old);
}

/* Adds an item to the inbox, or replaces the value of an existing one, which keeps its drawer and the
   spelling of its key. False: no space, or too long. */
static bool put(struct desk *d, struct str key, struct str value)
{
	struct item *item = find(d, key);

	if (key.n + value.n > ITEM_MAX || (!item && d->count == ITEMS_MAX))
		return false;
	if (!item) {
		item = &d->items[d->count++];
		*item = (struct item){.drawer = DRAWER_INBOX};
		set_text(item, key, value);
	} else {
		set_text(item, item->key, value);
	}
	return true;
}

static void put_keys(const struct desk *d, struct buf *out)
{
	for (size_t i = 0; i < WANTED; i++) {
		buf_char(out, i ? ',' : '[');
		buf_str(out, d->task[i]);
	}
	buf_char(out, ']');
}

/* The items of each drawer: their keys, or also their values and stamps. */
static void put_drawers(const struct desk *d, bool whole, struct buf *out)
{
	for (int drawer = 0; drawer < DRAWERS; drawer++) {
		buf_printf(out, "%c\"%s\":%c", drawer ? ',' : '{', drawer_names[drawer],
		           whole ? '{' : '[');
		size_t first = out->n;
		for (const struct item *i = d->items; i < d->items + d->count; i++) {
			if ((int)i->drawer != drawer)
				continue;
			buf_text(out, out->n > first ? "," : "");
			buf_str(out, i->key);
			if (whole) {
				buf_text(out, ":{\"value\":");
				buf_str(out, i->value);
				buf_printf(out, ",\"stamps\":%u}", i->stamps);
			}
		}
		buf_char(out, whole ? '}' : ']');
	}
	buf_char(out, '}');
}

static const struct parameter key_alone[] = {{"key", .text = true}};

/* ---- results ---- */

static void write_item(const struct item *item, struct buf *out)
{
	json_pack(out, "{key:%r,drawer:%t,value:%r}", item->key, drawer_names[item->drawer],
	          item->value);
}

static struct item *find_or_fail(struct desk *d, struct world_call *a, struct str key)
{
	struct item *item = find(d, key);

	if (!item) {
		world_call_fail(a);
		buf_text(&a->text, "No item '");
		json_decode(key, &a->text);
		buf_text(&a->text, "' on the desk");
	}
	return item;
}

static struct item *requested_item(struct desk *d, struct world_call *a)
{
	struct str key;

	return world_call_arguments(a, key_alone, ARRAY_LEN(key_alone), &key)
	               ? find_or_fail(d, a, key)
	               : NULL;
}

/* ---- read-only tools ---- */

static void get_task(struct desk *d, struct world_call *a)
{
	buf_text(&a->text, "{\"archive\":");
	put_keys(d, &a->text);
	buf_char(&a->text, '}');
}

static void list_items(struct desk *d, struct world_call *a)
{
	put_drawers(d, false, &a->text);
}

static void get_item(struct desk *d, struct world_call *a)
{
	const struct item *item = requested_item(d, a);

	if (item)
		write_item(item, &a->text);
}

static bool contains(struct str key, struct str part)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	json_decode(key, &text);
	return !part.n || find_in(buf_view(&text), part);
}

static void search(struct desk *d, struct world_call *a)
{
	static const struct parameter parameters[] = {{"text", .text = true}};
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	struct str value;
	size_t found = 0;

	if (!world_call_arguments(a, parameters, ARRAY_LEN(parameters), &value))
		return;
	json_decode(value, &text);
	for (size_t i = 0; i < d->count; i++) {
		if (contains(d->items[i].key, buf_view(&text))) {
			buf_char(&a->structured, found++ ? ',' : '[');
			write_item(&d->items[i], &a->structured);
		}
	}
	buf_text(&a->structured, found ? "]" : "[]");
	buf_printf(&a->text, "%zu of %zu items", found, d->count);
}

/* ---- tools with effects ---- */

static void put_item(struct desk *d, struct world_call *a)
{
	static const struct parameter parameters[] = {{"key", .text = true},
	                                              {"value", .text = false}};
	struct str values[ARRAY_LEN(parameters)];

	if (!world_call_arguments(a, parameters, ARRAY_LEN(parameters), values))
		return;
	if (put(d, values[0], values[1])) {
		write_item(find(d, values[0]), &a->text);
		return;
	}
	world_call_fail(a);
	buf_printf(&a->text, "The desk holds %d items of at most %zu bytes", ITEMS_MAX, ITEM_MAX);
}

static int drawer_of(struct str name)
{
	for (int i = 0; i < DRAWERS; i++)
		if (json_is(name, str_from(drawer_names[i])))
			return i;
	return -1;
}

/* A wanted item gives its reward when it first arrives in the archive. */
static void move_item(struct desk *d, struct world_call *a)
{
	static const struct parameter parameters[] = {{"key", .text = true},
	                                              {"drawer", .text = true}};
	struct str values[ARRAY_LEN(parameters)];

	if (!world_call_arguments(a, parameters, ARRAY_LEN(parameters), values))
		return;
	int drawer = drawer_of(values[1]);

	if (drawer < 0) {
		world_call_fail(a);
		buf_text(&a->text, "No drawer '");
		json_decode(values[1], &a->text);
		buf_text(&a->text, "'. Drawers: ['inbox', 'shelf', 'archive']");
		return;
	}
	struct item *item = find_or_fail(d, a, values[0]);

	if (item) {
		a->reward = item->wanted && drawer == DRAWER_ARCHIVE;
		d->filed += (unsigned)a->reward;
		item->wanted = item->wanted && !a->reward;
		item->drawer = (enum drawer)drawer;
		write_item(item, &a->text);
	}
}

/* Its effect is only visible in the state. */
static void stamp_item(struct desk *d, struct world_call *a)
{
	struct item *item = requested_item(d, a);

	if (item) {
		item->stamps++;
		buf_text(&a->text, "Done.");
	}
}

static void delete_item(struct desk *d, struct world_call *a)
{
	struct item *item = requested_item(d, a);

	if (item) {
		d->lost = d->lost || item->wanted;
		free(item->text);
		memmove(item, item + 1, (size_t)(d->items + --d->count - item) * sizeof(*item));
		buf_text(&a->text, "Gone.");
	}
}

static const struct {
	const char *name;
	void (*call)(struct desk *d, struct world_call *a);
} tools[] = {
	{"get_task", get_task},     {"list_items", list_items},   {"get_item", get_item},
	{"search", search},         {"put_item", put_item},       {"move_item", move_item},
	{"stamp_item", stamp_item}, {"delete_item", delete_item},
};

/* ---- the world ---- */

static void desk_call(void *instance, struct world_call *a)
{
	struct desk *d = instance;

	d->clock++;
	for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
		if (json_is(a->tool, str_from(tools[i].name))) {
			tools[i].call(d, a);
			a->terminated = d->lost || d->filed == WANTED;
			return;
		}
	}
	world_call_unknown_tool(a);
}

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
	for (size_t i = 0; i < count; i++)
		row[i] = i;
	for (size_t i = 0; i < wanted; i++) {
		size_t j = i + rng_below(rng, (uint32_t)(count - i)), other = row[j];

		row[j] = row[i];
		row[i] = other;
	}
}

static void init(void *instance, const struct world_conf *conf, uint64_t seed, uint64_t now_ms)
{
	struct desk *d = instance;
	size_t row[ARRAY_LEN(first_items)];
	AUTO_BUF value = BUF(BUF_MAX_SMALL);
	struct rng rng;

	(void)conf;
	rng_seed(&rng, seed, 1);
	d->clock = now_ms;
	for (size_t i = 0; i < ARRAY_LEN(first_items); i++) {
		buf_clear(&value);
		fill_in(first_items[i].value, &rng, &value);
		(void)!put(d, str_from(first_items[i].key), buf_view(&value));
		d->items[i].drawer = (enum drawer)rng_below(&rng, DRAWER_ARCHIVE);
	}
	choose(&rng, ARRAY_LEN(first_items), row, WANTED);
	for (size_t i = 0; i < WANTED; i++) {
		d->task[i] = str_from(first_items[row[i]].key);
		d->items[row[i]].wanted = true;
	}
}

static void write_state(const void *instance, struct buf *out)
{
	const struct desk *d = instance;

	buf_printf(out, "{\"clock\":%" PRIu64 ",\"drawers\":", d->clock);
	put_drawers(d, true, out);
	buf_text(out, ",\"task\":{\"archive\":");
	put_keys(d, out);
	buf_printf(out, ",\"filed\":%u}}", d->filed);
}

static void write_info(const void *instance, struct buf *out)
{
	const struct desk *d = instance;

	buf_printf(out, "{\"filed\":%u}", d->filed);
}

static void clear(void *instance)
{
	struct desk *d = instance;

	for (size_t i = 0; i < d->count; i++)
		free(d->items[i].text);
}

const struct world world_desk = {
	.name = "desk",
	.help = "a desk to tidy: read-only and writing tools, a clock in its state, reward 1 "
		"for each wanted item in the archive",
	.server = "Desk-v1",
	.tools = &served_desk_tools,
	.size = sizeof(struct desk),
	.init = init,
	.call = desk_call,
	.state = write_state,
	.info = write_info,
	.release = clear,
};
