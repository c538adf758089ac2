/* Listening sockets: see listen.h. */
#include "net/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* What to do about it; "" if only the reason can be told. */
static const char *cure_of(int reason)
{
	return reason == EADDRINUSE
	               ? "; stop the process that listens there, or choose another port "
	                 "(0: any free one)"
	       : reason == EADDRNOTAVAIL
	               ? "; this machine has no such address: 127.0.0.1 is its own, 0.0.0.0 all of them"
	       : reason == EACCES ? "; choose a port from 1024"
	                          : "";
}

int listen_on(const char *address, uint16_t *port, int *out, struct error *err)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(*port)};
	socklen_t n = sizeof(a);
	int yes = 1, fd;

	if (inet_pton(AF_INET, address, &a.sin_addr) != 1)
		return error_set(err, FAIL_USAGE, "'%s' is not an IPv4 address", address);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
	    bind(fd, (struct sockaddr *)&a, sizeof(a)) != 0 || listen(fd, SOMAXCONN) != 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &n) != 0) {
		int reason = errno;

		error_set(err, FAIL_SYSTEM, "cannot listen on %s:%u: %s%s", address, *port,
		          strerror(reason), cure_of(reason));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	*port = ntohs(a.sin_port);
	*out = fd;
	return 0;
}

void listen_allow_many(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}
