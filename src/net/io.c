/* The event loop of one rollout: a libcurl multi handle, the stop signal and watched descriptors
   in one poll. It reports when a transfer has ended; http.c knows its purpose. */
#include "net/io.h"

#include "base/mem.h"
#include "net/io_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define NS_PER_MS 1000000u

int io_global_init(struct error *err)
{
	CURLcode rc = curl_global_init(CURL_GLOBAL_DEFAULT);

	if (rc != CURLE_OK) {
		return error_set(err, FAIL_SYSTEM, "cannot start libcurl: %s",
		                 curl_easy_strerror(rc));
	}
	return 0;
}

void io_global_cleanup(void)
{
	curl_global_cleanup();
}

/* Rebuilds the two poll arrays from stop_fd and the watches. */
static void refresh_waits(struct io *io)
{
	size_t n = (io->stop_fd >= 0) + io->watch_count, i = 0;

	io->waits = mem_resize(io->waits, n + 1, sizeof(*io->waits));
	io->polls = mem_resize(io->polls, n + 1, sizeof(*io->polls));
	if (io->stop_fd >= 0)
		io->polls[i++] = (struct pollfd){.fd = io->stop_fd, .events = POLLIN};
	for (size_t w = 0; w < io->watch_count; w++) {
		io->polls[i++] =
			(struct pollfd){.fd = io->watches[w].fd, .events = io->watches[w].want};
	}
	for (i = 0; i < n; i++) {
		short events = io->polls[i].events;
		int want = (events & POLLIN ? CURL_WAIT_POLLIN : 0) |
		           (events & POLLOUT ? CURL_WAIT_POLLOUT : 0);

		io->waits[i] = (struct curl_waitfd){.fd = io->polls[i].fd, .events = (short)want};
	}
	io->wait_count = n;
}

/* The libcurl half: created by the first transfer, and again after io_rest. */
static int wake_multi(struct io *io, struct error *err)
{
	if (io->multi)
		return 0;
	io->multi = curl_multi_init();
	if (!io->multi)
		return error_set(err, FAIL_SYSTEM, "cannot start libcurl: out of resources");
	curl_multi_setopt(io->multi, CURLMOPT_MAXCONNECTS, 8L);
	return 0;
}

/* A libcurl that was built without one, in a portable program: the bundles of Debian and Alpine,
   Fedora, openSUSE, and of Alpine and macOS. NULL: libcurl's own. */
static const char *system_ca_file(void)
{
	static const char *const bundles[] = {"/etc/ssl/certs/ca-certificates.crt",
	                                      "/etc/pki/tls/certs/ca-bundle.crt",
	                                      "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
	const curl_version_info_data *built = curl_version_info(CURLVERSION_NOW);

	if (built->age < CURLVERSION_SEVENTH || built->cainfo || built->capath)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(bundles); i++)
		if (access(bundles[i], R_OK) == 0)
			return bundles[i];
	return NULL;
}

int io_new(const struct io_conf *conf, struct io **out, struct error *err)
{
	struct io *io = mem_new(sizeof(*io));

	(void)err;
	*io = (struct io){
		.clock = conf->clock,
		.user_agent = conf->user_agent ? conf->user_agent : "rolldbg",
		.ca_file = conf->ca_file ? conf->ca_file : system_ca_file(),
		.insecure = conf->insecure,
		.stop_fd = conf->stop_fd,
		.given_stop_fd = conf->stop_fd,
		.longest_ms = UINT64_MAX,
		.limit_ns = UINT64_MAX,
	};
	refresh_waits(io);
	*out = io;
	return 0;
}

void io_rest(struct io *io)
{
	http_forget(io);
	if (io->transfers || io->kept)
		return;
	curl_multi_cleanup(io->multi);
	io->multi = NULL;
}

void io_free(struct io *io)
{
	if (!io)
		return;
	http_forget(io);
	curl_multi_cleanup(io->multi);
	free(io->waits);
	free(io->polls);
	free(io->watches);
	free(io->idle_callbacks);
	free(io);
}

uint64_t io_now_ns(const struct io *io)
{
	return io->clock.monotonic_ns(io->clock.ctx);
}

