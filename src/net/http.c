/* HTTP exchanges over libcurl, driven by the caller: see http.h. Callbacks only store data;
   decisions are made where the caller waits. */
#include "net/http.h"

#include "base/mem.h"
#include "base/text.h"
#include "net/handshake.h"
#include "net/http_internal.h"

#include <stdlib.h>
#include <strings.h>

#define HIGH_WATER   ((size_t)1 << 20) /* unread bytes at which reading from the peer pauses */
#define KEEP_MEMORY  ((size_t)256 << 10)
#define LEAVE_BYTES  ((size_t)64 << 10)
#define LEAVE_MS     2000u
#define MAX_HOPS     5
#define IDLE_MAX     4 /* a call, the state, the reward and the status, each with its URL */
#define EXPECT_BYTES ((size_t)512 << 10) /* libcurl expects a reply to headers from 1 MiB on */
/* Whole seconds, rounded down by libcurl: connections idle for 2 s or more are too old. Servers
   drop idle connections without notice, some after 5 s, and a request sent on a dropped one is
   lost. */
#define MAX_IDLE_S      1L
#define MAX_IDLE_SAFE_S 118L /* libcurl's own default */

static bool skips_body(const struct http_exchange *x)
{
	return x->redirected || x->draining;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
	struct http_exchange *x = arg;
	size_t n = size * count;

	if (!skips_body(x) && x->in.n >= HIGH_WATER) {
		x->paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	size_t most = x->request && x->request->max_bytes ? x->request->max_bytes : BUF_MAX_MESSAGE;
	size_t max = skips_body(x) ? LEAVE_BYTES : most;
	if (x->received > max || n > max - x->received) {
		x->too_large = true;
		return 0;
	}
	x->received += n;
	if (!skips_body(x))
		buf_add(&x->in, bytes, n);
	return n;
}

/* Some servers name a character set in that header: the bytes are plain all the same. */
static bool is_compression(struct str coding)
{
	static const char *const names[] = {"gzip", "x-gzip", "deflate", "br", "zstd", "compress"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (http_is_word(coding, names[i]))
			return true;
	return false;
}

/* The empty line after a block of headers, of an interim reply (1xx) or of the final one. */
static void end_of_headers(struct http_exchange *x)
{
	long status = 0;

	curl_easy_getinfo(x->transfer.easy, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200 && status != 101)
		return;
	x->headers_done = true;
	x->status = (int)status;
	x->encoded = status / 100 == 2 && is_compression(http_header(x, "Content-Encoding"));
	/* Servers close the connection after such a reply without "Connection: close". */
	if (status >= 500) {
		curl_easy_setopt(x->transfer.easy, CURLOPT_FORBID_REUSE, 1L);
		buf_clear(&x->options);
	}
	if (!x->request->follow || (status != 307 && status != 308))
		return;
	x->circled = x->hops >= MAX_HOPS;
	x->redirected = !x->circled && target_redirect(&x->target, http_header(x, "Location"));
}

static size_t on_header(char *bytes, size_t size, size_t count, void *arg)
{
	struct http_exchange *x = arg;
	size_t n = size * count;
	struct str line = {bytes, n};

	if (x->headers_done)
		return n; /* trailers */
	if (str_starts(line, STR("HTTP/")))
		buf_clear(&x->head);
	buf_str(&x->head, line);
	if (x->head.full)
		return 0;
	if (n <= 2 && (n == 0 || bytes[0] == '\r' || bytes[0] == '\n'))
		end_of_headers(x);
	return n;
}

static bool anything_sent(const struct http_exchange *x)
{
	long bytes = 0;

	curl_easy_getinfo(x->transfer.easy, CURLINFO_REQUEST_SIZE, &bytes);
	return bytes > 0;
}

/* libcurl calls this with a connection at hand, before each sending of the request: also before
   a second sending of its own because a reused connection died. */
static int before_sending(void *arg, char *peer, char *local, int peer_port, int local_port)
{
	struct http_exchange *x = arg;

	(void)peer, (void)local, (void)peer_port, (void)local_port;
	if (x->sends++ == 0 || !anything_sent(x))
		return CURL_PREREQFUNC_OK;
	if (x->request->may_repeat && x->repeats == 0) {
		x->repeats++;
		return CURL_PREREQFUNC_OK;
	}
	x->repeat_refused = true;
	return CURL_PREREQFUNC_ABORT;
}

/* The options that are the same for all requests. */
static void set_up_handle(struct http_exchange *x)
{
	CURL *e = x->transfer.easy;

	curl_easy_setopt(e, CURLOPT_PRIVATE, x);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L); /* aborting does not wait for a name server */
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, x->why);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, x);
	curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(e, CURLOPT_HEADERDATA, x);
	curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, before_sending);
	curl_easy_setopt(e, CURLOPT_PREREQDATA, x);
	if (x->io->ca_file)
		curl_easy_setopt(e, CURLOPT_CAINFO, x->io->ca_file);
}

