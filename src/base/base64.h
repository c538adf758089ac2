/* Base64 (RFC 4648 section 4, with padding), through libcrypto. */
#pragma once

#include "base/buf.h"

void base64_encode(struct buf *out, struct str bytes);
/* Appends the decoded bytes; false if the text is not base64. */
MUST_USE bool base64_decode(struct buf *out, struct str text);
