/* Writes about messages: see messages.h. */
#include "env/mcp/messages.h"

#include "base/base64.h"
#include "base/text.h"
#include "json/write.h"

#define NOISE_MAX ((size_t)64 << 10) /* recorded bytes of a text that is not a message */

void mcp_write_message(const struct jsonrpc_message *m, struct str raw, struct buf *detail)
{
	struct json_writer w = jw_begin(detail);

	if (m->kind != JSONRPC_NOT_JSON) {
		jw_put_raw(&w, "message", raw);
	} else if (raw.n <= NOISE_MAX) {
		bool text = text_utf8_valid(raw) == raw.n;
		struct buf base64 = BUF(2 * NOISE_MAX);

		if (!text)
			base64_encode(&base64, raw);
		jw_put_str(&w, text ? "text" : "base64", text ? raw : buf_view(&base64));
		buf_release(&base64);
	} else {
		jw_put_u64(&w, "bytes", raw.n);
	}
	jw_end(&w);
}

const char *mcp_message_fault(const struct jsonrpc_message *m)
{
	if (!json_is_null(m->error) && json_type(m->error) != JSON_OBJECT)
		return "its error is not an object";
	if (!m->result.n && json_is_null(m->error))
		return "it has neither a result nor an error";
	if (!json_is_null(m->result) && !json_is_null(m->error))
		return "it has both a result and an error";
	return "it lacks \"jsonrpc\":\"2.0\"";
}
