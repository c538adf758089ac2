/* Writes whole buffers to file descriptors: see fd.h. */
#include "base/fd.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

int fd_write(int fd, struct str text, size_t *done)
{
	*done = 0;
	while (*done < text.n) {
		ssize_t n = write(fd, text.p + *done, text.n - *done);

		if (n >= 0) {
			*done += (size_t)n;
		} else if (errno == EAGAIN) {
			poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
		} else if (errno != EINTR) {
			return -1;
		}
	}
	return 0;
}
