/* Assigns lines to rollouts and returns what each line adds: see evidence.h. */
#include "evidence/evidence.h"

#include "evidence/fold.h"
#include "evidence/sharing.h"

#include <stdlib.h>

struct evidence {
	struct evidence_conf conf;
	struct rollout_table open;
	struct open_rollout *newest; /* the rollout of the last line */
	bool newest_called;          /* the last line was a call */
	/* an ended rollout that was reported; freed at the next call */
	struct open_rollout *ended;
	/* the rollouts that were open when evidence_end_next was first called */
	struct open_rollout **ending;
	size_t ending_count, ending_next;
	struct sharing sharing;
	struct workspace work;
};

struct evidence *evidence_new(const struct evidence_conf *conf)
{
	struct evidence *f = mem_new(sizeof(*f));

	f->conf = *conf;
	rollout_table_init(&f->open, conf->user_release);
	f->work.text = BUF(BUF_MAX_MESSAGE);
	f->work.canon = BUF(BUF_MAX_MESSAGE);
	f->sharing.open = &f->open;
	return f;
}

void evidence_free(struct evidence *f)
{
	if (!f)
		return;
	free(f->ending);
	rollout_table_release(&f->open);
	sharing_release(&f->sharing);
	BUFS_RELEASE(&f->work.text, &f->work.canon);
	free(f);
}

/* Frees the rollout that the last call reported as ended. */
static void finish_last_line(struct evidence *f)
{
	struct open_rollout *o = f->newest;

	if (o) {
		o->last_line = f->sharing.clock;
		if (f->newest_called)
			sharing_called(&f->sharing, o);
	}
	if (f->ended) {
		rollout_table_end(&f->open, f->ended);
		f->ended = f->newest = NULL;
	}
}

static void note_torn(struct evidence *f)
{
	struct open_rollout **list = rollout_table_list(&f->open);

	for (size_t i = 0; i < f->open.open.count; i++)
		list[i]->facts.torn = true;
	free(list);
}

static struct open_rollout *find(struct evidence *f, struct str id, uint64_t *hash)
{
	if (f->newest && str_eq(f->newest->facts.id, id)) {
		*hash = f->newest->item.hash;
		return f->newest;
	}
	*hash = map_hash(id);
	return rollout_table_find(&f->open, id, *hash);
}

static struct open_rollout *begin(struct evidence *f, const struct line *l, uint64_t hash)
{
	struct open_rollout *o = rollout_table_add(&f->open, l->rollout, hash, f->conf.user_size);

	o->number = ++f->sharing.begun;
	o->facts.work = &f->work;
	o->facts.sharing = &f->sharing;
	o->facts.trained = f->conf.hints.trained;
	o->hints = &f->conf.hints;
	o->effects = f->conf.effects ? effects_of(f->conf.effects, o->facts.id, o->instance) : NULL;
	fold_begin(o);
	return o;
}

static int refuse(const struct evidence *f, const struct line *l, uint64_t hash, struct error *err)
{
	const char *type = line_type_name(l->type);

	if (l->type == LINE_HEADER) {
		return error_set(err, FAIL_INPUT,
		                 "a second header of rollout \"%.*s\" before its end",
		                 STR_ARG(l->rollout));
	}
	if (rollout_table_ended(&f->open, hash)) {
		return error_set(err, FAIL_INPUT, "a \"%s\" line of rollout \"%.*s\" after its end",
		                 type, STR_ARG(l->rollout));
	}
	return error_set(err, FAIL_INPUT, "a \"%s\" line of rollout \"%.*s\", which has no header",
	                 type, STR_ARG(l->rollout));
}

/* Finds the rollout of the line; *out is NULL if the line may be ignored. */
static int rollout_of(struct evidence *f, const struct line *l, struct open_rollout **out,
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
	if (!f->conf.lenient)
		return refuse(f, l, hash, err);
	*out = o ? o : begin(f, l, hash);
	return 0;
}

