/* SHA-256, MD5 and SHA-1 through libcrypto. */
#pragma once

#include "base/base.h"

#define HASH_HEX 32 /* number of hex digits of a state hash: the first half of a SHA-256 */

/* The first 32 hex digits of SHA-256 over s, terminated. */
void hash_hex(struct str s, char out[HASH_HEX + 1]);
/* MD5 as 32 hex digits: only for ids that frameworks derive with it, never for comparisons. Empty if
   libcrypto has none. */
void hash_md5_hex(struct str s, char out[HASH_HEX + 1]);

/* Raw SHA-256. */
#define HASH_SHA256_BYTES 32
void hash_sha256(struct str s, unsigned char out[HASH_SHA256_BYTES]);

/* Of all that is left to read from a descriptor, as hex digits, terminated; false: reading failed. */
#define HASH_SHA256_HEX (2 * HASH_SHA256_BYTES)
bool hash_sha256_fd(int fd, char out[HASH_SHA256_HEX + 1], int64_t *bytes);

/* Raw SHA-1: only for handshakes that require it (RFC 6455 section 4.2.2). */
#define HASH_SHA1_BYTES 20
void hash_sha1(struct str s, unsigned char out[HASH_SHA1_BYTES]);

/* A fast hash, to compare values that are too long to store. Not for map keys, because a peer could
   choose colliding values: see base/map.h. Equal for equal bytes; different values collide with probability 2^-64. Reads eight bytes at a
   time, because replies are long. */
uint64_t fingerprint(struct str s);