static bool sends_body(const struct http_request *q)
{
	return q->body.p || strcmp(q->method, "POST") == 0;
}

/* The options that depend on the request, but for its URL and its body. */
static void set_options(struct http_exchange *x, const struct http_request *q)
{
	CURL *e = x->transfer.easy;
	bool any = q->trust == TRUST_AS_IO ? x->io->insecure : q->trust == TRUST_ANY;
	bool usual = strcmp(q->method, sends_body(q) ? "POST" : "GET") == 0;

	curl_easy_setopt(e, CURLOPT_NOPROXY, x->target.loopback ? "*" : NULL);
	curl_easy_setopt(e, CURLOPT_HTTPHEADER, x->headers);
	curl_easy_setopt(e, CURLOPT_MAXAGE_CONN, q->may_repeat ? MAX_IDLE_SAFE_S : MAX_IDLE_S);
	curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, (long)q->fresh_connection);
	curl_easy_setopt(e, CURLOPT_FORBID_REUSE, 0L);
	curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, any ? 0L : 1L);
	curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, any ? 0L : 2L);
	if (!sends_body(q))
		curl_easy_setopt(e, CURLOPT_HTTPGET, 1L);
	curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, usual ? NULL : q->method);
}

static void exchange_free(struct http_exchange *x)
{
	curl_easy_cleanup(x->transfer.easy);
	curl_slist_free_all(x->headers);
	target_release(&x->target);
	BUFS_RELEASE(&x->options, &x->head, &x->in, &x->out);
	free(x);
}

static struct http_exchange *exchange_new(struct io *io)
{
	CURL *easy = curl_easy_init();

	if (!easy)
		return NULL;
	struct http_exchange *x = mem_new(sizeof(*x));
	x->transfer.easy = easy;
	x->io = io;
	target_init(&x->target);
	x->options = BUF(2 * BUF_MAX_SMALL);
	x->head = BUF(BUF_MAX_SMALL);
	x->in = BUF(2 * HIGH_WATER);
	x->out = BUF(2 * HIGH_WATER);
	set_up_handle(x);
	return x;
}

static void unlink_from(struct http_exchange **list, struct http_exchange *x)
{
	while (*list != x)
		list = &(*list)->next;
	*list = x->next;
}

/* Returns an exchange to the idle ones, or frees it: after a failure the handle may keep traces
   such as an errno, and after an unfinished redirect its URL is not the recorded one. */
static void retire(struct http_exchange *x)
{
	io_drop(x->io, &x->transfer);
	if (!x->transfer.done || x->transfer.result != CURLE_OK || x->redirected) {
		exchange_free(x);
		return;
	}
	x->request = NULL;
	if (x->in.cap > KEEP_MEMORY)
		buf_release(&x->in);
	if (x->out.cap > KEEP_MEMORY)
		buf_release(&x->out);
	x->next = x->io->idle;
	x->io->idle = x;
}

