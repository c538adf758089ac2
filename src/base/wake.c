/* Descriptors between threads and to children: see wake.h. */
#define _GNU_SOURCE /* pipe2 */
#include "base/wake.h"

#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

int pipe_open(int ends[2])
{
#ifdef __APPLE__ /* has no pipe2: a child that another thread starts meanwhile may get the ends */
	int failed = pipe(ends);

	for (int i = 0; i < 2 && !failed; i++)
		fcntl(ends[i], F_SETFD, FD_CLOEXEC);
	return failed;
#else
	return pipe2(ends, O_CLOEXEC);
#endif
}

void descriptors_keep(void)
{
	DIR *open_now = opendir("/dev/fd");

	for (struct dirent *e; open_now && (e = readdir(open_now));) {
		uint64_t fd = 0;

		if (text_u64(str_from(e->d_name), &fd) && fd > STDERR_FILENO && fd <= INT_MAX)
			fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	}
	if (open_now)
		closedir(open_now);
}

int wake_open(struct wake *w)
{
	int ends[2];

	*w = WAKE_NONE;
	if (pipe_open(ends))
		return -1;
	*w = (struct wake){ends[0], ends[1]};
	return fcntl(w->fd, F_SETFL, O_NONBLOCK) || fcntl(w->raising, F_SETFL, O_NONBLOCK) ? -1 : 0;
}

void wake_raise(const struct wake *w)
{
	int before = errno;
	ssize_t ignored = write(w->raising, "", 1); /* a full pipe is raised, too */

	(void)ignored;
	errno = before;
}

void wake_clear(const struct wake *w)
{
	char bytes[64];

	while (read(w->fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes)) {
	}
}

void wake_close(const struct wake *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->raising >= 0)
		close(w->raising);
}
