/* Elicitation requests of a server: the reply is valid JSON, and accepts only if each
   required field has a default. */
#include "env/mcp/input.h"
#include "replies.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_content(struct str schema, struct str content)
{
	struct str required = JSON_GET(schema, "required"), name;
	struct json_member m;
	struct arena arena = {0};

	for (size_t cursor = 0; json_next(required, &cursor, &name);)
		require(json_get(content, json_text(&arena, name)).p != NULL);
	for (size_t cursor = 0; json_next_member(content, &cursor, &m);) {
		struct str field =
			json_get(JSON_GET(schema, "properties"), json_key_text(&arena, m.key));

		require(str_eq(JSON_GET(field, "default"), m.value));
	}
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str params = json_or_none((struct str){(const char *)data, size});
	struct buf result = BUF(BUF_MAX_MESSAGE), why = BUF(BUF_MAX_MESSAGE);

	if (!params.p)
		return 0;
	bool accepted = elicit_answer(params, &result, &why);
	struct str answer = buf_view(&result), action = JSON_GET(answer, "action");
	require_json(answer);
	require(json_is(action, accepted ? STR("accept") : STR("decline")));
	require(accepted == !why.n);
	if (accepted)
		check_content(JSON_GET(params, "requestedSchema"), JSON_GET(answer, "content"));
	buf_release(&result);
	buf_release(&why);
	return 0;
}