static void sweep_draining(struct io *io)
{
	uint64_t now = io->draining ? io_now_ns(io) : 0;

	for (struct http_exchange *x = io->draining, *next; x; x = next) {
		next = x->next;
		if (!x->transfer.done && now < x->deadline_ns)
			continue;
		unlink_from(&io->draining, x);
		retire(x);
	}
}

void http_forget(struct io *io)
{
	while (io->draining) {
		struct http_exchange *x = io->draining;

		io->draining = x->next;
		retire(x);
	}
	while (io->idle) {
		struct http_exchange *x = io->idle;

		io->idle = x->next;
		exchange_free(x);
	}
}

/* The idle one that had this URL, so that it is not parsed again; else the one idle longest, if there
   are enough for the URLs of a step. */
static struct http_exchange *pick(struct io *io, const char *url)
{
	struct http_exchange **at = &io->idle, **last = at;
	size_t others = 0;

	for (; *at && !str_is(buf_view(&(*at)->target.url), url); at = &(*at)->next, others++)
		last = at;
	if (!*at && others < IDLE_MAX)
		return exchange_new(io);
	at = *at ? at : last;
	struct http_exchange *x = *at;
	*at = x->next;
	return x;
}

static int add_header(struct http_exchange *x, const char *line, struct error *err)
{
	struct curl_slist *longer = curl_slist_append(x->headers, line);

	x->headers = longer ? longer : x->headers;
	return longer ? 0 : error_set(err, FAIL_SYSTEM, "libcurl is out of memory");
}

/* Removes two headers of libcurl's own: a form's content type, and a large body's
   "Expect: 100-continue", a round trip. CURLOPT_USERAGENT would be formatted for each request. */
static int set_headers(struct http_exchange *x, const struct http_request *q, struct error *err)
{
	bool has_type = !q->body.p, has_agent = false;
	AUTO_BUF agent = BUF(BUF_MAX_SMALL);
	size_t bytes = 0;

	curl_slist_free_all(x->headers);
	x->headers = NULL;
	for (size_t i = 0; i < q->header_count; i++) {
		has_type = has_type || strncasecmp(q->headers[i], "Content-Type", 12) == 0;
		has_agent = has_agent || strncasecmp(q->headers[i], "User-Agent", 10) == 0;
		bytes += strlen(q->headers[i]) + 1;
		if (handshake_check_header(q->headers[i], err) || add_header(x, q->headers[i], err))
			return -1;
	}
	if (bytes > BUF_MAX_SMALL)
		return error_set(err, FAIL_USAGE, "headers larger than 64 KiB");
	buf_text(&agent, "User-Agent: ");
	buf_text(&agent, x->io->user_agent);
	if ((!has_agent && add_header(x, buf_cstr(&agent), err)) ||
	    (!has_type && add_header(x, "Content-Type:", err))) {
		return -1;
	}
	return q->body.n < EXPECT_BYTES ? 0 : add_header(x, "Expect:", err);
}

/* Sets the handle up for the request. Most are like the one before that had their URL, but for their
   body; what the other options depend on is kept as a text to compare. */
static int set_request(struct http_exchange *x, const struct http_request *q, struct error *err)
{
	CURL *e = x->transfer.easy;
	struct buf *options = &x->out; /* not in use before a reply */
	const char flags[] = {(char)('0' + q->trust), (char)('0' + q->may_repeat),
	                      (char)('0' + q->fresh_connection), (char)('0' + x->target.loopback),
	                      (char)('0' + (q->body.p != NULL) + (q->body.n >= EXPECT_BYTES))};

	buf_set(options, (struct str){flags, sizeof(flags)});
	buf_text(options, q->method);
	for (size_t i = 0; i < q->header_count; i++) {
		buf_char(options, '\n');
		buf_text(options, q->headers[i]);
	}
	if (options->full || !str_eq(buf_view(options), buf_view(&x->options))) {
		buf_clear(&x->options);
		if (set_headers(x, q, err))
			return -1;
		set_options(x, q);
		buf_set(&x->options, buf_view(options));
	}
	curl_easy_setopt(e, CURLOPT_CURLU, x->target.parsed);
	if (sends_body(q)) {
		curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body.n);
		curl_easy_setopt(e, CURLOPT_POSTFIELDS, q->body.p ? q->body.p : "");
	}
	return 0;
}

