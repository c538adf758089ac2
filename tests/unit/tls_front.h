/* A TLS front of a plain server, and its certificates: a private authority, and leaves for
   any name and any period. It serves one connection at a time, on its own port. */
#pragma once

#include "ws_server.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>

struct tls_ca {
	EVP_PKEY *key;
	X509 *cert;
};

struct tls_front {
	SSL_CTX *ctx;
	int listener;
	uint16_t port, to;
	char offered[64]; /* the ALPN protocols of the last client */
	pthread_t thread;
};

static inline void tls_extend(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;

	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	if (!e || !X509_add_ext(cert, e, -1))
		abort();
	X509_EXTENSION_free(e);
}

/* ca NULL: self-signed. Valid from two days ago until that many seconds from now. */
static inline X509 *tls_cert(const struct tls_ca *ca, EVP_PKEY *key, const char *name,
                             const char *san, long seconds)
{
	X509 *cert = X509_new();
	X509_NAME *subject = X509_get_subject_name(cert);
	X509 *issuer = ca ? ca->cert : cert;

	X509_set_version(cert, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(cert), ca ? 2 : 1);
	X509_gmtime_adj(X509_getm_notBefore(cert), -172800);
	X509_gmtime_adj(X509_getm_notAfter(cert), seconds);
	X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1,
	                           0);
	X509_set_issuer_name(cert, X509_get_subject_name(issuer));
	X509_set_pubkey(cert, key);
	tls_extend(cert, issuer, NID_basic_constraints, ca ? "CA:FALSE" : "CA:TRUE");
	if (san)
		tls_extend(cert, issuer, NID_subject_alt_name, san);
	if (!X509_sign(cert, ca ? ca->key : key, EVP_sha256()))
		abort();
	return cert;
}

static inline struct tls_ca tls_ca_new(const char *pem_file)
{
	struct tls_ca ca = {.key = EVP_EC_gen("P-256")};
	FILE *f = fopen(pem_file, "w");

	ca.cert = tls_cert(NULL, ca.key, "a private authority", NULL, 86400);
	if (!f || !PEM_write_X509(f, ca.cert) || fclose(f))
		abort();
	return ca;
}

static inline void tls_ca_free(struct tls_ca *ca)
{
	X509_free(ca->cert);
	EVP_PKEY_free(ca->key);
}

static inline int tls_note_alpn(SSL *ssl, const unsigned char **out, unsigned char *n,
                                const unsigned char *in, unsigned int in_n, void *arg)
{
	struct tls_front *f = arg;

	(void)ssl;
	snprintf(f->offered, sizeof(f->offered), "%.*s", (int)in_n, (const char *)in);
	*out = in + 1;
	*n = in[0];
	return SSL_TLSEXT_ERR_OK;
}

static inline bool tls_pass_in(SSL *ssl, int plain)
{
	char bytes[16384];

	do {
		int n = SSL_read(ssl, bytes, sizeof(bytes));

		if (n <= 0)
			return false;
		wss_write(plain, bytes, (size_t)n);
	} while (SSL_pending(ssl) > 0);
	return true;
}

static inline bool tls_pass_out(SSL *ssl, int plain)
{
	char bytes[16384];
	ssize_t n = recv(plain, bytes, sizeof(bytes), 0);

	return n > 0 && SSL_write(ssl, bytes, (int)n) > 0;
}

static inline void tls_pump(SSL *ssl, int fd, int plain)
{
	struct pollfd ready[] = {{.fd = fd, .events = POLLIN}, {.fd = plain, .events = POLLIN}};

	for (bool open = true; open;) {
		poll(ready, 2, -1);
		if (ready[0].revents)
			open = tls_pass_in(ssl, plain);
		if (open && ready[1].revents)
			open = tls_pass_out(ssl, plain);
	}
}

static inline void *tls_serve(void *arg)
{
	struct tls_front *f = arg;
	struct sockaddr_in to = {.sin_family = AF_INET,
	                         .sin_port = htons(f->to),
	                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd;

	while ((fd = accept(f->listener, NULL, NULL)) >= 0) {
		SSL *ssl = SSL_new(f->ctx);

		SSL_set_fd(ssl, fd);
		if (SSL_accept(ssl) == 1) {
			int plain = socket(AF_INET, SOCK_STREAM, 0);

			if (connect(plain, (struct sockaddr *)&to, sizeof(to)) == 0)
				tls_pump(ssl, fd, plain);
			close(plain);
		}
		SSL_free(ssl);
		close(fd);
	}
	return NULL;
}

/* san: for example "IP:127.0.0.1". to: the plain server's port. */
static inline void tls_front_start(struct tls_front *f, const struct tls_ca *ca, const char *san,
                                   long seconds, uint16_t to)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = tls_cert(ca, key, "front", san, seconds);

	*f = (struct tls_front){.ctx = SSL_CTX_new(TLS_server_method()), .to = to};
	SSL_CTX_set_alpn_select_cb(f->ctx, tls_note_alpn, f);
	if (SSL_CTX_use_certificate(f->ctx, cert) != 1 || SSL_CTX_use_PrivateKey(f->ctx, key) != 1)
		abort();
	X509_free(cert);
	EVP_PKEY_free(key);
	f->listener = loopback_listen(&f->port);
	if (pthread_create(&f->thread, NULL, tls_serve, f) != 0)
		abort();
}

static inline void tls_front_stop(struct tls_front *f)
{
	shutdown(f->listener, SHUT_RDWR);
	pthread_join(f->thread, NULL);
	close(f->listener);
	SSL_CTX_free(f->ctx);
}
