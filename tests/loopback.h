/* A listener for the servers of tests. */
#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Listens on a free port of 127.0.0.1, which is returned in *port. */
static inline int loopback_listen(uint16_t *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	/* accepted sockets inherit it: without, the second of two messages waits 40 ms for the
	   client's delayed acknowledgement */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, size) < 0 || listen(fd, 64) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &size) < 0) {
		abort();
	}
	*port = ntohs(a.sin_port);
	return fd;
}
