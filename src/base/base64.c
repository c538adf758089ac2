/* Base64: see base64.h. */
#include "base/base64.h"

#include <openssl/evp.h>
#include <stdlib.h>

/* encode whole groups of three bytes at a time, so that only the last one is padded */
#define PIECE 3072

void base64_encode(struct buf *out, struct str bytes)
{
	unsigned char digits[PIECE / 3 * 4 + 1];

	while (bytes.n) {
		size_t n = bytes.n < PIECE ? bytes.n : PIECE;
		int made = EVP_EncodeBlock(digits, (const unsigned char *)bytes.p, (int)n);

		buf_add(out, (const char *)digits, (size_t)made);
		bytes = str_skip(bytes, n);
	}
}

bool base64_decode(struct buf *out, struct str text)
{
	unsigned char bytes[PIECE + 64]; /* the context may hold back up to one line */
	EVP_ENCODE_CTX *context = EVP_ENCODE_CTX_new();
	int made = 0;
	bool good = true;

	if (!context)
		abort();
	EVP_DecodeInit(context);
	while (good && text.n) {
		size_t n = text.n < PIECE ? text.n : PIECE;

		good = EVP_DecodeUpdate(context, bytes, &made, (const unsigned char *)text.p,
		                        (int)n) >= 0;
		buf_add(out, (const char *)bytes, good ? (size_t)made : 0);
		text = str_skip(text, n);
	}
	good = good && EVP_DecodeFinal(context, bytes, &made) == 1;
	buf_add(out, (const char *)bytes, good ? (size_t)made : 0);
	EVP_ENCODE_CTX_free(context);
	return good;
}
