/* Reads lines rollout by rollout: see by_rollout.h. */
#include "recording/by_rollout.h"

#include "base/mem.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>

struct rollout_rank {
	struct str id;
	size_t instance; /* number of earlier rollouts with that id */
	bool begun;      /* its header was read */
	size_t rank;     /* position in the order of ids */
	struct rollout_rank *next;
	struct rollout_rank *current; /* in the first rollout of an id: the latest one */
};

/* Consecutive lines of one rollout. */
struct stretch {
	const struct rollout_rank *rollout;
	size_t file;
	uint64_t begin, end; /* bytes in the file */
	uint64_t line;       /* number of the first line */
};

struct stretch_place {
	size_t next; /* index of the next stretch */
	bool open;   /* the reader is in the stretch before it */
};

struct by_rollout {
	char *const *paths;
	size_t path_count;
	const struct format *format; /* of all files; NULL: detected from each file's content */
	FILE **copies;         /* of inputs that cannot be read twice; NULL: read the file itself */
	size_t file;           /* index of the file that is being read, or was read last */
	struct reader *reader; /* of that file; NULL: not open */
	struct stretch_place at;
	const struct rollout_rank *reading; /* the rollout that is being read; NULL: none */
	struct stretch *stretches;
	size_t count;
	void *ids; /* tsearch tree of struct rollout_rank */
	struct rollout_rank *all;
	size_t rollouts;
	struct arena arena;
	reader_line_fn *torn;
	void *ctx; /* for torn */
};

/* ---- locating the lines ---- */

static int by_id(const void *a, const void *b)
{
	return str_order(((const struct rollout_rank *)a)->id,
	                 ((const struct rollout_rank *)b)->id);
}

static struct rollout_rank *add_rollout(struct by_rollout *b, struct str id, size_t instance)
{
	struct rollout_rank *one = arena_new(&b->arena, sizeof(*one));

	*one = (struct rollout_rank){.id = id, .instance = instance, .next = b->all};
	b->all = one;
	b->rollouts++;
	return one;
}

/* The first rollout with that id. */
static struct rollout_rank *first_of(struct by_rollout *b, struct str id)
{
	struct rollout_rank key = {.id = id}, *one;
	void *node = tfind(&key, &b->ids, by_id);

	if (node)
		return *(struct rollout_rank **)node;
	one = add_rollout(b, id.p ? arena_str(&b->arena, id) : STR(""), 0);
	one->current = one;
	tsearch(one, &b->ids, by_id);
	return one;
}

/* A second header with the same id begins another rollout. */
static struct rollout_rank *rollout_of(struct by_rollout *b, struct str id, bool header)
{
	struct rollout_rank *first = first_of(b, id), *one = first->current;

	if (header && one->begun) {
		one = add_rollout(b, first->id, one->instance + 1);
		first->current = one;
	}
	one->begun = one->begun || header;
	return one;
}

/* Was the line only located? A line feed follows it then, and nothing else is on it. */
static bool is_skimmed(const struct line *l)
{
	return l->type != LINE_UNKNOWN && !l->value[KEY_TYPE].n;
}

static void note_place(struct by_rollout *b, const struct line *l, const struct reader_note *note)
{
	const struct stretch *last = b->count ? &b->stretches[b->count - 1] : NULL;
	const uint64_t end = note->offset + l->text.n + is_skimmed(l);
	/* usually the rollout of the previous line, which saves the look-up */
	bool header = l->type == LINE_HEADER;
	bool same = last && !header && str_eq(last->rollout->id, l->rollout);
	const struct rollout_rank *rollout =
		same ? last->rollout : rollout_of(b, l->rollout, header);

	if (!last || last->file != b->file || last->rollout != rollout) {
		b->stretches = mem_grow(b->stretches, b->count, sizeof(*b->stretches));
		b->stretches[b->count++] = (struct stretch){.rollout = rollout,
		                                            .file = b->file,
		                                            .begin = note->offset,
		                                            .line = note->line};
	}
	b->stretches[b->count - 1].end = end;
}

/* ---- the files ---- */

static int open_file(const struct by_rollout *b, size_t file, struct reader **out,
                     struct error *err)
{
	FILE *copy = b->copies[file];

	return copy ? reader_open_fd(fileno(copy), b->paths[file], out, err)
	            : reader_open(b->paths[file], out, err);
}

static int note_lines(struct by_rollout *b, struct reader *r, struct error *err)
{
	struct reader_note note;
	struct line l;
	int more;

	while ((more = reader_skim(r, &l, &note, err)) > 0) {
		if (!note.torn) {
			note_place(b, &l, &note);
		} else if (b->torn(b->ctx, &l, &note, err)) {
			more = -1;
			break;
		}
	}
	reader_close(r);
	return more;
}

static int note_file(struct by_rollout *b, size_t file, struct error *err)
{
	struct reader *r = NULL;

	b->file = file;
	return recording_copy(b->paths[file], b->format, &b->copies[file], err) ||
	                       open_file(b, file, &r, err) || note_lines(b, r, err)
	               ? -1
	               : 0;
}

/* ---- the lines, in order ---- */

static int by_id_and_instance(const void *left, const void *right)
{
	const struct rollout_rank *a = *(struct rollout_rank *const *)left;
	const struct rollout_rank *b = *(struct rollout_rank *const *)right;
	int order = by_id(a, b);

	return order ? order : (a->instance > b->instance) - (a->instance < b->instance);
}

static void rank(struct by_rollout *b)
{
	struct rollout_rank **list = mem_array(b->rollouts + 1, sizeof(struct rollout_rank *));
	size_t n = 0;

	for (struct rollout_rank *one = b->all; one; one = one->next)
		list[n++] = one;
	qsort(list, n, sizeof(struct rollout_rank *), by_id_and_instance);
	for (size_t i = 0; i < n; i++)
		list[i]->rank = i;
	free(list);
}

