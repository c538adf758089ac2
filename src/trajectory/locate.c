/* Locates lines in several threads: see locate.h. The file is cut at line feeds, so that a part
   is read like a file; numbers of lines become known when the parts before are. */
#include "trajectory/locate.h"

#include "base/in_order.h"
#include "trajectory/reader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART_BYTES ((uint64_t)4 << 20)
#define LOOK_BYTES ((size_t)64 << 10) /* searched for a line feed at a time */

struct part {
	struct located found;
	size_t room;
	uint64_t lines;
};

struct locating {
	const struct locate_source *file;
	uint64_t *cuts; /* part i is from cuts[i] to cuts[i + 1] */
	size_t count;
	struct part **parts;
};

static void drop(void *ctx, void *result)
{
	struct part *p = result;

	(void)ctx;
	if (p) {
		located_release(&p->found);
		free(p);
	}
}

/* ---- one part, in any thread ---- */

/* A header begins a rollout even if its id is that of the line before. */
static void note(struct part *p, const struct line *l, const struct reader_note *note)
{
	struct located *f = &p->found;
	bool header = l->type == LINE_HEADER;

	if (!f->count || header || !str_eq(f->runs[f->count - 1].id, l->rollout)) {
		if (f->count == p->room) {
			p->room = p->room ? 2 * p->room : 64;
			f->runs = mem_resize(f->runs, p->room, sizeof(*f->runs));
		}
		f->runs[f->count++] = (struct located_run){.id = arena_str(&f->arena, l->rollout),
		                                           .header = header,
		                                           .begin = note->offset,
		                                           .line = note->line};
	}
	p->lines = note->line;
	f->runs[f->count - 1].end = note->offset + l->text.n + 1;
}

/* False for a line that the reader parsed, unless it is a header alone on its line. */
static bool is_simple(const struct line *l, const struct reader_note *note, uint64_t before)
{
	bool parsed = l->value[KEY_TYPE].n || l->type == LINE_UNKNOWN;

	return !note->torn && !note->fused && note->offset == before &&
	       (!parsed || l->type == LINE_HEADER);
}

/* Lines follow each other without gaps; false otherwise. */
static bool read_part(struct reader *r, struct part *p, uint64_t begin, uint64_t end)
{
	struct reader_note place;
	struct error ignored;
	struct line l;
	uint64_t at = begin;
	int more;

	reader_seek(r, begin, end, 1);
	while ((more = reader_skim(r, &l, &place, &ignored)) > 0) {
		if (!is_simple(&l, &place, at)) {
			return false;
		}
		note(p, &l, &place);
		at = place.offset + l.text.n + 1;
	}
	return more == 0 && at == end;
}

static void *locate_part(void *ctx, size_t index)
{
	const struct locating *g = ctx;
	struct part *p = mem_new(sizeof(*p));
	struct reader *r = NULL;
	struct error ignored;
	bool open = g->file->fd < 0 ? !reader_open(g->file->path, &r, &ignored)
	                            : !reader_open_fd(g->file->fd, g->file->path, &r, &ignored);
	bool done = false;

	if (open) {
		reader_set_ours(r);
		done = read_part(r, p, g->cuts[index], g->cuts[index + 1]);
	}
	reader_close(r);
	if (!done) {
		drop(NULL, p);
		return NULL;
	}
	return p;
}

static int take_part(void *ctx, size_t index, void *result, struct error *err)
{
	struct locating *g = ctx;

	g->parts[index] = result;
	return result ? 0 : error_set(err, FAIL_NONE, "a line needs more than a glance");
}

/* ---- the file ---- */

/* Moves *at after the first line feed at or after it, or to the end. False if the line is too long
   to be read. */
static bool skip_to_line(int fd, uint64_t *at, uint64_t size)
{
	char *text = mem_new(LOOK_BYTES);
	const uint64_t from = *at;
	const char *feed = NULL;

	while (!feed && *at < size && *at - from <= BUF_MAX_MESSAGE) {
		ssize_t n = pread(fd, text, LOOK_BYTES, (off_t)*at);

		if (n <= 0) {
			*at = size;
			break;
		}
		feed = memchr(text, '\n', (size_t)n);
		*at += feed ? (uint64_t)(feed - text) + 1 : (uint64_t)n;
	}
	free(text);
	return feed || *at == size;
}

static bool cut(struct locating *g, int fd, uint64_t size)
{
	size_t most = (size_t)(size / PART_BYTES);

	g->cuts = mem_array(most + 1, sizeof(*g->cuts));
	g->cuts[0] = 0;
	for (size_t i = 1; i <= most; i++) {
		uint64_t at = i == most ? size : size / most * i;

		if (at < g->cuts[g->count]) { /* within a long line that was skipped */
			continue;
		}
		if (i < most && !skip_to_line(fd, &at, size)) {
			return false;
		}
		if (at > g->cuts[g->count]) {
			g->cuts[++g->count] = at;
		}
	}
	return true;
}

/* Moves the runs of all parts to *out, with the numbers that lines have in the file. */
static void join(const struct locating *g, struct located *out)
{
	uint64_t lines = 0;
	size_t count = 0;

	for (size_t i = 0; i < g->count; i++) {
		count += g->parts[i]->found.count;
	}
	out->runs = mem_array(count + 1, sizeof(*out->runs));
	for (size_t i = 0; i < g->count; i++) {
		const struct located *from = &g->parts[i]->found;

		for (size_t k = 0; k < from->count; k++) {
			struct located_run *run = &out->runs[out->count++];

			*run = from->runs[k];
			run->id = arena_str(&out->arena, run->id);
			run->line += lines;
		}
		lines += g->parts[i]->lines;
	}
}

static bool locate(struct locating *g, size_t jobs, struct located *out)
{
	const struct in_order order = {.count = g->count,
	                               .jobs = jobs,
	                               .work = locate_part,
	                               .take = take_part,
	                               .drop = drop,
	                               .ctx = g};
	struct error ignored;
	bool done = in_order_run(&order, &ignored) == 0;

	if (done) {
		join(g, out);
	}
	return done;
}

bool locate_in_threads(const struct locate_source *file, size_t jobs, struct located *out)
{
	struct locating g = {.file = file};
	int fd = file->fd < 0 ? open(file->path, O_RDONLY | O_CLOEXEC) : file->fd;
	struct stat st;
	bool done = false;

	if (jobs > 1 && fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (uint64_t)st.st_size >= 2 * PART_BYTES) {
		done = cut(&g, fd, (uint64_t)st.st_size);
		g.parts = mem_array(g.count + 1, sizeof(struct part *));
		done = done && locate(&g, jobs, out);
	}
	if (fd >= 0 && file->fd < 0) {
		close(fd);
	}
	for (size_t i = 0; g.parts && i < g.count; i++) {
		drop(NULL, g.parts[i]);
	}
	free(g.parts);
	free(g.cuts);
	return done;
}

void located_release(struct located *l)
{
	free(l->runs);
	arena_release(&l->arena);
	*l = (struct located){.count = 0};
}
