/* Descriptors between threads and to children. */
#pragma once

#include "base/base.h"

/* A pipe that no child gets; [0] is read. Returns 0, or -1 with errno. */
MUST_USE int pipe_open(int ends[2]);

/* No child that is started from now on gets a descriptor above 2 that is open now: libraries open some without
   O_CLOEXEC. */
void descriptors_keep(void);

/* Wakes threads that poll: `fd` becomes readable when it is raised, and stays so until it is cleared. */
struct wake {
	int fd, raising; /* -1: none */
};
#define WAKE_NONE ((struct wake){-1, -1})

/* Returns 0, or -1 with errno. */
MUST_USE int wake_open(struct wake *w);
/* From any thread and from signal handlers. */
void wake_raise(const struct wake *w);
void wake_clear(const struct wake *w);
void wake_close(const struct wake *w);
