/* Waits for many descriptors at once: see readiness.h. */
#include "net/readiness.h"

#include "base/mem.h"

#include <stdlib.h>

#ifdef __linux__
#include <sys/epoll.h>
#include <unistd.h>

#define EVENTS 256

_Static_assert(POLLIN == EPOLLIN && POLLOUT == EPOLLOUT && POLLERR == EPOLLERR &&
                       POLLHUP == EPOLLHUP,
               "alike");

struct readiness {
	int fd;
	struct epoll_event events[EVENTS];
};

struct readiness *readiness_new(void)
{
	struct readiness *r = mem_new(sizeof(*r));

	r->fd = epoll_create1(EPOLL_CLOEXEC);
	if (r->fd >= 0)
		return r;
	free(r);
	return NULL;
}

void readiness_free(struct readiness *r)
{
	close(r->fd);
	free(r);
}

void readiness_watch(struct readiness *r, int fd, short before, short events, void *data)
{
	struct epoll_event ev = {.events = (uint32_t)events, .data.ptr = data};

	(void)epoll_ctl(r->fd,
	                !before   ? EPOLL_CTL_ADD
	                : !events ? EPOLL_CTL_DEL
	                          : EPOLL_CTL_MOD,
	                fd, &ev);
}

int readiness_wait(struct readiness *r, struct ready *out, int max, int ms)
{
	int n = epoll_wait(r->fd, r->events, max < EVENTS ? max : EVENTS, ms);

	for (int i = 0; i < n; i++)
		out[i] = (struct ready){r->events[i].data.ptr, (short)r->events[i].events};
	return n;
}
#else
/* Both lists have a place for each number of a descriptor. */
struct readiness {
	struct pollfd *polls;
	void **data;
	size_t count;
};

struct readiness *readiness_new(void)
{
	return mem_new(sizeof(struct readiness));
}

void readiness_free(struct readiness *r)
{
	free(r->polls);
	free(r->data);
	free(r);
}

void readiness_watch(struct readiness *r, int fd, short before, short events, void *data)
{
	for (; r->count <= (size_t)fd; r->count++) {
		r->polls = mem_grow(r->polls, r->count, sizeof(*r->polls));
		r->data = mem_grow(r->data, r->count, sizeof(*r->data));
		r->polls[r->count] = (struct pollfd){.fd = -1};
	}
	r->polls[fd] = (struct pollfd){.fd = events ? fd : -1, .events = events};
	r->data[fd] = data;
}

int readiness_wait(struct readiness *r, struct ready *out, int max, int ms)
{
	int found = 0, n = poll(r->polls, (nfds_t)r->count, ms);

	for (size_t i = 0; i < r->count && n > 0 && found < max; i++)
		if (r->polls[i].fd >= 0 && r->polls[i].revents)
			out[found++] = (struct ready){r->data[i], r->polls[i].revents};
	return n < 0 ? n : found;
}
#endif
