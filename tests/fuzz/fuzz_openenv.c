/* Messages of a client to the built-in OpenEnv server: bytes become frames, frames become
   messages, and messages get replies that are JSON, however the bytes are split; there are
   never more steps than messages. */
#include "json/scan.h"
#include "net/frames.h"
#include "serve/openenv/openenv.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_reply(struct openenv_reply *r)
{
	struct json_fault fault;

	require(r->wait_ms == 0 && !r->disconnect && r->late.n == 0);
	require(r->text.n > 0 || r->close != 0);
	require(r->text.n == 0 || json_validate(buf_view(&r->text), &fault) == 0);
	buf_release(&r->text);
}

static bool answer(struct openenv_session *s, struct frame_message *m)
{
	struct openenv_reply r = {.text = BUF(BUF_MAX_MESSAGE)};

	openenv_handle_message(s, buf_view(&m->bytes), m->binary, false, &r);
	bool open = r.close == 0;
	check_reply(&r);
	frame_message_free(m);
	return open;
}

/* The first byte is the number of bytes per piece. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = {(const char *)data + 1, size ? size - 1 : 0};
	size_t at_a_time = size ? data[0] + 1u : 1, messages = 0;
	struct serve_conf conf;
	struct openenv o;
	struct openenv_session s;
	struct openenv_reply greeting = {.text = BUF(BUF_MAX_SMALL)};
	struct frames f;

	serve_conf_init(&conf, clock_real());
	openenv_init(&o, &conf);
	openenv_open(&o, &s, STR_NONE, &greeting);
	frames_init(&f, false, 16 << 20, 64 << 20);
	for (bool open = true; open && rest.n > 0 && f.end == FRAMES_OPEN;) {
		size_t n = rest.n < at_a_time ? rest.n : at_a_time;

		frames_feed(&f, (struct str){rest.p, n});
		rest = str_skip(rest, n);
		for (struct frame_message *m; open && (m = frames_next(&f));) {
			messages++;
			open = answer(&s, m);
		}
	}
	require(o.steps <= messages);
	frames_release(&f);
	openenv_session_close(&s);
	openenv_release(&o);
	return 0;
}
