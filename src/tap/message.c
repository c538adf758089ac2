/* The table of decoders, and reading heads: see message.h. */
#include "tap/message.h"

#include "protocol/http_stream.h"

#include <strings.h>

#define DECODER(id) extern const struct tap_decoder tap_##id;
#include "tap/decoders.def"
#undef DECODER

const struct tap_decoder *const tap_decoders[] = {
#define DECODER(id) &tap_##id,
#include "tap/decoders.def"
#undef DECODER
};
const size_t tap_decoders_count = sizeof(tap_decoders) / sizeof(tap_decoders[0]);

struct str tap_header(const struct tap_head *h, const char *name)
{
	return http_field(h->fields, name);
}

struct str tap_path(const struct tap_head *request)
{
	struct str target = request->target;

	return str_cut(&target, '?');
}

void tap_put_fields(const struct tap_head *request, const char *but, struct buf *out)
{
	static const char *const own[] = {"content-", "transfer-",     "connection",
	                                  "upgrade",  "accept",        "sec-websocket-",
	                                  "expect",   "last-event-id", "mcp-method",
	                                  "mcp-name", "mcp-param-"};
	struct str name, value;

	for (size_t cursor = 0; http_next_field(request->fields, &cursor, &name, &value);) {
		bool left_out = but && http_is_word(name, but);

		for (size_t i = 0; i < ARRAY_LEN(own); i++)
			left_out |= name.n >= strlen(own[i]) &&
			            !strncasecmp(name.p, own[i], strlen(own[i]));
		if (!left_out)
			buf_printf(out, "%.*s: %.*s\r\n", STR_ARG(name), STR_ARG(value));
	}
}

struct str tap_query(const struct tap_head *request, const char *name)
{
	struct str rest = str_skip(request->target, tap_path(request).n + 1);
	size_t n = strlen(name);

	while (rest.n) {
		struct str one = str_cut(&rest, '&');

		if (one.n > n && one.p[n] == '=' && memcmp(one.p, name, n) == 0)
			return str_skip(one, n + 1);
	}
	return STR_NONE;
}
