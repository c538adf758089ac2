/* Any bytes as an expression of the debugger: it is refused with a position in the text, or
   it is true or false, and so is its printed form. */
#include "debug/expression.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char step_text[] =
	"{\"type\":\"step\",\"rollout\":\"r.0\",\"turn\":3,\"step\":2,"
	"\"state\":{\"position\":4,\"bag\":[\"key\"],\"text\":\"{\\\"inner\\\":7}\"},"
	"\"tool_call\":{\"name\":\"move\",\"arguments\":{\"to\":\"x\"}},\"outcome\":\"ok\",\"reward\":0.5}";

static bool holds(struct str text, const struct known *k)
{
	struct expression *e;
	struct error err;
	size_t at = SIZE_MAX;

	if (expression_parse(text, &e, &at, &err)) {
		if (at > text.n || err.kind != FAIL_USAGE)
			abort();
		return false;
	}
	struct expression *again;
	struct str kept = expression_text(e);
	bool first = expression_holds(e, k);
	if (expression_parse(kept, &again, &at, &err) || expression_holds(again, k) != first)
		abort();
	expression_free(e);
	expression_free(again);
	return first;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf id = BUF(BUF_MAX_SMALL);
	struct error err;
	struct line l;
	size_t used;

	if (line_parse(str_from(step_text), &id, &l, &used, &err))
		abort();
	const struct moment m = {.position = 3,
	                         .line = &l,
	                         .after = STR("{\"position\":5,\"bag\":[]}"),
	                         .effect = EFFECT_CHANGED};
	const struct known k = {.moment = &m};
	holds((struct str){(const char *)data, size}, &k);
	buf_release(&id);
	return 0;
}
