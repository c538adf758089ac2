/* Assigns lines to rollouts and returns what each line adds: see facts.h. */
#include "facts/facts.h"

#include "facts/cross_rollout.h"
#include "facts/fold.h"

#include <stdlib.h>

struct facts {
	struct facts_conf conf;
	struct rollout_table open;
	struct open_rollout *newest; /* the rollout of the last line */
	bool newest_called;          /* the last line was a call */
	/* an ended rollout that was reported; freed at the next call */
	struct open_rollout *ended;
	/* the rollouts that were open when facts_end_next was first called */
	struct open_rollout **ending;
	size_t ending_count, ending_next;
	struct cross_rollout cross_rollout;
	struct workspace work;
};

struct facts *facts_new(const struct facts_conf *conf)
{
	struct facts *f = mem_new(sizeof(*f));

	f->conf = *conf;
	rollout_table_init(&f->open, conf->user_release);
	f->work.text = BUF(BUF_MAX_MESSAGE);
	f->work.canon = BUF(BUF_MAX_MESSAGE);
	f->work.hasher = hasher_new();
	f->cross_rollout.open = &f->open;
	return f;
}

void facts_free(struct facts *f)
{
	if (!f) {
		return;
	}
	free(f->ending);
	rollout_table_release(&f->open);
	cross_rollout_release(&f->cross_rollout);
	buf_release(&f->work.text);
	buf_release(&f->work.canon);
	hasher_free(f->work.hasher);
	free(f);
}

/* Frees the rollout that the last call reported as ended. */
static void finish_last_line(struct facts *f)
{
	struct open_rollout *o = f->newest;

	if (o) {
		o->last_line = f->cross_rollout.clock;
		o->counted_before = f->cross_rollout.counts.window.steps;
		o->counted_window = f->cross_rollout.counts.windows;
		if (f->newest_called) {
			o->last_call = f->cross_rollout.clock;
			cross_rollout_called(&f->cross_rollout, o);
		}
	}
	if (f->ended) {
		rollout_table_end(&f->open, f->ended);
		f->ended = f->newest = NULL;
	}
}

static void note_torn(struct facts *f)
{
	struct open_rollout **list = rollout_table_list(&f->open);

	for (size_t i = 0; i < f->open.open.count; i++) {
		list[i]->facts.torn = true;
	}
	free(list);
}

static struct open_rollout *find(struct facts *f, struct str id, uint64_t *hash)
{
	if (f->newest && str_eq(f->newest->facts.id, id)) {
		*hash = f->newest->item.hash;
		return f->newest;
	}
	*hash = map_hash(id);
	return rollout_table_find(&f->open, id, *hash);
}

static struct open_rollout *begin(struct facts *f, const struct line *l, uint64_t hash)
{
	struct open_rollout *o = rollout_table_add(&f->open, l->rollout, hash, f->conf.user_size);

	o->number = ++f->cross_rollout.begun;
	o->facts.work = &f->work;
	o->facts.cross_rollout = &f->cross_rollout;
	o->facts.trained = f->conf.hints.trained;
	o->hints = &f->conf.hints;
	fold_begin(o);
	return o;
}

static int refuse(const struct facts *f, const struct line *l, uint64_t hash, struct error *err)
{
	const char *type = line_type_name(l->type);

	if (l->type == LINE_HEADER) {
		return error_set(err, FAIL_INPUT,
		                 "a second header of rollout \"%.*s\" before its end",
		                 STR_ARG(l->rollout));
	}
	if (rollout_table_ended(&f->open, hash)) {
		return error_set(err, FAIL_INPUT,
		                 "a \"%s\" line of rollout \"%.*s\" after "
		                 "its end",
		                 type, STR_ARG(l->rollout));
	}
	return error_set(err, FAIL_INPUT,
	                 "a \"%s\" line of rollout \"%.*s\", which has no "
	                 "header",
	                 type, STR_ARG(l->rollout));
}

/* Finds the rollout of the line; *out is NULL if the line may be ignored. */
static int rollout_of(struct facts *f, const struct line *l, struct open_rollout **out,
                      struct error *err)
{
	uint64_t hash;
	struct open_rollout *o = find(f, l->rollout, &hash);
	bool header = l->type == LINE_HEADER;

