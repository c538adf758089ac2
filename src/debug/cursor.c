/* The index of a rollout, and moving through it: see cursor.h. */
#include "debug/cursor.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/names.h"
#include "evidence/effects_read.h"

#include <stdlib.h>

#define EVENTS_MAX      ((size_t)1 << 20) /* maximum bytes kept of a step's events */
#define INTERRUPT_LINES 4096              /* lines between two polls of the signal */
#define BLOCK_STEPS     256               /* read forwards in a search backwards */

/* ---- copies of lines ---- */

/* A copy of a line, with its own text and slices into it. */
struct line_copy {
	struct buf text, id;
	struct line line;
};

static int line_copy_set(struct line_copy *c, const struct line *l, struct error *err)
{
	buf_set(&c->text, l->text);
	if (line_parse(buf_view(&c->text), &c->id, &c->line, NULL, err))
		return -1;
	c->line.number = l->number;
	return 0;
}

/* ---- the index and the moment ---- */

/* Where a step line is; turn and step: the last numbers up to there. */
struct place {
	uint64_t offset, number;
	int64_t turn, step;
};

struct cursor {
	struct cursor_conf conf;
	struct cursor_facts facts;
	char *path, *name; /* name: the rollout's, with "#2" if needed */
	struct buf id;
	struct effects *all_effects; /* of the file; NULL: they are provided by the configuration */
	int64_t instance;            /* of the id */
	uint64_t lines;              /* lines read, of all rollouts */
	/* the index, as far as it was needed */
	struct reader *front;
	struct place *steps;
	uint64_t begin_number;   /* number of the line at facts.begin */
	uint64_t offset, number; /* after the last line in it */
	uint64_t end; /* where another rollout with the same id begins; else UINT64_MAX */
	bool begun;   /* it has a header or a reset */
	bool at_end;  /* of the file as last read; it may grow */
	struct line_copy header, last;
	/* the moment that was read last */
	struct reader *back;
	struct line_copy
		copy[2]; /* its line is copy[current], the next one the other, if has_next */
	int current;
	bool has_next;
	int64_t loaded; /* -1: none */
	struct buf events;
	struct moment now;
};

const struct moment *cursor_now(const struct cursor *c)
{
	return &c->now;
}

const struct cursor_facts *cursor_facts(const struct cursor *c)
{
	return &c->facts;
}

/* A torn last line is none: it may be completed later. */
static int next_line(struct cursor *c, struct reader *r, struct line *l, struct reader_note *note,
                     struct error *err)
{
	if (++c->lines % INTERRUPT_LINES == 0 && c->conf.interrupted &&
	    c->conf.interrupted(c->conf.ctx)) {
		error_set(err, FAIL_INTERRUPTED, "interrupted");
		return -1;
	}
	int more = reader_next(r, l, note, err);
	if (more <= 0 || !note->torn)
		return more;
	c->facts.torn = true;
	return 0;
}

/* ---- the index ---- */

static void add_step(struct cursor *c, const struct line *l, const struct reader_note *note)
{
	size_t n = (size_t)c->facts.steps;
	const struct place *before = n ? &c->steps[n - 1] : &(struct place){.turn = -1, .step = -1};
	struct place one = {note->offset, note->line, l->turn >= 0 ? l->turn : before->turn,
	                    l->step >= 0 ? l->step : before->step};

	c->steps = mem_grow(c->steps, n, sizeof(*c->steps));
	c->steps[n] = one;
	c->facts.steps++;
}

static int add_line(struct cursor *c, const struct line *l, const struct reader_note *note,
                    struct error *err)
{
	switch (l->type) {
	case LINE_HEADER:
		if (c->begun) {
			c->end = note->offset;
			c->facts.whole = true;
			return 0;
		}
		c->begun = true;
		if (line_copy_set(&c->header, l, err))
			return -1;
		c->facts.header = c->header.line;
		return 0;
	case LINE_RESET:
		c->begun = true;
		return 0;
	case LINE_STEP:
		add_step(c, l, note);
		return 0;
	case LINE_END:
		c->facts.whole = true;
		if (line_copy_set(&c->last, l, err))
			return -1;
		c->facts.end = c->last.line;
		return 0;
	default:
		return 0;
	}
}

/* Reads until the step after that position is known too, or to the end of the file. */
static int index_to(struct cursor *c, int64_t position, struct error *err)
{
	struct reader_note note;
	struct line l;
	int more = 1;

	if (c->at_end)
		reader_seek(c->front, c->offset, UINT64_MAX, c->number);
	while (!c->facts.whole && c->facts.steps <= position &&
	       (more = next_line(c, c->front, &l, &note, err)) > 0) {
		bool mine = str_eq(l.rollout, buf_view(&c->id));

		c->facts.others = c->facts.others || (!mine && l.type != LINE_UNKNOWN);
		if (mine && add_line(c, &l, &note, err))
			return -1;
		c->offset = note.offset + l.text.n;
		c->number = note.line;
	}
	c->at_end = more <= 0;
	return more < 0 ? -1 : 0;
}

