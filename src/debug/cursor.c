/* The index of a rollout, and moving through it: see cursor.h. */
#include "debug/cursor.h"

#include "base/mem.h"
#include "base/names.h"
#include "debug/walk.h"
#include "evidence/effects_read.h"
#include "evidence/evidence.h"

#include <stdlib.h>

#define MARKS_MAX       8192 /* when full, every other mark is dropped */
#define INTERRUPT_LINES 4096

/* A step where reading can start. */
struct step_mark {
	int64_t position, turn, step; /* turn and step: the last numbers up to the position */
	uint64_t offset, number;
};

struct cursor {
	struct cursor_conf conf;
	struct cursor_facts facts;
	char *path, *name; /* name: the rollout's, with "#2" if needed */
	struct buf id;
	struct rollout_walk front;   /* reads each line once, at the end of the part read so far */
	struct rollout_walk back;    /* rereads earlier lines */
	struct moment now, newest;   /* newest: the front's */
	struct effects *all_effects; /* of the file; NULL: they are provided by the configuration */
	int64_t instance;            /* of the id */
	int64_t newest_turn, newest_step;
	struct step_mark *marks;
	size_t mark_count;
	int64_t stride;
	uint64_t lines;        /* lines read, of all rollouts */
	uint64_t begin_number; /* number of the line at facts.begin */
	struct buf header_id, end_id;
};

const struct moment *cursor_now(const struct cursor *c)
{
	return &c->now;
}

const struct cursor_facts *cursor_facts(const struct cursor *c)
{
	return &c->facts;
}

static int look_for_interrupt(struct cursor *c, struct error *err)
{
	if (++c->lines % INTERRUPT_LINES == 0 && c->conf.interrupted &&
	    c->conf.interrupted(c->conf.ctx)) {
		return error_set(err, FAIL_INTERRUPTED, "interrupted");
	}
	return 0;
}

/* ---- the index ---- */

static enum effect effect_at(const struct cursor *c, int64_t position)
{
	const struct effect_list *l =
		c->conf.effects ? c->conf.effects
				: effects_of(c->all_effects, c->front.rollout, c->instance);

	return l ? effects_at(l, position) : EFFECT_UNKNOWN;
}

static void thin_out(struct cursor *c)
{
	for (size_t i = 0; i < MARKS_MAX / 2; i++)
		c->marks[i] = c->marks[2 * i];
	c->mark_count = MARKS_MAX / 2;
	c->stride *= 2;
}

/* Called when the front begins to read a step. */
static void add_mark(struct cursor *c, const struct line *l, const struct reader_note *note,
                     int64_t position)
{
	c->newest_turn = l->turn >= 0 ? l->turn : c->newest_turn;
	c->newest_step = l->step >= 0 ? l->step : c->newest_step;
	if ((position - 1) % c->stride)
		return;
	if (c->mark_count == MARKS_MAX) {
		thin_out(c);
		if ((position - 1) % c->stride)
			return;
	}
	c->marks[c->mark_count++] = (struct step_mark){position, c->newest_turn, c->newest_step,
	                                               note->offset, note->line};
}

/* Called for each line of the file before the walk handles it. */
static int index_line(void *ctx, const struct line *l, const struct reader_note *note,
                      struct error *err)
{
	struct cursor *c = ctx;
	bool mine = str_eq(l->rollout, c->front.rollout);

	if (look_for_interrupt(c, err))
		return -1;
	c->facts.others = c->facts.others || (!mine && l->type != LINE_UNKNOWN);
	if (mine && l->type == LINE_STEP)
		add_mark(c, l, note, c->front.position + 1);
	return 0;
}

static int look_again(void *ctx, const struct line *l, const struct reader_note *note,
                      struct error *err)
{
	(void)l;
	(void)note;
	return look_for_interrupt(ctx, err);
}

static void read_line(struct buf *text, struct buf *id, struct line *out)
{
	struct error unused; /* the line was parsed before */
	size_t used;

	if (text->n && line_parse(buf_view(text), id, out, &used, &unused))
		out->text = STR_NONE;
}

static void note_newest(struct cursor *c)
{
	struct cursor_facts *f = &c->facts;

	c->newest.effect = effect_at(c, c->newest.position);
	f->steps = c->newest.position;
	f->torn = c->front.torn;
	f->whole = c->front.over && !c->front.pending;
	if (!f->header.text.p)
		read_line(&c->front.header, &c->header_id, &f->header);
	if (!f->end.text.p)
		read_line(&c->front.end, &c->end_id, &f->end);
}

/* Reads the front's next moment: 1; 0: none. */
static int advance(struct cursor *c, struct error *err)
{
	int got = walk_next(&c->front, &c->newest, err);

	if (got > 0)
		note_newest(c);
	else
		c->newest.events = STR_NONE; /* the walk may have reused the memory */
	return got;
}

/* ---- moving ---- */