/* For the first sending, and for each one after a redirect. */
static void forget_reply(struct http_exchange *x)
{
	buf_clear(&x->head);
	buf_clear(&x->in);
	buf_clear(&x->out);
	x->sends = 0;
	x->status = 0;
	x->received = 0;
	x->headers_done = x->headers_seen = x->redirected = x->too_large = x->paused =
		x->repeat_refused = x->encoded = false;
	x->why[0] = '\0';
}

int http_begin(struct io *io, const struct http_request *q, struct http_exchange **out,
               struct error *err)
{
	*out = NULL;
	if (io_stopped(io))
		return error_set(err, FAIL_INTERRUPTED, "interrupted");
	sweep_draining(io);
	struct http_exchange *x = pick(io, q->url);
	if (!x)
		return error_set(err, FAIL_SYSTEM, "libcurl is out of memory");
	x->request = q;
	x->deadline_ns = q->timeout_ms ? io_deadline_ns(io, q->timeout_ms) : UINT64_MAX;
	x->repeats = x->hops = 0;
	x->circled = x->draining = false;
	forget_reply(x);
	if (target_set(&x->target, q->url, err) || set_request(x, q, err) ||
	    io_start(io, &x->transfer, err)) {
		exchange_free(x);
		return -1;
	}
	*out = x;
	return 0;
}

static int turn(struct http_exchange *x, struct error *err)
{
	if (x->deadline_ns != UINT64_MAX && io_now_ns(x->io) >= x->deadline_ns)
		return http_explain_timeout(x, err);
	return io_turn(x->io, x->deadline_ns, err);
}

static int follow(struct http_exchange *x, struct error *err)
{
	io_drop(x->io, &x->transfer);
	x->hops++;
	forget_reply(x);
	curl_easy_setopt(x->transfer.easy, CURLOPT_CURLU, x->target.parsed);
	return io_start(x->io, &x->transfer, err);
}

int http_wait_headers(struct http_exchange *x, struct error *err)
{
	while (!x->headers_done || x->redirected) {
		bool ended = x->transfer.done;

		if (ended && !x->redirected)
			return http_explain(x, err);
		if (ended ? follow(x, err) < 0 : turn(x, err) < 0)
			return -1;
	}
	x->headers_seen = true;
	return x->circled   ? error_set(err, FAIL_PROTOCOL, "%s redirected %s more than %d times",
	                                buf_cstr(&x->target.place), x->request->method, MAX_HOPS)
	       : x->encoded ? http_explain_encoding(x, err)
	                    : 0;
}

bool http_ready(const struct http_exchange *x)
{
	bool body = x->headers_done && !x->redirected;

	if (x->transfer.done || (body && (x->in.n || !x->headers_seen)))
		return true;
	return x->deadline_ns != UINT64_MAX && io_now_ns(x->io) >= x->deadline_ns;
}

int http_wait_any(struct io *io, struct http_exchange *const *xs, size_t count, uint64_t timeout_ms,
                  struct error *err)
{
	uint64_t until = io_deadline_ns(io, timeout_ms), wake = until;

	for (size_t i = 0; i < count; i++)
		wake = xs[i]->deadline_ns < wake ? xs[i]->deadline_ns : wake;
	for (bool over = false;; over = io_now_ns(io) >= until) {
		bool ready = over;

		for (size_t i = 0; i < count; i++)
			ready = ready || http_ready(xs[i]);
		if (ready)
			return 0;
		if (io_turn(io, wake, err) < 0)
			return -1;
	}
}

