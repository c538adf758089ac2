/* The first line is a secret, the rest is text of a peer: a secret is not left in it as it is, and the
   result is at most a replacement for every byte. */
#include "json/write.h"
#include "recording/redact/redact.h"
#include "replies.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PUT "<redacted>"

static bool holds(struct str text, struct str secret)
{
	for (size_t at = 0; at + secret.n <= text.n; at++)
		if (memcmp(text.p + at, secret.p, secret.n) == 0)
			return true;
	return false;
}

static void check(const struct secrets *s, struct str text, struct str secret)
{
	AUTO_BUF out = BUF(BUF_MAX_MESSAGE);

	secrets_redact(s, text, &out);
	require(out.n <= text.n * (sizeof(PUT) - 1));
	/* else it is a part of the replacements, and of what is between them */
	if (!memchr(secret.p, '<', secret.n) && !memchr(secret.p, '>', secret.n))
		require(!holds(buf_view(&out), secret) || holds(STR(PUT), secret));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = {(const char *)data, size}, secret = text_trim(take_line(&rest));
	struct secrets *s = secrets_new();
	AUTO_BUF quoted = BUF(BUF_MAX_MESSAGE);

	if (secrets_add(s, secret)) {
		check(s, rest, secret);
		json_quote(&quoted, secret);
		check(s, buf_view(&quoted), secret);
	}
	secrets_free(s);
	return 0;
}