/* ---- moments ---- */

static enum effect effect_at(const struct cursor *c, int64_t position)
{
	const struct effect_list *l =
		c->conf.effects ? c->conf.effects
				: effects_of(c->all_effects, c->facts.rollout, c->instance);

	return l ? effects_at(l, position) : EFFECT_UNKNOWN;
}

/* The next line of the rollout. */
static int next_mine(struct cursor *c, struct line *l, struct error *err)
{
	struct reader_note note;
	int more;

	do {
		more = next_line(c, c->back, l, &note, err);
	} while (more > 0 && !str_eq(l->rollout, c->facts.rollout));
	return more;
}

/* Reads the line of a moment, unless it is the one after the last moment. */
static int load_line(struct cursor *c, int64_t position, struct error *err)
{
	bool follows = c->has_next && position == c->loaded + 1;
	struct line l;

	c->loaded = -1;
	if (follows) {
		c->current = !c->current;
		return 0;
	}
	if (position) {
		const struct place *p = &c->steps[position - 1];

		reader_seek(c->back, p->offset, c->end, p->number);
	} else {
		reader_seek(c->back, c->facts.begin, c->end, c->begin_number);
	}
	int more = next_mine(c, &l, err);
	return more > 0 ? line_copy_set(&c->copy[c->current], &l, err) : more;
}

/* Reads what follows up to the next step or the end. Header and reset share the first position. */
static int load_rest(struct cursor *c, int64_t position, struct error *err)
{
	struct line l;
	int more;

	buf_clear(&c->events);
	c->has_next = false;
	while ((more = next_mine(c, &l, err)) > 0) {
		if (l.type == LINE_EVENT) {
			buf_str(&c->events, l.text);
			buf_text(&c->events, "\n");
		} else if (l.type == LINE_STEP || l.type == LINE_END) {
			c->has_next = l.type == LINE_STEP;
			return line_copy_set(&c->copy[!c->current], &l, err) ? -1 : 1;
		} else if (!position && l.type == LINE_RESET &&
		           line_copy_set(&c->copy[c->current], &l, err)) {
			return -1;
		}
	}
	return more;
}

static int load(struct cursor *c, int64_t position, struct moment *out, struct error *err)
{
	int more = load_line(c, position, err) ? -1 : load_rest(c, position, err);
	const struct line *l = &c->copy[c->current].line, *next = &c->copy[!c->current].line;

	if (more < 0)
		return -1;
	c->loaded = position;
	*out = (struct moment){.position = position,
	                       .line = l,
	                       .events = buf_view(&c->events),
	                       .effect = effect_at(c, position),
	                       .is_last = !c->has_next,
	                       .number = l->number,
	                       .end = position         ? c->steps[position - 1].offset + l->text.n
	                              : c->facts.steps ? c->steps[0].offset
	                                               : c->offset};
	if (more) {
		out->after = next->value[KEY_STATE];
		out->after_hash = next->value[KEY_STATE_HASH];
	}
	return 0;
}

/* ---- moving ---- */

/* If that fails, the cursor stays where it was. */
static int move_to(struct cursor *c, int64_t position, struct error *err)
{
	int64_t before = c->now.position;
	int failed = load(c, position, &c->now, err);

	if (failed)
		(void)!load(c, before, &c->now, ERROR_IGNORED);
	return failed;
}

int cursor_go(struct cursor *c, int64_t position, struct error *err)
{
	if (index_to(c, position, err))
		return -1;
	position = position || c->begun ? position : 1;
	bool there = position >= 0 && position <= c->facts.steps;
	return move_to(c, there ? position : c->now.position, err) ? -1 : there;
}

/* ---- searching ---- */

static int search_forward(struct cursor *c, cursor_test_fn *test, void *ctx, int64_t *found,
                          struct error *err)
{
	struct moment m;
	int passed = 0;

	*found = c->now.position;
	while (!passed) {
		if (index_to(c, *found + 1, err))
			return -1;
		if (*found == c->facts.steps)
			return 0;
		if (load(c, *found + 1, &m, err))
			return -1;
		++*found;
		passed = test(ctx, &m, err);
	}
	return passed;
}

static int search_back(struct cursor *c, cursor_test_fn *test, void *ctx, int64_t *found,
                       struct error *err)
{
	struct moment m;

