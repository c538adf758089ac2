/* A refusal of a model's server: its status, its headers (up to an empty line) and its body
   give a class, a message that is text, and a wait that is a number. */
#include "net/http_internal.h"
#include "policy/llm/model_failure.h"
#include "replies.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Up to the empty line; *rest is the text after it. */
static struct str take_head(struct str *rest)
{
	struct str head = {rest->p, 0};

	while (rest->n) {
		struct str line = take_line(rest);

		head.n = (size_t)(rest->p - head.p);
		if (!text_trim(line).n)
			break;
	}
	return head;
}

static void check_exchange(struct str head, int status)
{
	struct http_exchange x = {
		.status = status, .head = BUF(BUF_MAX_MESSAGE), .headers_done = true};
	uint64_t asked = 0, ms;

	x.transfer.easy = curl_easy_init();
	require(x.transfer.easy != NULL);
	buf_str(&x.head, head);
	ms = http_retry_after_ms(&x);
	require(ms == 0 || (text_u64(http_header(&x, "Retry-After-Ms"), &asked) && ms == asked));
	struct str media = http_media_type(&x);
	require(!media.n || !memchr(media.p, ';', media.n));
	http_media_is(&x, "text/event-stream");
	curl_easy_cleanup(x.transfer.easy);
	buf_release(&x.head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = {(const char *)data, size}, line = take_line(&rest);
	struct str head = take_head(&rest);
	struct chat_failure f;
	uint64_t status = 500;

	text_u64(line, &status);
	check_exchange(head, (int)(status % 1000));
	chat_failure_init(&f);
	chat_failure_from_reply(&f, (int)(status % 1000), STR("application/json"), rest);
	require(f.message.n > 0 && f.message.n <= 1024);
	require_json(f.code.n ? buf_view(&f.code) : STR_NONE);
	require(chat_failure_retries(f.class, 4) <= 4 && chat_failure_name(f.class)[0]);
	chat_failure_redirected(&f, line);
	require(f.message.n > 0);
	chat_failure_release(&f);
	return 0;
}