uint64_t io_deadline_ns(const struct io *io, uint64_t timeout_ms)
{
	uint64_t now = io_now_ns(io);

	timeout_ms = timeout_ms < io->longest_ms ? timeout_ms : io->longest_ms;
	return timeout_ms > (UINT64_MAX - now) / NS_PER_MS ? UINT64_MAX
	                                                   : now + timeout_ms * NS_PER_MS;
}

uint64_t io_left_ms(const struct io *io, uint64_t deadline_ns)
{
	uint64_t now = io_now_ns(io), left = now < deadline_ns ? deadline_ns - now : 0;

	return deadline_ns == UINT64_MAX ? UINT64_MAX : left / NS_PER_MS + (left % NS_PER_MS != 0);
}

bool io_stopped(const struct io *io)
{
	if (io->stop_fd < 0 || io->stop_seen)
		return io->stop_fd >= 0;
	struct pollfd p = {.fd = io->stop_fd, .events = POLLIN};
	return poll(&p, 1, 0) > 0;
}

void io_ignore_stop(struct io *io)
{
	io->stop_fd = -1;
	io->stop_seen = false;
	refresh_waits(io);
}

void io_watch_stop(struct io *io)
{
	io->stop_fd = io->given_stop_fd;
	refresh_waits(io);
}

void io_cap_waits(struct io *io, uint64_t longest_ms)
{
	io->longest_ms = longest_ms;
}

void io_limit(struct io *io, uint64_t timeout_ms)
{
	io->limit_ns = io_deadline_ns(io, timeout_ms);
}

bool io_limit_passed(const struct io *io)
{
	return io->limit_ns != UINT64_MAX && io_now_ns(io) >= io->limit_ns;
}

void io_watch(struct io *io, int fd, short want, io_fd_fn *fn, void *arg)
{
	size_t i = 0;

	while (i < io->watch_count && io->watches[i].fd != fd)
		i++;
	if (want == 0 && i == io->watch_count)
		return;
	if (want == 0) {
		io->watches[i] = io->watches[--io->watch_count];
	} else {
		if (i == io->watch_count) {
			io->watches =
				mem_resize(io->watches, ++io->watch_count, sizeof(*io->watches));
		}
		io->watches[i] = (struct io_watch){fd, want, fn, arg};
	}
	refresh_waits(io);
}

void io_set_idle(struct io *io, io_idle_fn *fn, void *arg)
{
	io->idle_callbacks =
		mem_resize(io->idle_callbacks, io->idle_count + 1, sizeof(*io->idle_callbacks));
	io->idle_callbacks[io->idle_count++] = (struct io_idle_callback){fn, arg};
}

void io_unset_idle(struct io *io, const void *arg)
{
	size_t kept = 0;

	for (size_t i = 0; i < io->idle_count; i++)
		if (io->idle_callbacks[i].arg != arg)
			io->idle_callbacks[kept++] = io->idle_callbacks[i];
	io->idle_count = kept;
}

static int call_idle(struct io *io, uint64_t *wake_ns, struct error *err)
{
	int did = 0;

	if (io->in_idle)
		return 0;
	io->in_idle = true;
	for (size_t i = 0; i < io->idle_count && did >= 0; i++) {
		int one = io->idle_callbacks[i].fn(io->idle_callbacks[i].arg, wake_ns, err);

		did = one < 0 ? -1 : did | one;
	}
	io->in_idle = false;
	return did;
}

/* Calls the callbacks of ready descriptors. A callback may change the watches, so each is
   looked up again in a copy of the ready list. */
static int serve_watches(struct io *io, struct error *err)
{
	size_t first = io->stop_fd >= 0, n = 0;
	struct pollfd *ready = mem_array(io->wait_count + 1, sizeof(*ready));

	for (size_t i = first; i < io->wait_count; i++)
		if (io->polls[i].revents)
			ready[n++] = io->polls[i];
	int rc = 0;
	for (size_t i = 0; i < n && rc >= 0; i++) {
		size_t w = 0;

		while (w < io->watch_count && io->watches[w].fd != ready[i].fd)
			w++;
		if (w < io->watch_count) {
			rc = io->watches[w].fn(io->watches[w].arg, ready[i].fd, ready[i].revents,
			                       err);
		}
	}
	free(ready);
	return rc < 0 ? -1 : 0;
}