/* The last mark at or before the position; NULL: only the start is. */
static const struct step_mark *mark_before(const struct cursor *c, int64_t position)
{
	size_t low = 0, high = c->mark_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->marks[middle].position <= position)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &c->marks[low - 1] : NULL;
}

static void seek_back(struct cursor *c, int64_t position)
{
	const struct step_mark *m = mark_before(c, position);

	if (m)
		walk_seek(&c->back, m->offset, m->number, m->position);
	else
		walk_seek(&c->back, c->facts.begin, c->begin_number, 0);
}

static int next_back(struct cursor *c, struct moment *out, struct error *err)
{
	int got = walk_next(&c->back, out, err);

	if (got > 0)
		out->effect = effect_at(c, out->position);
	return got;
}

/* Moves to a position that was read before. */
static int go_back(struct cursor *c, int64_t position, struct error *err)
{
	struct moment m;
	int got;

	seek_back(c, position);
	do {
		got = next_back(c, &m, err);
	} while (got > 0 && m.position < position);
	if (got > 0)
		c->now = m;
	return got;
}

/* Advances the front to the position or the end of the file; completes the last step's moment if
   lines were added after it. */
static int advance_to(struct cursor *c, int64_t position, struct error *err)
{
	while (!c->facts.whole && (c->newest.position < position ||
	                           (c->newest.position == position && c->newest.is_last))) {
		int got = advance(c, err);

		if (got <= 0)
			return got;
	}
	return 0;
}

int cursor_go(struct cursor *c, int64_t position, struct error *err)
{
	int64_t before = c->now.position;

	if (advance_to(c, position, err)) {
		struct error first = *err;
		/* the current moment may have been overwritten */
		int back = go_back(c, before, err);

		*err = back < 0 ? *err : first;
		return -1;
	}
	bool there = position >= 0 && position <= c->newest.position;
	int64_t to = there ? position : before;
	if (to == c->newest.position) {
		c->now = c->newest;
		return there;
	}
	return go_back(c, to, err) < 0 ? -1 : there;
}

/* ---- searching ---- */

/* The next moment of a search: from the part read so far, then from the front. */
static int next_known(struct cursor *c, int64_t position, struct moment *m, struct error *err)
{
	if (position < c->newest.position)
		return next_back(c, m, err);
	int failed = advance_to(c, position, err);
	*m = c->newest;
	return failed ? -1 : m->position >= position;
}

static int search_forward(struct cursor *c, cursor_test_fn *test, void *ctx, int64_t *found,
                          struct error *err)
{
	struct moment m;
	int got, passed = 0;

	*found = c->now.position;
	if (c->now.position + 1 < c->newest.position)
		seek_back(c, c->now.position + 1);
	for (int64_t p = c->now.position + 1; !passed; p++) {
		do {
			got = next_known(c, p, &m, err);
		} while (got > 0 && m.position < p);
		if (got <= 0)
			return got;
		*found = p;
		passed = test(ctx, &m, err);
	}
	return passed;
}

/* The last position in [from, to) that passes the test; 0: none. */
static int search_block(struct cursor *c, int64_t from, int64_t to, cursor_test_fn *test, void *ctx,
                        int64_t *found, struct error *err)
{
	struct moment m;
	int got = 1;

	seek_back(c, from);
	while (got > 0 && (got = next_back(c, &m, err)) > 0 && m.position < to) {
		int passed = m.position >= from ? test(ctx, &m, err) : 0;

		*found = passed > 0 ? m.position : *found;
		got = passed < 0 ? -1 : 1;
	}
	return got < 0 ? -1 : 0;
}

static int search_back(struct cursor *c, cursor_test_fn *test, void *ctx, int64_t *found,
                       struct error *err)
{
	int64_t to = c->now.position;

	*found = 0;
	while (to > 1 && !*found) {
		const struct step_mark *m = mark_before(c, to - 1);
		int64_t from = m ? m->position : 1;

		if (search_block(c, from, to, test, ctx, found, err))
			return -1;
		to = from;
	}
	return *found > 0;
}

int cursor_search(struct cursor *c, bool back, cursor_test_fn *test, void *ctx, struct error *err)
{
	struct error first;
	int64_t found, before = c->now.position;
	int passed = back ? search_back(c, test, ctx, &found, err)
	                  : search_forward(c, test, ctx, &found, err);

	if (passed < 0) {
		first = *err;
		passed = cursor_go(c, before, err) < 0 ? -1 : (*err = first, -1);
		return passed;
	}
	return cursor_go(c, found, err) < 0 ? -1 : passed;
}

static int64_t number_of(const struct moment *m, bool turn)
{
	return m->position == 0 ? -1 : turn ? m->line->turn : m->line->step;
}

