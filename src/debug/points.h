/* Breakpoints, watchpoints and displays. */
#ifndef ROLLDBG_DEBUG_POINTS_H
#define ROLLDBG_DEBUG_POINTS_H

#include "base/mem.h"
#include "debug/expression.h"

enum point_kind { POINT_BREAK, POINT_TBREAK, POINT_WATCH, POINT_DISPLAY };

#define POINTS_MAX 256

struct point {
	int number; /* from 1; displays are counted apart */
	enum point_kind kind;
	bool enabled;
	int64_t hits;
	struct expression *expression; /* of a breakpoint */
	struct expression *condition;  /* NULL: none */
	struct path path;              /* of a watchpoint or display */
	struct arena arena;            /* owns its text: */
	struct str text;               /* as it was given */
};

/* Zeroed is empty. */
struct points {
	struct point *list[POINTS_MAX];
	size_t count;
	int last_number, last_display;
	struct buf before, after; /* of the evaluation */
	bool hit, hit_watch; /* set by points_hit, which never clears them; it was a watchpoint */
};

void points_release(struct points *p);

/* FAIL_USAGE; *at is the column in the text. The new one is *out. */
MUST_USE int points_add_break(struct points *p, enum point_kind kind, struct str text,
                              struct point **out, size_t *at, struct error *err);
MUST_USE int points_add_path(struct points *p, enum point_kind kind, struct str text,
                             struct point **out, size_t *at, struct error *err);
/* An empty text removes the condition. */
MUST_USE int point_set_condition(struct point *p, struct str text, size_t *at, struct error *err);

/* NULL: there is no such number. */
struct point *points_find(const struct points *p, bool display, int64_t number);
void points_delete(struct points *p, struct point *one);

/* Does it stop there? In a live session, PHASE_PROPOSED concerns those that only name what is known
   before the call, PHASE_ANSWERED the others. */
enum point_phase { PHASE_RECORDED, PHASE_PROPOSED, PHASE_ANSWERED };
bool point_stops(struct points *p, const struct point *one, const struct known *k,
                 enum point_phase phase);
/* Does any? */
bool points_stop(struct points *p, const struct known *k, enum point_phase phase);
/* Does one stop before its call is sent? */
bool points_look_ahead(const struct points *p);
/* Does any of their expressions ask for it? */
bool points_ask(const struct points *p, bool (*asks)(const struct expression *e));

/* Counts and prints those that stop there; temporary ones are deleted. */
void points_hit(struct points *p, const struct known *k, enum point_phase phase, struct buf *out);

/* A table for people. */
void points_list(const struct points *p, bool display, struct buf *out);
/* "N: path = value" of each display. */
void points_display(struct points *p, const struct known *k, struct buf *out);
/* As commands that create them. */
void points_save(const struct points *p, struct buf *out);

#endif
