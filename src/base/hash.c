/* Hashes through libcrypto. SHA-256 and SHA-1 are called directly, which OpenSSL 3 deprecates but
   keeps: its newer interface looks algorithms up by name, and the first look-up of a process takes as
   long as 1,500 hashes of a small state. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/hash.h"

#include "base/mem.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <unistd.h>

static void put_hex(const unsigned char *raw, size_t n, char *out)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = hex[raw[i] >> 4];
		out[2 * i + 1] = hex[raw[i] & 15];
	}
	out[2 * n] = '\0';
}

void hash_sha256(struct str s, unsigned char out[HASH_SHA256_BYTES])
{
	SHA256_CTX c;

	if (!SHA256_Init(&c) || !SHA256_Update(&c, s.p, s.n) || !SHA256_Final(out, &c))
		abort();
}

void hash_hex(struct str s, char out[HASH_HEX + 1])
{
	unsigned char raw[HASH_SHA256_BYTES];

	hash_sha256(s, raw);
	put_hex(raw, HASH_HEX / 2, out);
}

void hash_md5_hex(struct str s, char out[HASH_HEX + 1])
{
	unsigned char raw[EVP_MAX_MD_SIZE];

	out[0] = '\0';
	/* FIPS providers lack MD5: no id is better than a wrong one */
	if (EVP_Q_digest(NULL, "MD5", NULL, s.p, s.n, raw, NULL))
		put_hex(raw, HASH_HEX / 2, out);
}

bool hash_sha256_fd(int fd, char out[HASH_SHA256_HEX + 1], int64_t *bytes)
{
	unsigned char raw[HASH_SHA256_BYTES];
	size_t size = (size_t)1 << 16;
	char *block = mem_new(size);
	SHA256_CTX c;
	ssize_t n;

	*bytes = 0;
	if (!SHA256_Init(&c))
		abort();
	while ((n = read(fd, block, size)) > 0) {
		*bytes += n;
		SHA256_Update(&c, block, (size_t)n);
	}
	free(block);
	if (!SHA256_Final(raw, &c))
		abort();
	put_hex(raw, sizeof(raw), out);
	return n == 0;
}

void hash_sha1(struct str s, unsigned char out[HASH_SHA1_BYTES])
{
	SHA_CTX c;

	if (!SHA1_Init(&c) || !SHA1_Update(&c, s.p, s.n) || !SHA1_Final(out, &c))
		abort();
}

/* ---- a fast hash ---- */

static uint64_t load(const char *p, size_t n)
{
	uint64_t word = 0;

	memcpy(&word, p, n);
	return word;
}

/* 1 to 8 bytes. Loads of constant size, which overlap, need no call of memcpy. */
static uint64_t last_word(const char *p, size_t n)
{
	if (n >= 4)
		return load(p, 4) | load(p + n - 4, 4) << 8 * (n - 4);
	return load(p, 1) | load(p + n / 2, 1) << 8 * (n / 2) | load(p + n - 1, 1) << 8 * (n - 1);
}

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0xff51afd7ed558ccdu;
	return h ^ h >> 32;
}

uint64_t fingerprint(struct str s)
{
	uint64_t h = s.n * 0x9e3779b97f4a7c15u;

	for (; s.n > 8; s = str_skip(s, 8))
		h = mix(h, load(s.p, 8));
	return s.n ? mix(h, last_word(s.p, s.n)) : h;
}
