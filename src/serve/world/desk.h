/* A desk with three drawers of items; an item has a key and a JSON value kept exactly as
   spelled. Independent of sessions, tools and sockets. Two desks with the same seed differ only
   in the clock. */
#ifndef ROLLDBG_SERVE_WORLD_DESK_H
#define ROLLDBG_SERVE_WORLD_DESK_H

#include "base/buf.h"

#define DESK_ITEMS_MAX 64
#define DESK_ITEM_MAX  ((size_t)64 << 10) /* bytes of a key plus its value */
#define DESK_WANTED    3

enum drawer { DRAWER_INBOX, DRAWER_SHELF, DRAWER_ARCHIVE, DRAWERS };

/* inbox, shelf, archive */
extern const char *const drawer_names[DRAWERS];

/* Key and value are raw JSON, as received. */
struct item {
	char *text; /* the key, then the value; owned */
	struct str key, value;
	enum drawer drawer;
	unsigned stamps; /* only visible in the state */
	bool wanted;     /* belongs in the archive and is not there yet */
};

struct desk {
	struct item items[DESK_ITEMS_MAX];
	size_t count;
	struct str task[DESK_WANTED]; /* keys, raw */
	unsigned filed;               /* of those, in the archive */
	bool lost;                    /* one of them was deleted */
	uint64_t clock;               /* number of calls, including refused ones */
};

/* d is zeroed. clock: its initial value. */
void desk_init(struct desk *d, uint64_t seed, uint64_t clock);
void desk_release(struct desk *d);

/* NULL: no item has that key. Keys are compared decoded, so escapes do not matter. */
struct item *desk_find(struct desk *d, struct str key);
/* Adds an item to the inbox, or replaces the value of an existing one, which keeps its drawer
   and the spelling of its key. False: no space, or too long. */
MUST_USE bool desk_put(struct desk *d, struct str key, struct str value);
/* True: a wanted item arrived in the archive. */
bool desk_move(struct desk *d, struct item *item, enum drawer to);
void desk_delete(struct desk *d, struct item *item);
/* Are all wanted items in the archive or deleted? */
bool desk_done(const struct desk *d);

/* {"clock":N,"drawers":{"inbox":{KEY:{"value":..,"stamps":N}},..},
   "task":{"archive":[KEY,..],"filed":N}} */
void desk_state(const struct desk *d, struct buf *out);

#endif
