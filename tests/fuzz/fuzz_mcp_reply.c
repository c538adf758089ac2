/* Replies of an MCP server to a call, and their classification. Four lines: flags and an
   HTTP status, the first observation, the last good one, and the reply. */
#include "env/mcp/reply.h"
#include "replies.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	IS_STATE = 1,
	SESSION_LOST = 2,
	TRANSPORT = 4,
	COUNTED = 8,
	UNCOUNTED = 16,
	PATTERN = 32,
};

static struct mcp_reply received(struct str text, unsigned flags, int status)
{
	struct mcp_reply r = {.got = MCP_GOT_HTTP,
	                      .http_status = status,
	                      .asked = 1,
	                      .text = text,
	                      .media = STR("text/plain"),
	                      .session_lost = flags & SESSION_LOST};

	jsonrpc_read(text, &r.message);
	if (flags & TRANSPORT)
		r.got = flags & COUNTED ? MCP_GOT_TIMEOUT : MCP_GOT_TRANSPORT;
	else if (r.message.kind == JSONRPC_RESULT)
		r.got = MCP_GOT_RESULT;
	else if (r.message.kind == JSONRPC_ERROR)
		r.got = MCP_GOT_ERROR;
	else if (r.message.kind == JSONRPC_INVALID && status < 300)
		r.got = MCP_GOT_UNUSABLE;
	return r;
}

static void classify(const struct mcp_reply *r, const struct mcp_call_context *call, unsigned flags)
{
	struct env_reply out = {.outcome = OUTCOME_NONE}, other = {.outcome = OUTCOME_NONE};
	bool decoded = r->got == MCP_GOT_RESULT || r->got == MCP_GOT_ERROR;
	struct reply_reading reading;

	reading_init(&reading);
	mcp_read_tool_reply(r, call, &reading, &out);
	check_reply(&out, decoded);
	if (out.outcome == OUTCOME_OK) {
		require(!out.error.message.p);
		mcp_settle_suspected(&reading,
		                     flags & COUNTED     ? 1
		                     : flags & UNCOUNTED ? 0
		                                         : -1,
		                     &out);
		check_reply(&out, decoded);
	}
	require(reading.suspected.strength == HIDDEN_ERROR_NONE || out.outcome != OUTCOME_OK);
	mcp_read_other(r, &reading, &other);
	check_reply(&other, decoded);
	reading_release(&reading);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const patterns[] = {"no*room"};
	struct str rest = {(const char *)data, size}, first = take_line(&rest);
	unsigned flags = first.n ? (unsigned char)first.p[0] : 0;
	uint64_t status = 200;
	struct mcp_call_context call = {.env_session = STR("s1"), .is_state = flags & IS_STATE};

	text_u64(str_skip(first, 1), &status);
	call.before.start = json_or_none(take_line(&rest));
	call.before.last = json_or_none(take_line(&rest));
	if (flags & PATTERN) {
		call.error_texts = patterns;
		call.error_text_count = ARRAY_LEN(patterns);
	}
	struct mcp_reply r = received(rest, flags, (int)(status % 1000));
	classify(&r, &call, flags);
	return 0;
}
