/* Memory followed by an unreadable page: reading beyond the end of a text placed there is a
   segmentation fault. */
#pragma once

#include "base/base.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct guard {
	char *base;
	size_t room, page;
};

static inline struct guard guard_new(size_t room)
{
	struct guard g = {.page = (size_t)sysconf(_SC_PAGESIZE)};
	int zero = open("/dev/zero", O_RDWR);

	g.room = (room + g.page - 1) / g.page * g.page;
	g.base = mmap(NULL, g.room + g.page, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
	if (g.base == MAP_FAILED || mprotect(g.base + g.room, g.page, PROT_NONE) != 0) {
		printf("Bail out! no memory\n");
		exit(1);
	}
	close(zero);
	return g;
}

static inline struct str guard_put(const struct guard *g, struct str s)
{
	char *at = g->base + g->room - s.n;

	if (s.n)
		memcpy(at, s.p, s.n);
	return (struct str){at, s.n};
}

static inline void guard_free(struct guard *g)
{
	munmap(g->base, g->room + g->page);
}
