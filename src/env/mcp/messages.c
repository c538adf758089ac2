/* Writes about messages: see messages.h. */
#include "env/mcp/messages.h"

#include "base/base64.h"
#include "base/text.h"

#define NOISE_MAX ((size_t)64 << 10) /* recorded bytes of a text that is not a message */

void mcp_note_message(struct event_queue *q, enum event_kind kind, const struct jsonrpc_message *m,
                      struct str raw)
{
	struct buf base64 = BUF(2 * NOISE_MAX);

	if (m->kind != JSONRPC_NOT_JSON) {
		events_pack(q, kind, "{message:%r}", raw);
	} else if (raw.n > NOISE_MAX) {
		events_pack(q, kind, "{bytes:%i}", (int64_t)raw.n);
	} else if (text_utf8_valid(raw) == raw.n) {
		events_pack(q, kind, "{text:%s}", raw);
	} else {
		base64_encode(&base64, raw);
		events_pack(q, kind, "{base64:%s}", buf_view(&base64));
	}
	buf_release(&base64);
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
