/* Replies of an OpenEnv server, and their classification. Four lines: flags and a code, the
   first observation, the last good one, and the frame or the body. */
#include "env/openenv/openenv.h"
#include "replies.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KNOWN_TOOL = 1, IS_RESET = 2, OVER_HTTP = 4, PATTERN = 8, LOST = 16 };

static struct openenv_answer received(struct str text, unsigned flags, int code)
{
	struct openenv_answer a = {.got = OPENENV_NOT_JSON, .code = code, .text = text};
	struct str value = json_or_none(text);
	struct json_fault fault = {0};

	if (!value.p)
		a.fault = json_validate(text, &fault) ? fault : (struct json_fault){0};
	if (flags & LOST) {
		static const enum websocket_end ends[] = {WEBSOCKET_CLOSED, WEBSOCKET_BROKEN,
		                                          WEBSOCKET_LOST};

		a.got = code % 5 == 4   ? OPENENV_LATE
		        : code % 5 == 3 ? OPENENV_STRAY
		                        : OPENENV_ENDED;
		a.end = ends[code % 3];
	} else if (flags & OVER_HTTP) {
		a.got = code == 200 && value.p ? OPENENV_ANSWER : OPENENV_STATUS;
		a.data = value;
	} else if (json_type(JSON_GET(value, "type")) == JSON_STRING) {
		a.got = json_is(JSON_GET(value, "type"), STR("error")) ? OPENENV_ERROR
		                                                       : OPENENV_ANSWER;
		a.data = JSON_GET(value, "data");
	}
	return a;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const patterns[] = {"no*room"};
	struct str rest = {(const char *)data, size}, first = take_line(&rest);
	unsigned flags = first.n ? (unsigned char)first.p[0] : 0;
	struct openenv_question q = {.known_tool = flags & KNOWN_TOOL,
	                             .is_reset = flags & IS_RESET};
	struct reply_reading reading;
	struct env_reply out;
	bool counts = true;
	uint64_t code = 200;

	text_u64(str_skip(first, 1), &code);
	q.before.start = json_or_none(take_line(&rest));
	q.before.last = json_or_none(take_line(&rest));
	if (flags & PATTERN) {
		q.error_texts = patterns;
		q.error_text_count = ARRAY_LEN(patterns);
	}
	struct openenv_answer a = received(rest, flags, (int)(code % 5000));
	bool decoded = a.got == OPENENV_ANSWER || a.got == OPENENV_ERROR;
	reading_init(&reading);
	openenv_read(&a, &q, &reading, &out);
	check_reply(&out, decoded);
	out.env_steps = flags & PATTERN ? 3 : -1;
	openenv_confirm_uncounted(&reading, 3, &counts, &out);
	check_reply(&out, decoded);
	openenv_read(&a, NULL, &reading, &out);
	check_reply(&out, decoded);
	reading_release(&reading);
	return 0;
}
