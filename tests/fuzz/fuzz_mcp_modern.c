/* Messages of a server of revision 2026-07-28: a tool with any annotations gives header
   lines that are safe to send, a result that requires input gets a reply of valid JSON. */
#include "env/mcp/headers.h"
#include "env/mcp/input.h"
#include "json/scan.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* "NAME: VALUE" or "NAME;", plain ASCII, each followed by a NUL. */
static size_t check_lines(const struct buf *lines)
{
	struct str rest = buf_view(lines);
	size_t count = 0;

	while (rest.n) {
		size_t n = strnlen(rest.p, rest.n), name = strcspn(rest.p, ":;");

		require(n < rest.n && name > 0 && name < n);
		require(rest.p[name] == ';' ? name + 1 == n
		                            : rest.p[name + 1] == ' ' && name + 2 < n);
		for (size_t i = 0; i < n; i++)
			require(rest.p[i] >= ' ' && rest.p[i] <= '~');
		rest = str_skip(rest, n + 1);
		count++;
	}
	return count;
}

/* {"tool":..,"arguments":..} */
static void check_tool(struct str tool, struct str arguments)
{
	struct buf lines = BUF(4096);
	struct buf why = BUF(BUF_MAX_SMALL);
	int marks = mcp_header_marks(tool, &why);

	require((marks < 0) == (why.n > 0));
	mcp_header_add_params(&lines, tool, arguments);
	size_t count = check_lines(&lines);
	require(marks < 0 || count <= (size_t)marks);
	buf_release(&lines);
	buf_release(&why);
}

static void check_result(struct str result)
{
	struct buf responses = BUF(BUF_MAX_MESSAGE), state = BUF(BUF_MAX_MESSAGE),
		   why = BUF(BUF_MAX_MESSAGE);
	struct json_fault fault;
	bool none = mcp_result_is_unusable(result, STR_NONE, &why);

	require(none == (why.n > 0));
	buf_clear(&why);
	if (mcp_input_answer(result, &responses, &state, &why)) {
		require(responses.n || state.n);
		require(!responses.n || !json_validate(buf_view(&responses), &fault));
		require(!responses.n || json_count(buf_view(&responses)) ==
		                                json_count(JSON_GET(result, "inputRequests")));
		require(!state.n || str_eq(buf_view(&state), JSON_GET(result, "requestState")));
	} else {
		require(why.n > 0);
	}
	buf_release(&responses);
	buf_release(&state);
	buf_release(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct buf lines = BUF(4096);
	struct json_fault fault;

	mcp_header_add(&lines, "Mcp-Name", text);
	check_lines(&lines);
	buf_release(&lines);
	if (json_validate(text, &fault))
		return 0;
	while (text.n && strchr(" \t\r\n", text.p[0]))
		text = str_skip(text, 1);
	while (text.n && strchr(" \t\r\n", text.p[text.n - 1]))
		text.n--;
	check_tool(JSON_GET(text, "tool"), JSON_GET(text, "arguments"));
	check_result(text);
	return 0;
}
