/* The bytes of a file for the reader: read into a buffer, or mapped. */
#include "recording/reader_internal.h"

#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK  ((size_t)128 << 10) /* stays in the cache until it is parsed */
#define WINDOW ((size_t)1 << 20)   /* mapped again after as many bytes */

static bool mapping_allowed;

void reader_allow_mapping(void)
{
	mapping_allowed = true;
}

void reader_free_bytes(struct reader *r)
{
	if (r->mapped) {
		munmap(r->p, r->cap);
	} else {
		free(r->p);
	}
	r->mapped = false;
	r->p = NULL;
	r->cap = 0;
}

/* ---- a buffer ---- */

/* Makes room after `end` by moving the unread bytes to the front, or by growing. */
static void make_room(struct reader *r)
{
	if (r->end < r->cap) {
		return;
	}
	if (r->start > 0) {
		memmove(r->p, r->p + r->start, r->end - r->start);
		r->base += r->start;
		r->end -= r->start;
		r->start = 0;
	} else {
		r->cap = r->cap ? 2 * r->cap : BLOCK;
		r->p = mem_resize(r->p, r->cap, 1);
	}
}

/* Regular files are read by position, which makes seeking possible. */
static ssize_t read_some(const struct reader *r)
{
	uint64_t at = r->base + r->end, left = r->limit > at ? r->limit - at : 0;
	size_t room = r->cap - r->end;

	if (!r->regular) {
		return read(r->fd, r->p + r->end, room);
	}
	if (!left) {
		return 0;
	}
	return pread(r->fd, r->p + r->end, left < room ? (size_t)left : room, (off_t)at);
}

/* Nothing is left to read: are there no bytes that were there before, when the limit was set? */
static bool is_at_end(const struct reader *r)
{
	return r->limit == UINT64_MAX || r->base + r->end >= r->limit;
}

static int read_more(struct reader *r, struct error *err)
{
	make_room(r);
	for (;;) {
		ssize_t n = read_some(r);

		if (n > 0 || (n == 0 && is_at_end(r))) {
			r->end += (size_t)n;
			r->eof = n == 0;
			return 0;
		}
		if (n == 0) {
			return error_set(err, FAIL_SYSTEM, "%s became shorter while it was read",
			                 r->name);
		}
		if (errno == EAGAIN) { /* another process made standard input non-blocking */
			poll(&(struct pollfd){.fd = r->fd, .events = POLLIN}, 1, -1);
		} else if (errno != EINTR || !r->regular) {
			return error_errno(err, "cannot read %s", r->name);
		}
	}
}

/* ---- a mapping ---- */

/* Maps the file, again if it is mapped: that takes its pages out of the process, whose memory stays
   small. */
static bool map_file(struct reader *r, size_t size)
{
	const bool again = r->mapped && r->cap == size;
	const int flags = MAP_PRIVATE | (again ? MAP_FIXED : 0);
	void *p = mmap(again ? r->p : NULL, size, PROT_READ, flags, r->fd, 0);

	if (p == MAP_FAILED) {
		return false;
	}
	if (!again) {
		reader_free_bytes(r);
	}
	posix_madvise(p, size, POSIX_MADV_SEQUENTIAL);
	r->mapped = true;
	r->p = p;
	r->cap = size;
	r->touched = 0;
	return true;
}

/* Moves `end` on. False if the file cannot be mapped. */
static bool map_more(struct reader *r)
{
	struct stat st = {.st_size = (off_t)r->cap};

	if (r->end >= r->cap && fstat(r->fd, &st) != 0) { /* it may have grown */
		return false;
	}
	if (r->end >= (uint64_t)st.st_size || r->end >= r->limit) {
		r->eof = is_at_end(r);
		return r->eof;
	}
	if ((r->end >= r->cap || r->touched >= WINDOW) && !map_file(r, (size_t)st.st_size)) {
		return false;
	}
	const size_t limit = r->limit < r->cap ? (size_t)r->limit : r->cap, before = r->end;
	r->end = limit - before < WINDOW ? limit : before + WINDOW;
	r->touched += r->end - before;
	return true;
}

void reader_begin_bytes(struct reader *r, uint64_t at)
{
	r->base = at;
	r->start = r->end = 0;
	r->cap = BLOCK;
	r->p = mem_resize(NULL, BLOCK, 1);
}

void reader_set_scattered(struct reader *r)
{
	struct stat st;

	if (mapping_allowed && r->regular && !r->mapped && fstat(r->fd, &st) == 0 &&
	    st.st_size > 0 && (uint64_t)st.st_size < SIZE_MAX / 2 && r->origin < SIZE_MAX / 2 &&
	    map_file(r, (size_t)st.st_size)) {
		reader_move(r, r->origin);
	}
}

void reader_move(struct reader *r, uint64_t at)
{
	r->start = r->end = r->mapped ? (size_t)at : 0;
	r->base = r->mapped ? 0 : at;
	r->searched = 0;
}

int reader_fill(struct reader *r, struct error *err)
{
	if (r->mapped) {
		const uint64_t at = r->start;

		if (map_more(r)) {
			return 0;
		}
		reader_free_bytes(r);
		reader_move(r, at);
	}
	return read_more(r, err);
}