int http_read(struct http_exchange *x, struct str *piece, struct error *err)
{
	*piece = STR("");
	if (http_wait_headers(x, err) < 0)
		return -1;
	/* a peer that never stops sending must not exceed the deadline */
	if (!x->transfer.done && io_now_ns(x->io) >= x->deadline_ns)
		return http_explain_timeout(x, err);
	while (x->in.n == 0 && !x->transfer.done)
		if (turn(x, err) < 0)
			return -1;
	if (x->in.n == 0)
		return x->transfer.result == CURLE_OK ? 0 : http_explain(x, err);
	struct buf read = x->out;
	x->out = x->in;
	x->in = read;
	buf_clear(&x->in);
	*piece = buf_view(&x->out);
	if (x->paused) {
		x->paused = false;
		curl_easy_pause(x->transfer.easy, CURLPAUSE_CONT);
	}
	return 1;
}

int http_read_all(struct http_exchange *x, struct buf *out, struct error *err)
{
	struct str piece;
	int rc;

	while ((rc = http_read(x, &piece, err)) > 0) {
		buf_str(out, piece);
		if (out->full) {
			return error_set(err, FAIL_PROTOCOL,
			                 "the response of %s to %s %s is larger than %zu bytes",
			                 buf_cstr(&x->target.place), x->request->method,
			                 buf_cstr(&x->target.path), out->max);
		}
	}
	return rc;
}

bool http_was_sent(const struct http_exchange *x)
{
	return x->hops > 0 || (x->sends > 0 && anything_sent(x));
}

void http_end(struct http_exchange *x)
{
	if (x)
		retire(x);
}

void http_drain(struct http_exchange *x)
{
	if (!x)
		return;
	/* The caller frees the borrowed body after this: it must have been sent. */
	curl_off_t uploaded = 0;
	curl_easy_getinfo(x->transfer.easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
	if (x->transfer.done || !x->headers_done || (uint64_t)uploaded < x->request->body.n) {
		retire(x);
		return;
	}
	x->draining = true;
	x->received = 0;
	x->request = NULL;
	x->deadline_ns = io_deadline_ns(x->io, LEAVE_MS);
	x->next = x->io->draining;
	x->io->draining = x;
	if (x->paused)
		curl_easy_pause(x->transfer.easy, CURLPAUSE_CONT);
}

/* ---- the reply ---- */

int http_status(const struct http_exchange *x)
{
	return x->status;
}

static struct str head_value(struct str head, const char *name)
{
	struct str found = STR_NONE, key, value;

	for (size_t cursor = 0; http_next_field(head, &cursor, &key, &value);)
		if (http_is_word(key, name))
			found = value;
	return found;
}

struct str http_header(const struct http_exchange *x, const char *name)
{
	return x->headers_done ? head_value(buf_view(&x->head), name) : STR_NONE;
}

struct str http_media_type(const struct http_exchange *x)
{
	struct str type = http_header(x, "Content-Type");

	return type.p ? text_trim(str_cut(&type, ';')) : type;
}

bool http_media_is(const struct http_exchange *x, const char *type)
{
	struct str media = http_media_type(x);

	return http_is_word(media, type);
}

uint64_t http_retry_after_ms(const struct http_exchange *x)
{
	uint64_t ms = 0;
	curl_off_t seconds = 0;

	if (text_u64(http_header(x, "retry-after-ms"), &ms))
		return ms;
	curl_easy_getinfo(x->transfer.easy, CURLINFO_RETRY_AFTER, &seconds);
	return seconds > 0 ? (uint64_t)seconds * 1000 : 0;
}

const char *http_url(const struct http_exchange *x)
{
	return buf_cstr(&x->target.url);
}

unsigned http_repeats(const struct http_exchange *x)
{
	return x->repeats;
}

bool http_is_loopback(const char *url)
{
	struct error ignored;
	struct target t;

	target_init(&t);
	bool loopback = target_set(&t, url, &ignored) == 0 && t.loopback;
	target_release(&t);
	return loopback;
}

bool http_resolve(const char *url, struct str reference, struct buf *out)
{
	struct error ignored;
	struct target t;

	target_init(&t);
	bool same = target_set(&t, url, &ignored) == 0 && target_redirect(&t, reference);
	if (same)
		buf_str(out, buf_view(&t.url));
	target_release(&t);
	return same;
}