	*out = o;
	if (header == !o || (!o && l->type == LINE_UNKNOWN)) {
		*out = header ? begin(f, l, hash) : o;
		return 0;
	}
	if (!f->conf.lenient) {
		return refuse(f, l, hash, err);
	}
	*out = o ? o : begin(f, l, hash);
	return 0;
}

static void count_line(struct open_rollout *o, const struct line *l, const struct reader_note *note)
{
	o->facts.lines++;
	o->facts.fused += note && note->fused;
	o->facts.has_meta = o->facts.has_meta || line_has(l, KEY_META);
}

int facts_line(struct facts *f, const struct line *l, const struct reader_note *note,
               struct facts_update *out, struct error *err)
{
	struct open_rollout *o;

	finish_last_line(f);
	mem_clear(out, sizeof(*out));
	if (note && note->torn) {
		note_torn(f);
		return 0;
	}
	if (rollout_of(f, l, &o, err)) {
		return -1;
	}
	if (!o) {
		return 0;
	}
	out->rollout = &o->facts;
	out->user = o->user;
	f->newest = o;
	f->cross_rollout.current = o;
	f->cross_rollout.clock++;
	count_line(o, l, note);
	o->facts.alone = f->open.open.count == 1;
	o->alone_lines = o->facts.alone ? o->alone_lines + 1 : 0;
	o->facts.concurrent = o->facts.concurrent || !o->facts.alone;
	out->completed = fold_complete_step(o, l, &out->completed_kinds);
	out->kinds = fold_line(o, l, &out->derived);
	f->newest_called = out->derived.is_step;
	if (l->type == LINE_END) {
		out->end = fold_end(o, l);
		f->ended = o;
	}
	return 0;
}

/* The next of the rollouts that were open at the first call; NULL at the end. */
static struct open_rollout *next_open(struct facts *f)
{
	if (!f->ending) {
		f->ending = rollout_table_list(&f->open);
		f->ending_count = f->open.open.count;
		f->ending_next = 0;
	}
	if (f->ending_next < f->ending_count) {
		return f->ending[f->ending_next++];
	}
	free(f->ending);
	f->ending = NULL;
	return NULL;
}

/* Ends a rollout without an end line. */
static void end_open(struct facts *f, struct open_rollout *o, struct facts_update *out)
{
	*out = (struct facts_update){.rollout = &o->facts,
	                             .user = o->user,
	                             .derived = {.tool = TOOL_NONE, .env_steps = -1}};
	f->cross_rollout.current = o;
	f->ended = o;
	out->completed = fold_complete_step(o, NULL, &out->completed_kinds);
	out->end = fold_end(o, NULL);
}

bool facts_end_next(struct facts *f, struct facts_update *out)
{
	struct open_rollout *o;

	finish_last_line(f);
	f->newest = NULL;
	o = next_open(f);
	if (o) {
		end_open(f, o, out);
	}
	return o;
}

bool facts_end_unfinished(struct facts *f, const struct line *l, struct facts_update *out)
{
	struct open_rollout *o;
	uint64_t hash;

	if (l->type != LINE_HEADER || f->conf.lenient) {
		return false;
	}
	finish_last_line(f);
	o = find(f, l->rollout, &hash);
	if (o) {
		f->newest = NULL;
		end_open(f, o, out);
	}
	return o;
}

bool facts_is_headless(struct facts *f, const struct line *l)
{
	uint64_t hash;

	finish_last_line(f);
	return l->type != LINE_HEADER && l->type != LINE_UNKNOWN && !f->conf.lenient &&
	       !find(f, l->rollout, &hash) && !rollout_table_ended(&f->open, hash);
}

void facts_new_file(struct facts *f)
{
	finish_last_line(f);
	f->newest = NULL;
	rollout_table_forget(&f->open);
	cross_rollout_forget(&f->cross_rollout);
	f->cross_rollout.files++;
}

void facts_number_file(struct facts *f, int64_t number)
{
	f->cross_rollout.files = number;
}

bool facts_can_absorb(const struct facts *f, const struct facts *other)
{
	return cross_rollout_can_absorb(&f->cross_rollout, &other->cross_rollout);
}

void facts_absorb(struct facts *f, const struct facts *other)
{
	cross_rollout_absorb(&f->cross_rollout, &other->cross_rollout);
}

size_t facts_open_count(const struct facts *f)
{
	return f->open.open.count - (f->ended ? 1 : 0);
}

struct workspace *facts_workspace(struct facts *f)
{
	return &f->work;
}
