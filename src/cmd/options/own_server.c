/* Servers that start with the command: see target_options.h. */
#include "cmd/options/target_options.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/options/config_file.h"
#include "net/http.h"

#include <stdlib.h>
#include <unistd.h>

#define TRY_MS       2000 /* for one reply */
#define PAUSE_MS     100  /* between two tries; doubled up to the longest */
#define PAUSE_MAX_MS 1000
#define NS_PER_MS    1000000u
#define LOG_TAIL     ((size_t)400) /* of its output, in a message */

/* ws://.. is asked as http://.. */
static bool http_form(const char *url, struct buf *out)
{
	if (!strncmp(url, "ws", 2)) {
		buf_text(out, "http");
		buf_text(out, url + 2);
	} else {
		buf_text(out, url);
	}
	return !strncmp(buf_cstr(out), "http://", 7) || !strncmp(buf_cstr(out), "https://", 8);
}

/* One request that changes nothing. *status 0: no reply, and err says why; *connected: something accepted
   the connection. -1: interrupted, or a local failure. */
static int ask(struct io *io, const char *url, uint64_t timeout_ms, int *status, bool *connected,
               struct error *err)
{
	struct http_request q = {.method = "OPTIONS",
	                         .url = url,
	                         .timeout_ms = timeout_ms,
	                         .fresh_connection = true,
	                         .trust = TRUST_ANY};
	struct http_exchange *x;

	*status = 0;
	*connected = false;
	if (http_begin(io, &q, &x, err))
		return -1;
	int failed = http_wait_headers(x, err);
	*connected = http_was_sent(x);
	*status = failed ? 0 : http_status(x);
	http_end(x);
	return failed && (err->kind == FAIL_INTERRUPTED || err->kind == FAIL_SYSTEM ||
	                  err->kind == FAIL_USAGE)
	               ? -1
	               : 0;
}

static bool is_starting(int status)
{
	return !status || status == 502 || status == 503 || status == 504;
}

/* The end of the server's output, on one line. */
static void put_tail(struct own_server *s, struct buf *out)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	if (!file_read("output of the server", buf_cstr(&s->log), &text, ERROR_IGNORED)) {
		struct str tail = text_trim(buf_view(&text));

		tail = tail.n > LOG_TAIL ? str_skip(tail, tail.n - LOG_TAIL) : tail;
		if (tail.n) {
			buf_text(out, ": ");
			text_escape(out, tail);
		}
	}
}

static int set_ended(struct own_server *s, struct error *err)
{
	AUTO_BUF tail = BUF(BUF_MAX_SMALL);

	child_terminate(s->child);
	put_tail(s, &tail);
	error_set(err, FAIL_TRANSPORT, "the server of --serve %s%s", child_why(s->child),
	          buf_cstr(&tail));
	child_free(s->child);
	s->child = NULL;
	return -1;
}

static int set_late(const char *url, uint64_t wait_ms, const struct error *last, int status,
                    struct error *err)
{
	AUTO_BUF span = BUF(BUF_MAX_SMALL);

	text_put_duration(&span, wait_ms);
	return status ? error_set(err, FAIL_TRANSPORT, "%s still replies with %d after %s (--wait)",
	                          url, status, buf_cstr(&span))
	              : error_set(err, FAIL_TRANSPORT, "no server after %s (--wait): %s",
	                          buf_cstr(&span), last->text);
}

static int wait_until_served(struct io *io, const char *url, uint64_t wait_ms, struct own_server *s,
                             struct error *err)
{
	uint64_t until = io_now_ns(io) + wait_ms * NS_PER_MS, pause = PAUSE_MS;
	struct error why = {0};
	bool connected;
	int status;

	for (int tries = 1;; tries++) {
		if (ask(io, url, TRY_MS, &status, &connected, &why)) {
			*err = why;
			return -1;
		}
		if (!is_starting(status)) {
			log_info("%s is served: it replies with %d (try %d)", url, status, tries);
			return 0;
		}
		if (s && child_has_ended(s->child))
			return set_ended(s, err);
		if (io_now_ns(io) >= until)
			return set_late(url, wait_ms, &why, status, err);
		if (status)
			log_info("try %d: %s replies with %d: tried again", tries, url, status);
		else
			log_info("try %d: %s: tried again", tries, why.text);
		if (io_wait(io, NULL, pause, err))
			return -1;
		pause = pause * 2 < PAUSE_MAX_MS ? pause * 2 : PAUSE_MAX_MS;
	}
}

int own_server_wait(struct io *io, const char *url, uint64_t wait_ms, struct own_server *s,
                    struct error *err)
{
	AUTO_BUF http = BUF(BUF_MAX_SMALL);

	return http_form(url, &http) ? wait_until_served(io, buf_cstr(&http), wait_ms, s, err) : 0;
}

static int check_free(struct io *io, const char *url, struct error *err)
{
	struct error why = {0};
	bool connected;
	int status;

	if (ask(io, url, TRY_MS, &status, &connected, &why)) {
		*err = why;
		return -1;
	}
	return !connected
	               ? 0
	               : error_set(
				 err, FAIL_SYSTEM,
				 "--serve: the port of %s is taken: something answers there already; "
				 "stop it, choose another port, or leave out --serve to use it",
				 url);
}

static int open_log(struct own_server *s, const char *directory, struct error *err)
{
	s->log = BUF(BUF_MAX_SMALL);
	buf_printf(&s->log, "%s/rolldbg-serve-XXXXXX", directory);
	(void)buf_cstr(&s->log);
	int fd = mkstemp(s->log.p);
	if (fd < 0)
		return error_errno(err, "cannot create %s", s->log.p);
	close(fd);
	log_info("the output of --serve goes to %s", s->log.p);
	return 0;
}

int own_server_start(struct own_server *s, const char *command, char *const *variables,
                     const char *directory, const char *url, uint64_t wait_ms, struct error *err)
{
	AUTO_BUF http = BUF(BUF_MAX_SMALL), line = BUF(BUF_MAX_MESSAGE);
	struct child_conf conf = {.variables = variables};

	if (!http_form(url, &http)) {
		return error_set(err, FAIL_USAGE,
		                 "--serve starts a server for an --env http(s):// or ws(s):// on "
		                 "this machine; --env stdio:COMMAND starts one by itself");
	}
	if (check_free(s->io, buf_cstr(&http), err) || open_log(s, directory, err))
		return -1;
	/* every process of the server holds the pipe, which tells when the last one has ended: the
	   shell ends first */
	buf_text(&line, "exec 3>&1 </dev/null >");
	config_shell_word(&line, buf_cstr(&s->log));
	buf_printf(&line, " 2>&1\n%s", command);
	conf.command = buf_cstr(&line);
	if (child_start(s->io, &conf, &s->child, err))
		return -1;
	return own_server_wait(s->io, url, wait_ms, s, err);
}

void own_server_stop(struct own_server *s)
{
	if (s->child) {
		bool ended = child_has_ended(s->child);

		child_terminate(s->child);
		if (ended) {
			log_warn("the server of --serve %s; its output is in %s",
			         child_why(s->child), buf_cstr(&s->log));
		} else {
			unlink(buf_cstr(&s->log));
		}
	} else if (s->log.n) {
		unlink(buf_cstr(&s->log));
	}
	child_free(s->child);
	buf_release(&s->log);
	*s = (struct own_server){.child = NULL};
}
