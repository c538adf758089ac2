/* Any bytes as a script of the scripted model and a request to it: an accepted request gets
   a reply, and its completions, errors and stream chunks are JSON. The request follows a
   NUL byte. */
#include "protocol/sse.h"
#include "serve/llm/reply_script.h"

#include <stdint.h>
#include <stdlib.h>

#define REQUEST                                                                                    \
	"{\"model\":\"m\",\"seed\":7,\"stream\":true,\"messages\":[{\"role\":\"user\","            \
	"\"content\":\"go\"}]}"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static bool is_json(struct str text)
{
	struct json_fault fault;

	return json_validate(text, &fault) == 0;
}

static void read_events(struct str stream)
{
	struct sse_event event;
	struct sse sse;

	sse_init(&sse, LLM_BODY_MAX);
	sse_feed(&sse, stream);
	while (sse_next(&sse, &event))
		require(str_is(event.data, "[DONE]") || is_json(event.data));
	sse_release(&sse);
}

static void answer(const struct llm_reply *r, const struct scripted_request *a)
{
	struct buf whole = BUF(LLM_BODY_MAX), stream = BUF(LLM_BODY_MAX), error = BUF(LLM_BODY_MAX);

	llm_body_whole(r, a, 1, &whole);
	require(is_json(buf_view(&whole)));
	llm_body_stream(r, a, 1, &stream);
	read_events(buf_view(&stream));
	llm_body_error(400, r->says.p ? r->says : STR("\"why\""), r->code, &error);
	require(is_json(buf_view(&error)));
	buf_release(&whole);
	buf_release(&stream);
	buf_release(&error);
}

static void play(const struct llm_script *s, struct str request)
{
	struct buf why = BUF(BUF_MAX_SMALL);
	struct arena arena = {0};
	struct scripted_request asked;
	size_t next = 0;

	if (!llm_check(request, &arena, &asked, &why)) {
		require(why.n > 0);
	} else {
		for (size_t i = 0; i < s->count + 2; i++) {
			const struct llm_reply *r = llm_script_choose(s, &asked, &next);

			if (r)
				answer(r, &asked);
		}
	}
	arena_release(&arena);
	buf_release(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size}, request = STR(REQUEST);
	const char *nul = size ? memchr(data, '\0', size) : NULL;
	struct llm_script s;
	struct error err = {0};

	if (nul) {
		text.n = (size_t)(nul - text.p);
		request = (struct str){nul + 1, size - text.n - 1};
	}
	int failed = llm_script_parse(text, "fuzz", &s, &err);

	require(failed ? err.kind == FAIL_INPUT : s.count > 0);
	if (!failed)
		play(&s, request);
	llm_script_release(&s);
	return 0;
}
