/* Non-blocking streams: see stream.h. */
#include "net/stream.h"

#include "base/mem.h"
#include "base/text.h"
#include "net/target.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct stream_server {
	struct target target;
	struct buf authority;
	struct addrinfo *addresses; /* NULL: libcurl resolves and connects */
	CURLM *multi;               /* of TLS connections */
	const char *ca_file;
	bool insecure, tls;
};

struct stream {
	struct stream_server *server; /* NULL: a client's */
	int fd;
	const struct addrinfo *next; /* the address to try after this one */
	CURL *easy;                  /* NULL: plain */
	enum stream_state state;
	char why[CURL_ERROR_SIZE];
};

/* ---- the server ---- */

static int resolve(struct stream_server *s, struct error *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	AUTO_BUF host = BUF(BUF_MAX_SMALL);
	const char *place = buf_cstr(&s->target.place), *colon = strrchr(place, ':');
	bool brackets = *place == '[';

	buf_add(&host, place + brackets, (size_t)(colon - place) - 2 * (size_t)brackets);
	int rc = getaddrinfo(buf_cstr(&host), colon + 1, &hints, &s->addresses);
	return rc ? error_set(err, FAIL_TRANSPORT, "cannot resolve %s: %s", place, gai_strerror(rc))
	          : 0;
}

static void set_authority(struct stream_server *s)
{
	struct str place = buf_view(&s->target.place);
	struct str standard = s->tls ? STR(":443") : STR(":80");

	place.n -= str_ends(place, standard) ? standard.n : 0;
	buf_str(&s->authority, place);
}

int stream_server_new(const struct stream_server_conf *conf, struct stream_server **out,
                      struct error *err)
{
	struct stream_server *s = *out = mem_new(sizeof(*s));

	s->ca_file = conf->ca_file;
	s->insecure = conf->insecure;
	s->authority = BUF(BUF_MAX_SMALL);
	target_init(&s->target);
	if (target_set_socket(&s->target, conf->url, err))
		return -1;
	s->tls = target_is_tls(&s->target);
	set_authority(s);
	if (!s->tls)
		return resolve(s, err);
	s->multi = curl_multi_init();
	return s->multi ? 0 : error_set(err, FAIL_SYSTEM, "cannot start libcurl");
}

void stream_server_free(struct stream_server *s)
{
	if (!s)
		return;
	if (s->addresses)
		freeaddrinfo(s->addresses);
	curl_multi_cleanup(s->multi);
	target_release(&s->target);
	buf_release(&s->authority);
	free(s);
}

const char *stream_server_authority(const struct stream_server *s)
{
	return buf_cstr(&s->authority);
}

bool stream_server_is_tls(const struct stream_server *s)
{
	return s->tls;
}

bool stream_server_is_loopback(const struct stream_server *s)
{
	return s->target.loopback;
}

/* ---- opening ---- */

static void send_at_once(int fd)
{
	int yes = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

struct stream *stream_adopt(int fd)
{
	struct stream *s = mem_new(sizeof(*s));

	s->fd = fd;
	s->state = STREAM_OPEN;
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	send_at_once(fd);
	return s;
}

static void fail(struct stream *s, const char *why)
{
	s->state = STREAM_FAILED;
	if (!s->why[0])
		text_copy(s->why, sizeof(s->why), str_from(why));
}

static void close_socket(struct stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* Tries the addresses one after the other until one connects or is on its way. */
static void try_next(struct stream *s)
{
	for (; s->next; s->next = s->next->ai_next) {
		const struct addrinfo *a = s->next;

		close_socket(s);
		s->fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
		if (s->fd < 0)
			continue;
		(void)fcntl(s->fd, F_SETFD, FD_CLOEXEC);
		(void)fcntl(s->fd, F_SETFL, O_NONBLOCK);
		send_at_once(s->fd);
		if (connect(s->fd, a->ai_addr, a->ai_addrlen) == 0 || errno == EINPROGRESS) {
			s->next = a->ai_next;
			return;
		}
	}
	fail(s, strerror(errno));
}

static void connect_plain(struct stream *s)
{
	int failed = 0;
	socklen_t n = sizeof(failed);

	if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &failed, &n) == 0 && !failed) {
		s->state = STREAM_OPEN;
		return;
	}
	if (s->next) {
		try_next(s);
		return;
	}
	fail(s, strerror(failed));
}