/* The last mark before the first line with that number. */
static int64_t position_before(const struct cursor *c, bool turn, int64_t number)
{
	size_t low = 0, high = c->mark_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct step_mark *m = &c->marks[middle];

		if ((turn ? m->turn : m->step) < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? c->marks[low - 1].position : 0;
}

struct number_search {
	bool turn;
	int64_t number;
};

static int has_number(void *ctx, const struct moment *m, struct error *err)
{
	const struct number_search *s = ctx;

	(void)err;
	return number_of(m, s->turn) >= s->number;
}

int cursor_find(struct cursor *c, bool turn, int64_t number, struct error *err)
{
	struct number_search wanted = {turn, number};
	int64_t before = c->now.position;
	int failed = cursor_go(c, position_before(c, turn, number), err) < 0;
	bool here = !failed && number_of(&c->now, turn) == number;
	int got = failed ? -1 : here ? 1 : cursor_search(c, false, has_number, &wanted, err);

	if (got < 0 || (got && number_of(&c->now, turn) == number))
		return got;
	return cursor_go(c, before, err) < 0 ? -1 : 0;
}

int cursor_read_all(struct cursor *c, struct error *err)
{
	return cursor_go(c, INT64_MAX, err) < 0 ? -1 : 0;
}

/* ---- opening ---- */

struct rollout_search {
	struct cursor *cursor;
	const char *wanted;
	bool found;
	struct names names;
};

/* Matches "ID", or "ID#2" for the second rollout with that id. */
static int look_at_rollout(void *ctx, const struct rollout_place *p, struct error *err)
{
	struct rollout_search *s = ctx;
	struct cursor *c = s->cursor;
	struct buf name = BUF(BUF_MAX_MESSAGE);

	(void)err;
	buf_str(&name, p->id);
	c->instance = p->instance;
	if (p->instance > 1)
		buf_printf(&name, "#%lld", (long long)p->instance);
	s->found = !s->wanted || str_is(buf_view(&name), s->wanted);
	if (s->found) {
		buf_str(&c->id, p->id);
		c->facts.begin = p->offset;
		c->begin_number = p->line;
		c->name = mem_text(buf_view(&name));
	} else {
		names_add(&s->names, buf_view(&name));
	}
	buf_release(&name);
	return s->found;
}

static int find_rollout(struct cursor *c, const char *wanted, struct error *err)
{
	struct rollout_search s = {.cursor = c, .wanted = wanted};
	const struct rollouts_interrupt interrupt = {c->conf.interrupted, c->conf.ctx};
	int failed = rollouts_each(c->path, &interrupt, look_at_rollout, &s, err);

	if (!failed && !s.found && !s.names.count) {
		failed = error_set(err, FAIL_INPUT, "%s: contains no recording", c->path);
	} else if (!failed && !s.found) {
		error_set(err, FAIL_USAGE, "the recording has no rollout '%s'", wanted);
		failed = names_suggest(err, str_from(wanted), s.names.text, s.names.count);
	}
	names_release(&s.names);
	return failed;
}

static int begin(struct cursor *c, struct error *err)
{
	if (find_rollout(c, c->conf.rollout, err))
		return -1;
	c->facts.path = c->path;
	c->facts.rollout = buf_view(&c->id);
	c->facts.name = c->name;
	if (walk_open(&c->front, c->path, buf_view(&c->id), c->facts.begin, c->begin_number, err) ||
	    walk_open(&c->back, c->path, buf_view(&c->id), c->facts.begin, c->begin_number, err)) {
		return -1;
	}
	c->front.each = index_line;
	c->back.each = look_again;
	c->front.ctx = c->back.ctx = c;
	int got = advance(c, err);
	c->now = c->newest;
	return got < 0 ? -1 : got ? 0 : error_set(err, FAIL_INPUT, "%s: contains no step", c->path);
}

static int read_effects(struct cursor *c, struct error *err)
{
	struct reader *r;

	if (c->conf.effects)
		return 0;
	if (reader_open(c->path, &r, err))
		return -1;
	c->all_effects = effects_read(r, NULL);
	return 0;
}

int cursor_open(const struct cursor_conf *conf, struct cursor **out, struct error *err)
{
	struct cursor *c = mem_new(sizeof(*c));

	*c = (struct cursor){.conf = *conf,
	                     .path = mem_text(str_from(conf->path)),
	                     .id = BUF(BUF_MAX_MESSAGE),
	                     .header_id = BUF(BUF_MAX_MESSAGE),
	                     .end_id = BUF(BUF_MAX_MESSAGE),
	                     .newest_turn = -1,
	                     .newest_step = -1,
	                     .marks = mem_array(MARKS_MAX, sizeof(struct step_mark)),
	                     .stride = 1};
	if (read_effects(c, err) || begin(c, err)) {
		cursor_close(c);
		return -1;
	}
	*out = c;
	return 0;
}

void cursor_close(struct cursor *c)
{
	if (!c)
		return;
	walk_close(&c->front);
	walk_close(&c->back);
	effects_free(c->all_effects);
	free(c->marks);
	free(c->path);
	free(c->name);
	BUFS_RELEASE(&c->id, &c->header_id, &c->end_id);
	free(c);
}
