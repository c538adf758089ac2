/* Messages of the Debug Adapter Protocol: see dap_wire.h. */
#include "debug/dap_wire.h"

#include "base/text.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#define MESSAGE_MAX ((size_t)16 << 20)
#define HEADER_MAX  4096
#define INPUT_MAX   (2 * (MESSAGE_MAX + HEADER_MAX))
#define READ_BYTES  65536
/* longest delay until a signal that came just before the wait is noticed */
#define LOOK_MS 1000

void dap_wire_init(struct dap_wire *p, const struct debug_conf *conf)
{
	*p = (struct dap_wire){.conf = conf,
	                       .input = BUF(INPUT_MAX),
	                       .message = BUF(MESSAGE_MAX),
	                       .out = BUF(SIZE_MAX / 2)};
}

void dap_wire_release(struct dap_wire *p)
{
	BUFS_RELEASE(&p->input, &p->message, &p->out);
}

int dap_send(struct dap_wire *p, struct error *err)
{
	const struct debug_conf *c = p->conf;
	AUTO_BUF text = BUF(SIZE_MAX / 2);

	buf_printf(&text, "Content-Length: %zu\r\n\r\n", p->out.n);
	buf_str(&text, buf_view(&p->out));
	return c->print(c->ctx, false, buf_view(&text), err);
}

struct json_writer dap_begin(struct dap_wire *p, const char *type)
{
	buf_clear(&p->out);
	struct json_writer w = jw_begin(&p->out);
	jw_put_i64(&w, "seq", ++p->seq);
	jw_put_text(&w, "type", type);
	return w;
}

struct json_writer dap_begin_event(struct dap_wire *p, const char *event)
{
	struct json_writer w = dap_begin(p, "event");

	jw_put_text(&w, "event", event);
	jw_put_object(&w, "body");
	return w;
}

int dap_end_event(struct dap_wire *p, struct json_writer *w, struct error *err)
{
	jw_end(w);
	jw_end(w);
	return dap_send(p, err);
}

/* ---- reading ---- */

/* Position of a message in the input: header and content. */
struct dap_frame {
	size_t header, content; /* lengths in bytes */
};

static int read_length(struct str line, size_t *length, struct error *err)
{
	static const char name[] = "Content-Length:";
	uint64_t n;

	if (!str_starts(line, str_from(name)))
		return 0;
	if (!text_u64(text_trim(str_skip(line, strlen(name))), &n) || !n || n > MESSAGE_MAX)
		return error_set(err, FAIL_INPUT, "invalid Content-Length: %.*s", STR_ARG(line));
	*length = (size_t)n;
	return 0;
}

/* Returns 1 for a complete message, 0 if it is incomplete. */
static int find_frame(struct str input, struct dap_frame *f, struct error *err)
{
	size_t at = 0, length = 0;

	while (at < input.n) {
		const char *feed = memchr(input.p + at, '\n', input.n - at);
		struct str line = {input.p + at, feed ? (size_t)(feed - input.p) - at : 0};

		if (!feed)
			break;
		at += line.n + 1;
		line = text_trim(line);
		if (!line.n && length) {
			*f = (struct dap_frame){at, length};
			return input.n - at >= length;
		}
		if (read_length(line, &length, err))
			return -1;
	}
	return at > HEADER_MAX || input.n - at > HEADER_MAX
	               ? error_set(err, FAIL_INPUT, "the header of a message is too long")
	               : 0;
}

static int parse(struct str text, struct dap_request *q, struct error *err)
{
	struct json_fault fault;

	if (json_validate(text, &fault)) {
		return error_set(err, FAIL_INPUT, "a message is not JSON: %s at byte %zu",
		                 fault.why, fault.at + 1);
	}
	text = text_trim(text);
	*q = (struct dap_request){.command = JSON_GET(text, "command"),
	                          .arguments = JSON_GET(text, "arguments")};
	json_i64(JSON_GET(text, "seq"), &q->seq);
	return 0;
}

/* Reads available input, or waits up to wait_ms for it. */
static int read_input(struct dap_wire *p, int wait_ms, struct error *err)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	int ready = p->ended ? 0 : poll(&in, 1, wait_ms);

	if (ready <= 0)
		return ready == 0 || errno == EINTR ? 0 : error_errno(err, "standard input");
	char *room = buf_room(&p->input, READ_BYTES);
	if (!room)
		return error_set(err, FAIL_INPUT, "too many requests came while the rollout ran");
	ssize_t n = read(STDIN_FILENO, room, READ_BYTES);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : error_errno(err, "standard input");
	p->input.n += (size_t)n;
	p->ended = n == 0;
	return 0;
}

int dap_read(struct dap_wire *p, struct dap_request *q, bool *any, bool (*stops)(void *ctx),
             void *ctx, struct error *err)
{
	struct dap_frame f = {0, 0};
	int found;

	*any = false;
	p->seen = 0;
	while ((found = find_frame(buf_view(&p->input), &f, err)) == 0 && !p->ended) {
		if (stops(ctx))
			return 0;
		if (read_input(p, LOOK_MS, err))
			return -1;
	}
	if (found <= 0)
		return found;
	*any = true;
	buf_set(&p->message, (struct str){p->input.p + f.header, f.content});
	buf_drop(&p->input, f.header + f.content);
	return parse(buf_view(&p->message), q, err);
}

int dap_look_ahead(struct dap_wire *p, struct dap_request *q, struct error *err)
{
	struct dap_frame f = {0, 0};

	if (read_input(p, 0, err))
		return -1;
	int found = find_frame(str_skip(buf_view(&p->input), p->seen), &f, err);
	if (found <= 0)
		return found;
	const struct str content = {p->input.p + p->seen + f.header, f.content};
	p->last = f.header + f.content;
	p->seen += p->last;
	return parse(content, q, err) ? -1 : 1;
}

void dap_take_out(struct dap_wire *p)
{
	p->seen -= p->last;
	memmove(p->input.p + p->seen, p->input.p + p->seen + p->last,
	        p->input.n - p->seen - p->last);
	buf_cut(&p->input, p->input.n - p->last);
}

bool dap_is_over(const struct dap_wire *p)
{
	return p->ended && !p->input.n;
}