static int by_rank(const void *left, const void *right)
{
	const struct stretch *a = left, *b = right;

	if (a->rollout->rank != b->rollout->rank)
		return a->rollout->rank < b->rollout->rank ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->begin > b->begin) - (a->begin < b->begin);
}

static int open_stretch(struct by_rollout *b, const struct stretch *s, struct error *err)
{
	if (b->reader && b->file != s->file) {
		reader_close(b->reader);
		b->reader = NULL;
	}
	b->file = s->file;
	return b->reader ? 0 : open_file(b, s->file, &b->reader, err);
}

int by_rollout_open(const struct format *format, char *const *paths, size_t count,
                    reader_line_fn *torn, void *ctx, struct by_rollout **out, struct error *err)
{
	struct by_rollout *b = mem_new(sizeof(*b));
	int failed = 0;

	*b = (struct by_rollout){.paths = paths,
	                         .format = format,
	                         .path_count = count,
	                         .copies = mem_array(count + 1, sizeof(FILE *)),
	                         .torn = torn,
	                         .ctx = ctx};
	for (size_t i = 0; i < count && !failed; i++)
		failed = note_file(b, i, err);
	if (failed) {
		by_rollout_close(b);
		return -1;
	}
	if (b->count > 0) {
		rank(b);
		qsort(b->stretches, b->count, sizeof(*b->stretches), by_rank);
	}
	*out = b;
	return 0;
}

struct str by_rollout_id(const struct by_rollout *b)
{
	return b->at.next < b->count ? b->stretches[b->at.next].rollout->id : STR_NONE;
}

/* The next line of the rollout from this place on. Returns 1 for a line, 0 at the end of the
   rollout, -1 on failure. */
static int read_on(struct by_rollout *b, struct stretch_place *at,
                   const struct rollout_rank *rollout, bool skim, struct line *l,
                   struct reader_note *note, struct error *err)
{
	for (;;) {
		int more = !at->open ? 0
		           : skim    ? reader_skim(b->reader, l, note, err)
		                     : reader_next(b->reader, l, note, err);

		if (more)
			return more;
		const struct stretch *s = &b->stretches[at->next];
		at->open = false;
		if (at->next == b->count || s->rollout != rollout)
			return 0;
		if (open_stretch(b, s, err))
			return -1;
		reader_seek(b->reader, s->begin, s->end, s->line);
		at->open = true;
		at->next++;
	}
}

int by_rollout_line(struct by_rollout *b, struct line *l, struct reader_note *note,
                    struct error *err)
{
	b->reading = b->reading ? b->reading : b->stretches[b->at.next].rollout;
	int more = read_on(b, &b->at, b->reading, false, l, note, err);

	b->reading = more ? b->reading : NULL;
	return more;
}

int by_rollout_next(struct by_rollout *b, reader_line_fn *take, void *ctx, struct error *err)
{
	struct reader_note note;
	struct line l;
	int more;

	while ((more = by_rollout_line(b, &l, &note, err)) > 0)
		if (take(ctx, &l, &note, err))
			return reader_place_error(err, &note);
	return more;
}

static size_t common_bytes(struct str a, struct str b)
{
	size_t n = 0;

	while (n < a.n && n < b.n && a.p[n] == b.p[n])
		n++;
	return n;
}

/* Does the line end with the member that begins at this byte and the closing brace? */
static bool is_last_member(struct str line, size_t at)
{
	struct json_fault fault;
	size_t used;

	return json_validate_first(str_skip(line, at), &used, &fault) == 0 &&
	       at + used + 1 == line.n && line.p[line.n - 1] == '}';
}

bool line_same_but_meta(struct str a, struct str b)
{
	static const struct str meta = STR_INIT(",\"meta\":{");
	size_t at;

	if (str_eq(a, b))
		return true;
	at = common_bytes(a, b);
	while (at >= meta.n && memcmp(a.p + at - meta.n, meta.p, meta.n) != 0)
		at--;
	return at >= meta.n && is_last_member(a, at - 1) && is_last_member(b, at - 1);
}

/* The next line of the next rollout, as bytes. */
static int skim_next(struct by_rollout *b, struct stretch_place *at, struct line *l,
                     struct error *err)
{
	struct reader_note note;

	return read_on(b, at, b->stretches[b->at.next].rollout, true, l, &note, err);
}

int by_rollout_skip_same(struct by_rollout *a, struct by_rollout *b, size_t *steps,
                         struct error *err)
{
	struct stretch_place x = {a->at.next, false}, y = {b->at.next, false};
	struct line first, second;
	int more, same;

	*steps = 0;
	do {
		more = skim_next(a, &x, &first, err);
		same = more < 0 ? -1 : skim_next(b, &y, &second, err);
		if (more < 0 || same < 0)
			return -1;
		if (more != same || (more && !line_same_but_meta(first.text, second.text)))
			return 0;
		*steps += more && first.type == LINE_STEP;
	} while (more);
	a->at.next = x.next;
	b->at.next = y.next;
	return 1;
}

void by_rollout_close(struct by_rollout *b)
{
	if (!b)
		return;
	reader_close(b->reader);
	for (size_t i = 0; i < b->path_count; i++)
		if (b->copies[i])
			fclose(b->copies[i]);
	while (b->ids)
		tdelete(*(struct rollout_rank **)b->ids, &b->ids, by_id);
	free(b->copies);
	free(b->stretches);
	arena_release(&b->arena);
	free(b);
}