static int perform(struct io *io, struct error *err)
{
	int running, left;
	CURLMcode rc = curl_multi_perform(io->multi, &running);

	if (rc != CURLM_OK)
		return error_set(err, FAIL_SYSTEM, "libcurl failed: %s", curl_multi_strerror(rc));
	if ((unsigned)running == io->transfers)
		return 0;
	for (CURLMsg *m; (m = curl_multi_info_read(io->multi, &left));) {
		struct io_transfer *t = NULL;

		if (m->msg != CURLMSG_DONE ||
		    curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &t) != CURLE_OK || !t) {
			continue;
		}
		t->done = true;
		t->result = m->data.result;
	}
	return 0;
}

int io_start(struct io *io, struct io_transfer *t, struct error *err)
{
	if (wake_multi(io, err) < 0)
		return -1;
	t->done = t->kept = false;
	t->result = CURLE_OK;
	CURLMcode rc = curl_multi_add_handle(io->multi, t->easy);
	if (rc != CURLM_OK)
		return error_set(err, FAIL_SYSTEM, "libcurl failed: %s", curl_multi_strerror(rc));
	io->transfers++;
	if (perform(io, err) == 0)
		return 0;
	io_drop(io, t);
	return -1;
}

void io_drop(struct io *io, struct io_transfer *t)
{
	curl_multi_remove_handle(io->multi, t->easy);
	io->transfers -= !t->kept;
	io->kept -= t->kept;
}

void io_keep_connection(struct io *io, struct io_transfer *t)
{
	t->kept = true;
	io->transfers--;
	io->kept++;
}

/* Without transfers libcurl is not needed, and poll reports all events of our descriptors. */
static int turn_without_transfers(struct io *io, int ms, struct error *err)
{
	int ready = poll(io->polls, (nfds_t)io->wait_count, ms);

	if (ready < 0 && errno != EINTR)
		return error_errno(err, "cannot wait");
	if (ready <= 0)
		return 0;
	io->stop_seen = io->stop_fd >= 0 && io->polls[0].revents;
	return serve_watches(io, err);
}

int io_turn(struct io *io, uint64_t deadline_ns, struct error *err)
{
	if (io->stop_seen)
		return error_set(err, FAIL_INTERRUPTED, "interrupted");
	if (io_limit_passed(io))
		return error_set(err, FAIL_TIMEOUT, "timed out");
	deadline_ns = deadline_ns < io->limit_ns ? deadline_ns : io->limit_ns;
	int did = call_idle(io, &deadline_ns, err);
	if (did < 0)
		return -1;
	/* the caller's event may have happened meanwhile */
	uint64_t left = did ? 0 : io_left_ms(io, deadline_ns);
	int ready = 0, ms = left < INT_MAX ? (int)left : INT_MAX;
	if (io->transfers == 0)
		return turn_without_transfers(io, ms, err);
	CURLMcode rc = curl_multi_poll(io->multi, io->waits, (unsigned)io->wait_count, ms, &ready);
	if (rc != CURLM_OK)
		return error_set(err, FAIL_SYSTEM, "cannot wait: %s", curl_multi_strerror(rc));
	io->stop_seen = ready > 0 && io->stop_fd >= 0 && io->waits[0].revents;
	if (perform(io, err) < 0)
		return -1;
	/* libcurl's poll (7.88) does not report POLLHUP and POLLERR of our descriptors: poll
	   again. */
	if (ready <= 0 || io->watch_count == 0 || poll(io->polls, (nfds_t)io->wait_count, 0) <= 0)
		return 0;
	return serve_watches(io, err);
}

int io_wait(struct io *io, const bool *done, uint64_t timeout_ms, struct error *err)
{
	uint64_t deadline_ns = io_deadline_ns(io, timeout_ms);

	for (bool over = false; !done || !*done;) {
		if (over && !done)
			return 0;
		if (over)
			return error_set(err, FAIL_TIMEOUT, "timed out");
		over = io_now_ns(io) >= deadline_ns;
		if (io_turn(io, deadline_ns, err) < 0)
			return -1;
	}
	return 0;
}
