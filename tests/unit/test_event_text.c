/* Events as one line of text: messages of servers and details of our own. */
#include "report/event_text.h"

#include "tap.h"

#define MESSAGE(method, params)                                                                    \
	"{\"message\":{\"jsonrpc\":\"2.0\",\"method\":\"" method "\",\"params\":" params "}}"

static const struct {
	const char *event, *detail, *want;
} cases[] = {
	{"notification",
         MESSAGE("notifications/message",
                 "{\"level\":\"info\",\"logger\":\"db\","
                 "\"data\":{\"msg\":\"disk almost full\",\"extra\":null}}"),
         "notification: notifications/message, level info, logger db, disk almost full"},
	{"notification",
         MESSAGE("notifications/message", "{\"level\":\"error\",\"data\":\"one\\ntwo\"}"),
         "notification: notifications/message, level error, one\ntwo"},
	{"notification",
         MESSAGE("notifications/progress", "{\"progressToken\":3,\"progress\":1,\"total\":4,"
                                           "\"message\":\"a quarter\"}"),
         "notification: notifications/progress, progress 1, total 4, a quarter"},
	{"notification", MESSAGE("notifications/tools/list_changed", "null"),
         "notification: notifications/tools/list_changed"},
	{"notification",
         "{\"what\":\"elicitation/create\",\"params\":{\"message\":\"Continue?\"},"
         "\"answered\":{\"action\":\"accept\"}}",
         "notification: elicitation/create, Continue?, answered {\"action\":\"accept\"}"},
	{"late-reply",
         "{\"message\":{\"jsonrpc\":\"2.0\",\"id\":7,"
         "\"error\":{\"code\":-32000,\"message\":\"Session gone\"}}}",
         "late-reply: id 7, code -32000, Session gone"},
	{"noise", "{\"message\":{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{\"content\":[]}}}",
         "noise: id 9, result {\"content\":[]}"},
	{"noise", "{\"channel\":\"stderr\",\"text\":\"banner 3\\n\"}", "noise: stderr, banner 3"},
	{"tools-changed", "{\"added\":[\"a\",\"b\"],\"removed\":[],\"changed\":[\"c\"]}",
         "tools-changed: added a, b, changed c"},
	{"retry", "{\"class\":\"overload\",\"http_status\":503,\"why\":\"HTTP 503: busy\"}",
         "retry: HTTP 503: busy"},
	{"truncated-bytes", "{\"key\":\"raw\",\"kept_bytes\":4096,\"of\":5000}",
         "truncated-bytes: key raw, kept bytes 4096, of 5000"},
	{"session-replaced", "null", "session-replaced"},
	{"session-replaced", "\"by a proxy\"", "session-replaced: by a proxy"},
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf text = BUF(BUF_MAX_SMALL), event = BUF(BUF_MAX_SMALL);
		struct line line = {.type = LINE_EVENT};

		buf_printf(&event, "\"%s\"", cases[i].event);
		line.value[KEY_EVENT] = buf_view(&event);
		line.value[KEY_DETAIL] = str_from(cases[i].detail);
		event_text(&text, &line);
		is_str(buf_cstr(&text), cases[i].want, "%s %zu", cases[i].event, i);
		buf_release(&text);
		buf_release(&event);
	}
	return done();
}
