/* A model's output: as text in any format, as a complete reply, as pieces of a stream. A
   call that may be sent has an object as its arguments, and is never a truncated one. The
   first byte selects: bit 0 repair, bits 1 and 2 how the other bytes are read. */
#include "policy/llm/calls.h"
#include "policy/llm/completion.h"

#include <stdlib.h>

#define TOOLS                                                                                      \
	"[{\"name\":\"lake_move\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"           \
	"\"action\":{\"type\":\"string\"}},\"required\":[\"action\"]}},"                           \
	"{\"name\":\"say\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"                  \
	"\"n\":{\"type\":\"integer\"},\"t\":{\"type\":\"string\"}}}}]"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check(const struct tool_call *c, const struct chat_reply *reply)
{
	struct json_fault fault;

	if (c->arguments.p)
		require(json_validate(c->arguments, &fault) == 0);
	if (c->outcome == OUTCOME_NONE) {
		require(json_type(c->arguments) == JSON_OBJECT && c->name.n > 0);
		require(!reply->incomplete);
	} else {
		require(c->message.n > 0 && c->class != CLASS_NONE);
	}
	require(c->id.n > 0);
}

static void read_calls(const struct chat_reply *reply, bool repair)
{
	struct calls_conf conf = {.tools = STR(TOOLS), .mode = TOOLS_TEXT, .repair = repair};
	struct tool_calls calls;
	struct arena arena = {0};

	calls_read(&conf, reply, &arena, &calls);
	require(repair || calls.repairs.count == 0);
	require((calls.count > 0) == (strcmp(calls.source, "none") != 0));
	for (size_t i = 0; i < calls.count; i++)
		check(&calls.items[i], reply);
	arena_release(&arena);
}

static void read_stream(struct str text, bool repair)
{
	struct chat_stream s;
	struct chat_reply reply;
	struct error err;
	int failed = 0;

	chat_stream_init(&s);
	while (text.n && !failed) {
		const char *feed = memchr(text.p, '\n', text.n);
		size_t n = feed ? (size_t)(feed - text.p) : text.n;

		failed = chat_stream_add(&s, (struct str){text.p, n}, &err);
		text = str_skip(text, n + 1);
	}
	chat_stream_reply(&s, !failed, &reply);
	read_calls(&reply, repair);
	chat_reply_release(&reply);
	chat_stream_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chat_reply reply = {.calls = NULL};
	struct error err;

	if (!size)
		return 0;
	bool repair = data[0] & 1;
	char *copy = malloc(size); /* of exactly its size, for the sanitizers */
	require(copy != NULL);
	memcpy(copy, data + 1, size - 1);
	struct str text = {copy, size - 1};
	if ((data[0] >> 1 & 3) == 1) {
		read_stream(text, repair);
	} else if ((data[0] >> 1 & 3) == 2) {
		if (chat_reply_read(text, &reply, &err) == 0)
			read_calls(&reply, repair);
		chat_reply_release(&reply);
	} else {
		reply.content = text;
		read_calls(&reply, repair);
	}
	free(copy);
	return 0;
}