	*found = 0;
	for (int64_t from, to = c->now.position; to > 1 && !*found; to = from) {
		from = to > BLOCK_STEPS ? to - BLOCK_STEPS : 1;
		for (int64_t p = from; p < to; p++) {
			int passed = load(c, p, &m, err) ? -1 : test(ctx, &m, err);

			if (passed < 0)
				return -1;
			*found = passed ? p : *found;
		}
	}
	return *found > 0;
}

int cursor_search(struct cursor *c, bool back, cursor_test_fn *test, void *ctx, struct error *err)
{
	int64_t found;
	int passed = back ? search_back(c, test, ctx, &found, err)
	                  : search_forward(c, test, ctx, &found, err);

	if (passed < 0) {
		(void)!load(c, c->now.position, &c->now, ERROR_IGNORED);
		return -1;
	}
	return cursor_go(c, found, err) < 0 ? -1 : passed;
}

static int64_t number_at(const struct cursor *c, bool turn, int64_t i)
{
	return turn ? c->steps[i].turn : c->steps[i].step;
}

int cursor_find(struct cursor *c, bool turn, int64_t number, struct error *err)
{
	int64_t low = 0, high, known;

	do {
		known = c->facts.steps;
		if (known && number_at(c, turn, known - 1) >= number)
			break;
		if (index_to(c, known, err))
			return -1;
	} while (c->facts.steps > known);
	for (high = c->facts.steps; low < high;) {
		int64_t middle = low + (high - low) / 2;

		if (number_at(c, turn, middle) < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->facts.steps && number_at(c, turn, low) == number
	               ? cursor_go(c, low + 1, err)
	               : 0;
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
	AUTO_BUF name = BUF(BUF_MAX_MESSAGE);

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
	c->offset = c->facts.begin;
	c->number = c->begin_number;
	if (reader_open(c->path, &c->front, err) || reader_open(c->path, &c->back, err) ||
	    index_to(c, 0, err)) {
		return -1;
	}
	return !c->begun && !c->facts.steps
	               ? error_set(err, FAIL_INPUT, "%s: contains no step", c->path)
	               : load(c, !c->begun, &c->now, err);
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
	                     .events = BUF(EVENTS_MAX),
	                     .end = UINT64_MAX,
	                     .at_end = true,
	                     .loaded = -1};
	struct line_copy *const copies[] = {&c->header, &c->last, &c->copy[0], &c->copy[1]};

	for (size_t i = 0; i < ARRAY_LEN(copies); i++)
		copies[i]->text = copies[i]->id = BUF(BUF_MAX_MESSAGE + 1);
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
	reader_close(c->front);
	reader_close(c->back);
	BUFS_RELEASE(&c->header.text, &c->header.id, &c->last.text, &c->last.id);
	for (int i = 0; i < 2; i++)
		BUFS_RELEASE(&c->copy[i].text, &c->copy[i].id);
	effects_free(c->all_effects);
	free(c->steps);
	free(c->path);
	free(c->name);
	BUFS_RELEASE(&c->id, &c->events);
	free(c);
}

/* ---- where rollouts begin ---- */

/* An id seen before, 40 bytes. */
struct seen_id {
	struct map_item item;
	int64_t instances;
};

struct rollout_listing {
	struct map ids; /* key: only the hash of the id */
	rollout_place_fn *take;
	void *ctx;
};

/* A rollout begins with a header, or with any line of a rollout that is not open. */
static int take_line(struct rollout_listing *l, const struct line *line,
                     const struct reader_note *note, struct error *err)
{
	struct seen_id *seen =
		map_find_or_add(&l->ids, map_hash(line->rollout), NULL, sizeof(*seen));

	if (line->type != LINE_HEADER && seen->instances)
		return 0;
	seen->instances++;
	return l->take(
		l->ctx,
		&(struct rollout_place){line->rollout, seen->instances, note->offset, note->line},
		err);
}

int rollouts_each(const char *path, const struct rollouts_interrupt *interrupt,
                  rollout_place_fn *take, void *ctx, struct error *err)
{
	struct rollout_listing l = {.take = take, .ctx = ctx};
	struct reader_note note;
	struct reader *r;
	struct line line;
	int more, stop = 0;

	if (reader_open(path, &r, err))
		return -1;
	for (uint64_t n = 1; !stop && (more = reader_skim(r, &line, &note, err)) > 0; n++) {
		if (note.torn)
			break;
		stop = line.type == LINE_UNKNOWN ? 0 : take_line(&l, &line, &note, err);
		if (!stop && n % INTERRUPT_LINES == 0 && interrupt->interrupted &&
		    interrupt->interrupted(interrupt->ctx)) {
			stop = error_set(err, FAIL_INTERRUPTED, "interrupted");
		}
	}
	reader_close(r);
	mem_free_all(map_list(&l.ids), l.ids.count);
	return stop < 0 || (!stop && more < 0) ? -1 : 0;
}
