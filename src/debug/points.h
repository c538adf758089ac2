/* Breakpoints, watchpoints and displays. */
#pragma once

#include "base/mem.h"
#include "debug/expression.h"

enum point_kind { POINT_BREAK, POINT_TBREAK, POINT_WATCH, POINT_DISPLAY };

#define POINTS_MAX 256

struct point {
	int number; /* from 1; displays are numbered separately */
	enum point_kind kind;
	int64_t hits;
	struct expression *expression; /* NULL: of a display */
	struct expression *condition;  /* NULL: none */
	struct path path;              /* watchpoints (in the state) and displays */
	struct arena arena;            /* owns the text of a display */
	struct str text;               /* as given */
};

/* Zeroed is empty. */
struct points {
	struct point *list[POINTS_MAX];
	size_t count;
	int last_number, last_display;
	bool hit, hit_watch; /* set by points_hit, never cleared; hit_watch: by a watchpoint */
};

void points_release(struct points *p);

/* Adds a point and sets *out. FAIL_USAGE, with the column in the text in *at. A watchpoint is a
   breakpoint on `changed TEXT`. */
MUST_USE int points_add_break(struct points *p, enum point_kind kind, struct str text,
                              struct point **out, size_t *at, struct error *err);
MUST_USE int points_add_display(struct points *p, struct str text, struct point **out, size_t *at,
                                struct error *err);
/* Empty text removes the condition. */
MUST_USE int point_set_condition(struct point *p, struct str text, size_t *at, struct error *err);

/* Returns NULL if there is no such number. */
struct point *points_find(const struct points *p, bool display, int64_t number);
void points_delete(struct points *p, struct point *one);

/* When points are checked. In a live session: PHASE_PROPOSED for those that only use facts known
   before the call, PHASE_ANSWERED for the others. */
enum point_phase { PHASE_RECORDED, PHASE_PROPOSED, PHASE_ANSWERED };
/* True if any point stops there. */
bool points_stop(const struct points *p, const struct known *k, enum point_phase phase);
/* True if any point stops before its call is sent. */
bool points_look_ahead(const struct points *p);
/* True if any of their expressions needs findings. */
bool points_ask_rules(const struct points *p);

/* Counts and prints the points that stop there; deletes temporary ones. */
void points_hit(struct points *p, const struct known *k, enum point_phase phase, struct buf *out);

/* Appends a table. */
void points_list(const struct points *p, bool display, struct buf *out);
/* Appends "N: path = value" for each display. */
void points_display(const struct points *p, const struct known *k, struct buf *out);
/* Appends the commands that recreate them. */
void points_save(const struct points *p, struct buf *out);