static void count_line(struct open_rollout *o, const struct line *l, const struct reader_note *note)
{
	o->facts.lines++;
	o->facts.fused += note && note->fused;
	o->facts.has_meta = o->facts.has_meta || line_has(l, KEY_META);
}

int evidence_line(struct evidence *f, const struct line *l, const struct reader_note *note,
                  struct evidence_update *out, struct error *err)
{
	struct open_rollout *o;

	finish_last_line(f);
	mem_clear(out, sizeof(*out));
	if (note && note->torn) {
		note_torn(f);
		return 0;
	}
	if (rollout_of(f, l, &o, err))
		return -1;
	if (!o)
		return 0;
	out->rollout = &o->facts;
	out->user = o->user;
	f->newest = o;
	f->sharing.current = o;
	f->sharing.clock++;
	count_line(o, l, note);
	o->facts.alone = f->open.open.count == 1;
	o->facts.concurrent = o->facts.concurrent || !o->facts.alone;
	int64_t newest = o->facts.steps - 1;
	bool completes = fold_complete_step(o, l) != NULL;

	out->kinds = fold_line(o, l, &out->derived);
	out->completed = completes ? &o->facts.completed[newest] : NULL; /* steps may have moved */
	f->newest_called = out->derived.is_step;
	if (l->type == LINE_END) {
		out->end = fold_end(o, l);
		f->ended = o;
	}
	return 0;
}

/* The next of the rollouts that were open at the first call; NULL at the end. */
static struct open_rollout *next_open(struct evidence *f)
{
	if (!f->ending) {
		f->ending = rollout_table_list(&f->open);
		f->ending_count = f->open.open.count;
		f->ending_next = 0;
	}
	if (f->ending_next < f->ending_count)
		return f->ending[f->ending_next++];
	free(f->ending);
	f->ending = NULL;
	return NULL;
}

/* Ends a rollout without an end line. */
static void end_open(struct evidence *f, struct open_rollout *o, struct evidence_update *out)
{
	*out = (struct evidence_update){.rollout = &o->facts,
	                                .user = o->user,
	                                .derived = {.tool = TOOL_NONE, .env_steps = -1}};
	f->sharing.current = o;
	f->ended = o;
	out->completed = fold_complete_step(o, NULL);
	out->end = fold_end(o, NULL);
}

bool evidence_end_next(struct evidence *f, struct evidence_update *out)
{
	struct open_rollout *o;

	finish_last_line(f);
	f->newest = NULL;
	o = next_open(f);
	if (o)
		end_open(f, o, out);
	return o;
}

bool evidence_end_unfinished(struct evidence *f, const struct line *l, struct evidence_update *out)
{
	struct open_rollout *o;
	uint64_t hash;

	if (l->type != LINE_HEADER || f->conf.lenient)
		return false;
	finish_last_line(f);
	o = find(f, l->rollout, &hash);
	if (o) {
		f->newest = NULL;
		end_open(f, o, out);
	}
	return o;
}

bool evidence_is_headless(struct evidence *f, const struct line *l)
{
	uint64_t hash;

	finish_last_line(f);
	return l->type != LINE_HEADER && l->type != LINE_UNKNOWN && !f->conf.lenient &&
	       !find(f, l->rollout, &hash) && !rollout_table_ended(&f->open, hash);
}

void evidence_new_file(struct evidence *f)
{
	finish_last_line(f);
	f->newest = NULL;
	rollout_table_forget(&f->open);
	sharing_forget(&f->sharing);
	f->sharing.files++;
}

void evidence_number_file(struct evidence *f, int64_t number)
{
	f->sharing.files = number;
}

struct sharing *evidence_sharing(struct evidence *f)
{
	return &f->sharing;
}

size_t evidence_open_count(const struct evidence *f)
{
	return f->open.open.count - (f->ended ? 1 : 0);
}

struct workspace *evidence_workspace(struct evidence *f)
{
	return &f->work;
}
