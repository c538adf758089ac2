/* Messages of the Debug Adapter Protocol: see dap_wire.h. */
#include "debug/dap_wire.h"

#include "base/text.h"

#include <stdio.h>

#define MESSAGE_MAX ((size_t)16 << 20)
#define HEADER_MAX  4096

void dap_wire_init(struct dap_wire *p, const struct debug_conf *conf)
{
	*p = (struct dap_wire){.conf = conf, .message = BUF(MESSAGE_MAX), .out = BUF(SIZE_MAX / 2)};
}

void dap_wire_release(struct dap_wire *p)
{
	buf_release(&p->message);
	buf_release(&p->out);
}

int dap_send(struct dap_wire *p, struct error *err)
{
	const struct debug_conf *c = p->conf;
	struct buf text = BUF(SIZE_MAX / 2);

	buf_printf(&text, "Content-Length: %zu\r\n\r\n", p->out.n);
	buf_str(&text, buf_view(&p->out));
	int failed = c->print(c->ctx, false, buf_view(&text), err);
	buf_release(&text);
	return failed;
}

struct json_writer dap_begin(struct dap_wire *p, const char *type)
{
	struct json_writer w;

	buf_clear(&p->out);
	jw_init(&w, &p->out);
	jw_object(&w);
	jw_key(&w, "seq");
	jw_i64(&w, ++p->seq);
	jw_key(&w, "type");
	jw_text(&w, type);
	return w;
}

struct json_writer dap_begin_event(struct dap_wire *p, const char *event)
{
	struct json_writer w = dap_begin(p, "event");

	jw_key(&w, "event");
	jw_text(&w, event);
	jw_key(&w, "body");
	jw_object(&w);
	return w;
}

int dap_end_event(struct dap_wire *p, struct json_writer *w, struct error *err)
{
	jw_end(w);
	jw_end(w);
	return dap_send(p, err);
}

/* ---- reading ---- */

/* The header's length; 0: the input has ended. */
static int read_header(size_t *length, struct error *err)
{
	char line[HEADER_MAX];
	static const char name[] = "Content-Length:";

	*length = 0;
	while (fgets(line, sizeof(line), stdin)) {
		struct str text = text_trim(str_from(line));
		uint64_t n;

		if (!text.n && *length) {
			return 0;
		}
		if (str_starts(text, STR("Content-Length:"))) {
			if (!text_u64(text_trim(str_skip(text, strlen(name))), &n) || !n ||
			    n > MESSAGE_MAX) {
				return error_set(err, FAIL_INPUT, "a message of %.*s bytes",
				                 STR_ARG(text));
			}
			*length = (size_t)n;
		}
	}
	*length = 0;
	return 0;
}

int dap_read(struct dap_wire *p, struct dap_request *q, bool *any, struct error *err)
{
	struct json_fault fault;
	size_t length;

	*any = false;
	if (read_header(&length, err)) {
		return -1;
	}
	if (!length) {
		return 0;
	}
	buf_clear(&p->message);
	char *room = buf_room(&p->message, length);
	if (!room || fread(room, 1, length, stdin) != length) {
		return 0;
	}
	p->message.n = length;
	struct str text = buf_view(&p->message);
	if (json_validate(text, &fault)) {
		return error_set(err, FAIL_INPUT, "a message is not JSON: %s at byte %zu",
		                 fault.why, fault.at + 1);
	}
	text = text_trim(text);
	*q = (struct dap_request){.command = JSON_GET(text, "command"),
	                          .arguments = JSON_GET(text, "arguments")};
	json_i64(JSON_GET(text, "seq"), &q->seq);
	*any = true;
	return 0;
}
