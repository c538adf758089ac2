/* Changes replies: see fault_edit.h. Only the member in question changes; all other bytes are the
   server's. */
#include "tap/fault_edit.h"

#include "base/text.h"
#include "json/paths.h"
#include "json/scan.h"

#define MESSAGE "injected by rolldbg tap"

/* Where the protocols have the reward, and the end of the episode: OpenEnv, ORS, NeMo Gym. */
static const char *const rewards[] = {"/data/reward", "/output/reward", "/reward"};
static const char *const ends[] = {"/data/done", "/output/finished", "/terminated"};

static struct str find(struct str reply, const char *const places[], size_t count)
{
	struct buf scratch = BUF(BUF_MAX_SMALL);
	struct str found = STR_NONE;

	for (size_t i = 0; i < count && !found.p; i++)
		found = json_point(reply, str_from(places[i]), &scratch);
	bool inside = found.p && (uintptr_t)found.p - (uintptr_t)reply.p < reply.n;
	buf_release(&scratch);
	return inside ? found : STR_NONE; /* else it is JSON within a string */
}

/* The text between two places of the reply is replaced. */
static bool replace(struct str reply, struct str part, struct str with, struct buf *out)
{
	if (!part.p)
		return false;
	size_t at = (size_t)(part.p - reply.p);

	buf_add(out, reply.p, at);
	buf_str(out, with);
	buf_str(out, str_skip(reply, at + part.n));
	return true;
}

/* The member of a value, with its name, and one of the commas beside it. */
static struct str member_of(struct str reply, struct str value)
{
	int quotes = 0;

	if (!value.p)
		return STR_NONE;
	const char *from = value.p, *to = value.p + value.n;
	while (quotes < 2)
		quotes += *--from == '"';
	while (from[-1] == ' ')
		from--;
	if (from[-1] == ',')
		from--;
	else
		while (to < reply.p + reply.n && (*to == ' ' || *to == ','))
			to++;
	return (struct str){from, (size_t)(to - from)};
}

static bool put_error(struct str reply, struct buf *out, int *status)
{
	struct str type = JSON_GET(reply, "type"), ok = JSON_GET(reply, "ok");

	if (JSON_GET(reply, "jsonrpc").p) {
		return replace(reply, JSON_GET(reply, "result"),
		               STR("{\"content\":[{\"type\":\"text\",\"text\":\"" MESSAGE
		                   "\"}],\"isError\":true}"),
		               out);
	}
	if (type.p && JSON_GET(reply, "data").p) {
		buf_text(out, "{\"type\":\"error\",\"data\":{\"message\":\"" MESSAGE
		              "\",\"code\":\"EXECUTION_ERROR\"}}");
	} else if (ok.p) {
		buf_text(out, "{\"ok\":false,\"error\":\"" MESSAGE "\"}");
	} else {
		buf_text(out, "{\"detail\":\"" MESSAGE "\"}");
		*status = 500;
	}
	return true;
}

/* A reply of JSON-RPC keeps the id of its request. */
static bool put_other(struct str reply, struct str other, struct buf *out)
{
	struct str id = JSON_GET(reply, "id");

	if (id.p && JSON_GET(other, "jsonrpc").p)
		return replace(other, JSON_GET(other, "id"), id, out);
	buf_str(out, other);
	return other.p != NULL;
}

bool tap_fault_edit(enum tap_fault_id fault, struct str reply, struct str other, struct buf *out,
                    int *status)
{
	switch (fault) {
	case TAP_FAULT_ERROR_REPLY:
		return put_error(reply, out, status);
	case TAP_FAULT_STALE_REPLY:
	case TAP_FAULT_OTHER_REPLY:
		return put_other(reply, other, out);
	case TAP_FAULT_NULL_REWARD:
		return replace(reply, find(reply, rewards, ARRAY_LEN(rewards)), STR("null"), out);
	case TAP_FAULT_NAN_REWARD:
		return replace(reply, find(reply, rewards, ARRAY_LEN(rewards)), STR("NaN"), out);
	case TAP_FAULT_NO_DONE:
		return replace(reply, member_of(reply, find(reply, ends, ARRAY_LEN(ends))), STR(""),
		               out);
	case TAP_FAULT_CUT_JSON:
		buf_str(out, text_utf8_cut(reply, reply.n / 2));
		return true;
	default:
		return false;
	}
}