static void connect_tls(struct stream *s)
{
	CURL *e = s->easy;

	target_connect_only(&s->server->target, e, s->server->ca_file, s->server->insecure, s->why);
	curl_easy_setopt(e, CURLOPT_PRIVATE, s);
	if (curl_multi_add_handle(s->server->multi, e) != CURLM_OK)
		fail(s, "libcurl does not start");
}

struct stream *stream_connect(struct stream_server *server)
{
	struct stream *s = mem_new(sizeof(*s));

	*s = (struct stream){.server = server, .fd = -1, .next = server->addresses};
	if (!server->tls) {
		try_next(s);
		return s;
	}
	s->easy = curl_easy_init();
	if (s->easy)
		connect_tls(s);
	else
		fail(s, "libcurl does not start");
	return s;
}

static void connected(struct stream *s, CURLcode result)
{
	curl_socket_t fd = CURL_SOCKET_BAD;

	if (result == CURLE_OK &&
	    curl_easy_getinfo(s->easy, CURLINFO_ACTIVESOCKET, &fd) == CURLE_OK &&
	    fd != CURL_SOCKET_BAD) {
		s->fd = fd;
		s->state = STREAM_OPEN;
	} else {
		fail(s, curl_easy_strerror(result));
	}
}

/* Serves all connecting streams of the server. */
static void perform(struct stream_server *server)
{
	int running, left;
	CURLMsg *m;

	(void)curl_multi_perform(server->multi, &running);
	while ((m = curl_multi_info_read(server->multi, &left))) {
		struct stream *s = NULL;

		if (m->msg == CURLMSG_DONE &&
		    curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&s) == CURLE_OK) {
			connected(s, m->data.result);
		}
	}
}

enum stream_state stream_continue(struct stream *s)
{
	if (s->state == STREAM_CONNECTING) {
		if (s->easy)
			perform(s->server);
		else
			connect_plain(s);
	}
	return s->state;
}

int stream_fd(const struct stream *s)
{
	return s->fd;
}

const char *stream_why(const struct stream *s)
{
	return s->why;
}

void stream_close(struct stream *s, bool reset)
{
	struct linger at_once = {.l_onoff = 1};

	if (!s)
		return;
	if (reset && s->fd >= 0)
		(void)setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	if (s->easy) {
		(void)curl_multi_remove_handle(s->server->multi, s->easy);
		curl_easy_cleanup(s->easy);
	} else {
		close_socket(s);
	}
	free(s);
}

/* ---- moving bytes ---- */

static ptrdiff_t of_curl(CURLcode rc, size_t n)
{
	return rc == CURLE_OK ? (ptrdiff_t)n : rc == CURLE_AGAIN ? STREAM_AGAIN : STREAM_LOST;
}

static ptrdiff_t of_socket(ssize_t n)
{
	if (n >= 0)
		return n;
	return errno == EAGAIN || errno == EINTR ? STREAM_AGAIN : STREAM_LOST;
}

ptrdiff_t stream_receive(struct stream *s, void *to, size_t room)
{
	size_t n = 0;

	return s->easy ? of_curl(curl_easy_recv(s->easy, to, room, &n), n)
	               : of_socket(recv(s->fd, to, room, 0));
}

ptrdiff_t stream_send(struct stream *s, struct str bytes)
{
	size_t n = 0;

	return s->easy ? of_curl(curl_easy_send(s->easy, bytes.p, bytes.n, &n), n)
	               : of_socket(send(s->fd, bytes.p, bytes.n, MSG_NOSIGNAL));
}

void stream_shut(struct stream *s)
{
	if (!s->easy) /* libcurl has no call that ends one side of TLS */
		(void)shutdown(s->fd, SHUT_WR);
}
