/* Loads libcrypto: linking it would double the time that a command without hashes takes to start. Its
   functions are called through this table. */
#ifndef ROLLDBG_BASE_CRYPTO_LIBRARY_H
#define ROLLDBG_BASE_CRYPTO_LIBRARY_H

#define OPENSSL_SUPPRESS_DEPRECATED /* see hash.c */
#include <openssl/evp.h>
#include <openssl/sha.h>

struct crypto_library {
	void *handle;
	__typeof__(EVP_DecodeFinal) *EVP_DecodeFinal;
	__typeof__(EVP_DecodeInit) *EVP_DecodeInit;
	__typeof__(EVP_DecodeUpdate) *EVP_DecodeUpdate;
	__typeof__(EVP_DigestFinal_ex) *EVP_DigestFinal_ex;
	__typeof__(EVP_DigestInit_ex2) *EVP_DigestInit_ex2;
	__typeof__(EVP_DigestUpdate) *EVP_DigestUpdate;
	__typeof__(EVP_ENCODE_CTX_free) *EVP_ENCODE_CTX_free;
	__typeof__(EVP_ENCODE_CTX_new) *EVP_ENCODE_CTX_new;
	__typeof__(EVP_EncodeBlock) *EVP_EncodeBlock;
	__typeof__(EVP_MD_CTX_free) *EVP_MD_CTX_free;
	__typeof__(EVP_MD_CTX_new) *EVP_MD_CTX_new;
	__typeof__(EVP_MD_fetch) *EVP_MD_fetch;
	__typeof__(EVP_MD_free) *EVP_MD_free;
	__typeof__(SHA1_Final) *SHA1_Final;
	__typeof__(SHA1_Init) *SHA1_Init;
	__typeof__(SHA1_Update) *SHA1_Update;
	__typeof__(SHA256_Final) *SHA256_Final;
	__typeof__(SHA256_Init) *SHA256_Init;
	__typeof__(SHA256_Update) *SHA256_Update;
};

/* Loaded by the first call, in any thread; it stays loaded. If it is missing, the program ends with a
   message, as with a linked library. */
const struct crypto_library *crypto(void) __attribute__((returns_nonnull));

#endif
