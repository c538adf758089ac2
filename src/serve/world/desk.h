/* A desk with three drawers of items, each a key and a JSON value that is kept digit for
   digit. No sessions, no tools, no sockets; the same seed gives the same items, and all
   that differs between two desks of one seed is the clock. */
#ifndef ROLLDBG_SERVE_WORLD_DESK_H
#define ROLLDBG_SERVE_WORLD_DESK_H

#include "base/buf.h"

#define DESK_ITEMS_MAX 64
#define DESK_ITEM_MAX  ((size_t)64 << 10) /* bytes of a key and its value */
#define DESK_WANTED    3

enum drawer { DRAWER_INBOX, DRAWER_SHELF, DRAWER_ARCHIVE, DRAWERS };

/* inbox, shelf, archive */
extern const char *const drawer_names[DRAWERS];

/* Key and value are raw JSON, as they were spelled when they came. */
struct item {
	char *text; /* the key, then the value; owned */
	struct str key, value;
	enum drawer drawer;
	unsigned stamps; /* seen in the state only */
	bool wanted;     /* for the archive, and not there yet */
};

struct desk {
	struct item items[DESK_ITEMS_MAX];
	size_t count;
	struct str task[DESK_WANTED]; /* keys, raw */
	unsigned filed;               /* of those */
	bool lost;                    /* one of them was thrown away */
	uint64_t clock;               /* grows by one with each call, refused ones too */
};

/* d is zeroed. clock: where it begins. */
void desk_init(struct desk *d, uint64_t seed, uint64_t clock);
void desk_release(struct desk *d);

/* NULL: none has that key. Keys are the same when their text is, however escaped. */
struct item *desk_find(struct desk *d, struct str key);
/* A new item in the inbox, or a new value for the one of that key, which keeps its drawer
   and the spelling of its key. False: no room, or too long. */
MUST_USE bool desk_put(struct desk *d, struct str key, struct str value);
/* True: it was wanted there, and now is. */
bool desk_move(struct desk *d, struct item *item, enum drawer to);
void desk_delete(struct desk *d, struct item *item);
/* All wanted items are in the archive, or cannot be any more. */
bool desk_done(const struct desk *d);

/* {"clock":N,"drawers":{"inbox":{KEY:{"value":..,"stamps":N}},..},
   "task":{"archive":[KEY,..],"filed":N}} */
void desk_state(const struct desk *d, struct buf *out);

#endif
