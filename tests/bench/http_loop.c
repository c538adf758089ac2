/* CPU of N POSTs through net/http.c compared with a bare curl_easy_perform loop doing the same,
   against a server in a child process that sends the same reply to every request. Prints both and
   their ratio; with `ours` or `bare` as second argument only that side runs (for
   callgrind and perf). Usage: http_loop [N [ours|bare]] */
#include "base/clock.h"
#include "base/text.h"
#include "loopback.h"
#include "net/http.h"

#include <curl/curl.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROUNDS 7

static const char *const headers[] = {
	"Content-Type: application/json",
	"Accept: application/json, text/event-stream",
	"Mcp-Session-Id: 0123456789abcdef0123456789abcdef",
	"MCP-Protocol-Version: 2025-11-25",
};
static const char body[] =
	"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":"
	"\"lake_move\",\"arguments\":{\"action\":\"DOWN\"}}}";
static const char answer[] =
	"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 125\r\n\r\n"
	"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\":\"text\","
	"\"text\":\"{\\\"position\\\": 4}"
	"\"}],\"isError\":false,\"pad\":\"0123456789\"}}";

/* One connection at a time; a request ends with the body's last bytes. */
static void serve(int listener)
{
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		static char in[65536];
		size_t n = 0;
		ssize_t got;

		while ((got = read(fd, in + n, sizeof(in) - n)) > 0) {
			n += (size_t)got;
			if (n < 4 || memcmp(in + n - 4, "\"}}}", 4) != 0)
				continue;
			if (write(fd, answer, sizeof(answer) - 1) < 0)
				break;
			n = 0;
		}
		close(fd);
	}
}

static uint16_t start_server(pid_t *pid)
{
	uint16_t port;
	int listener = loopback_listen(&port);

	*pid = fork();
	if (*pid == 0)
		serve(listener);
	close(listener);
	return port;
}

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "http_loop: %s\n", what);
		_Exit(1);
	}
}

static void loop_ours(const char *url, uint64_t n)
{
	struct error err = {FAIL_NONE, ""};
	struct io_conf conf = {.clock = clock_real(), .stop_fd = -1};
	struct io *io;

	check(io_new(&conf, &io, &err) == 0, err.text);
	struct buf all = BUF(BUF_MAX_MESSAGE);
	struct http_request q = {.method = "POST",
	                         .url = url,
	                         .headers = headers,
	                         .header_count = ARRAY_LEN(headers),
	                         .body = {body, sizeof(body) - 1},
	                         .timeout_ms = 60000};
	for (uint64_t i = 0; i < n; i++) {
		struct http_exchange *x;

		buf_clear(&all);
		check(http_begin(io, &q, &x, &err) == 0 && http_read_all(x, &all, &err) == 0 &&
		              http_status(x) == 200 && all.n == 125,
		      err.text);
		http_end(x);
	}
	buf_release(&all);
	io_free(io);
}

static size_t store(char *p, size_t size, size_t count, void *arg)
{
	buf_add(arg, p, size * count);
	return size * count;
}

static void loop_bare(const char *url, uint64_t n)
{
	CURL *e = curl_easy_init();
	struct curl_slist *list = curl_slist_append(NULL, "Expect:");

	for (size_t i = 0; i < ARRAY_LEN(headers); i++)
		list = curl_slist_append(list, headers[i]);
	struct buf all = BUF(BUF_MAX_MESSAGE);
	curl_easy_setopt(e, CURLOPT_URL, url);
	curl_easy_setopt(e, CURLOPT_HTTPHEADER, list);
	curl_easy_setopt(e, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE, (long)(sizeof(body) - 1));
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, store);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, &all);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	for (uint64_t i = 0; i < n; i++) {
		buf_clear(&all);
		check(curl_easy_perform(e) == CURLE_OK && all.n == 125, "curl_easy_perform");
	}
	buf_release(&all);
	curl_slist_free_all(list);
	curl_easy_cleanup(e);
}

static double cpu_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void compare(const char *url, uint64_t n)
{
	double ours[ROUNDS], bare[ROUNDS], ratio[ROUNDS];

	for (size_t i = 0; i < ROUNDS; i++) {
		double start = cpu_us();

		loop_bare(url, n);
		double middle = cpu_us();
		loop_ours(url, n);
		bare[i] = (middle - start) / (double)n;
		ours[i] = (cpu_us() - middle) / (double)n;
		ratio[i] = ours[i] / bare[i];
	}
	qsort(ours, ROUNDS, sizeof(*ours), by_value);
	qsort(bare, ROUNDS, sizeof(*bare), by_value);
	qsort(ratio, ROUNDS, sizeof(*ratio), by_value);
	printf("bare libcurl %.1f us, ours %.1f us of CPU a request: ratio %.3f (medians "
	       "of %d)\n",
	       bare[ROUNDS / 2], ours[ROUNDS / 2], ratio[ROUNDS / 2], ROUNDS);
}

int main(int argc, char **argv)
{
	uint64_t n = 5000;

	if (argc > 1 && !text_u64(str_from(argv[1]), &n))
		check(false, "usage: http_loop [N [ours|bare]]");
	pid_t server;
	char url[64];
	struct error err;
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/mcp", start_server(&server));
	check(io_global_init(&err) == 0, "libcurl");
	if (argc > 2)
		(strcmp(argv[2], "bare") == 0 ? loop_bare : loop_ours)(url, n);
	else
		compare(url, n);
	io_global_cleanup();
	kill(server, SIGTERM);
	return 0;
}
