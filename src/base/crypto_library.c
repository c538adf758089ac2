/* libcrypto's functions: see crypto_library.h. */
#include "base/crypto_library.h"

#include "base/base.h"
#include "base/library.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static struct crypto_library library;

#define FUNCTION(name) {offsetof(struct crypto_library, name), #name}
static const struct library_function functions[] = {
	FUNCTION(EVP_DecodeFinal),     FUNCTION(EVP_DecodeInit),     FUNCTION(EVP_DecodeUpdate),
	FUNCTION(EVP_DigestFinal_ex),  FUNCTION(EVP_DigestInit_ex2), FUNCTION(EVP_DigestUpdate),
	FUNCTION(EVP_ENCODE_CTX_free), FUNCTION(EVP_ENCODE_CTX_new), FUNCTION(EVP_EncodeBlock),
	FUNCTION(EVP_MD_CTX_free),     FUNCTION(EVP_MD_CTX_new),     FUNCTION(EVP_MD_fetch),
	FUNCTION(EVP_MD_free),         FUNCTION(SHA1_Final),         FUNCTION(SHA1_Init),
	FUNCTION(SHA1_Update),         FUNCTION(SHA256_Final),       FUNCTION(SHA256_Init),
	FUNCTION(SHA256_Update),
};

static void load(void)
{
	struct error err;

	library.handle = library_load("libcrypto.so.3", functions, ARRAY_LEN(functions), &library,
	                              "compute hashes", &err);
	if (!library.handle) {
		fprintf(stderr, "rolldbg: %s\n", err.text);
		_exit(fail_exit_code(FAIL_SYSTEM));
	}
}

const struct crypto_library *crypto(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return &library;
}
