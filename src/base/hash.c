/* Hashes through libcrypto: the only file that includes its headers. */
#include "base/hash.h"

#include "base/mem.h"

#include <openssl/evp.h>
#include <stdlib.h>

struct hasher {
	EVP_MD *sha256, *md5;
	EVP_MD_CTX *ctx;
};

struct hasher *hasher_new(void)
{
	return mem_new(sizeof(struct hasher));
}

void hasher_free(struct hasher *h)
{
	if (!h) {
		return;
	}
	EVP_MD_CTX_free(h->ctx);
	EVP_MD_free(h->sha256);
	EVP_MD_free(h->md5);
	free(h);
}

static void digest_hex(struct hasher *h, const EVP_MD *kind, struct str s, char out[HASH_HEX + 1])
{
	static const char hex[] = "0123456789abcdef";
	unsigned char raw[EVP_MAX_MD_SIZE] = {0};

	if (!EVP_DigestInit_ex2(h->ctx, kind, NULL) || !EVP_DigestUpdate(h->ctx, s.p, s.n) ||
	    !EVP_DigestFinal_ex(h->ctx, raw, NULL)) {
		abort();
	}
	for (size_t i = 0; i < HASH_HEX / 2; i++) {
		out[2 * i] = hex[raw[i] >> 4];
		out[2 * i + 1] = hex[raw[i] & 15];
	}
	out[HASH_HEX] = '\0';
}

/* Fetches the algorithm on first use: libcrypto then reads its configuration, which takes longer
   than checking a small recording, and checking most recordings needs no hash. */
static void need(struct hasher *h, EVP_MD **kind, const char *name)
{
	if (!*kind) {
		*kind = EVP_MD_fetch(NULL, name, NULL);
	}
	if (!h->ctx) {
		h->ctx = EVP_MD_CTX_new();
	}
}

void hash_hex(struct hasher *h, struct str s, char out[HASH_HEX + 1])
{
	need(h, &h->sha256, "SHA256");
	if (!h->sha256 || !h->ctx) {
		abort(); /* every libcrypto has SHA-256 */
	}
	digest_hex(h, h->sha256, s, out);
}

void hash_md5_hex(struct hasher *h, struct str s, char out[HASH_HEX + 1])
{
	need(h, &h->md5, "MD5");
	/* FIPS providers lack MD5: no id is better than a wrong one */
	if (!h->md5 || !h->ctx) {
		out[0] = '\0';
		return;
	}
	digest_hex(h, h->md5, s, out);
}

void hash_sha256(struct str s, unsigned char out[HASH_SHA256_BYTES])
{
	unsigned n = 0;

	if (!EVP_Digest(s.p, s.n, out, &n, EVP_sha256(), NULL) || n != HASH_SHA256_BYTES) {
		abort();
	}
}

void hash_sha1(struct str s, unsigned char out[HASH_SHA1_BYTES])
{
	unsigned n = 0;

	if (!EVP_Digest(s.p, s.n, out, &n, EVP_sha1(), NULL) || n != HASH_SHA1_BYTES) {
		abort();
	}
}
