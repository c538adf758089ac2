/* libcurl's functions: see curl_library.h. */
#define CURL_DISABLE_TYPECHECK /* the macros would replace the names that are defined here */
#include "net/curl_library.h"

#include "base/base.h"
#include "base/library.h"

#include <stdarg.h>

struct curl_library curl;

#define FUNCTION(name) {offsetof(struct curl_library, name), "curl_" #name}
static const struct library_function functions[] = {
	FUNCTION(easy_cleanup),  FUNCTION(easy_getinfo),
	FUNCTION(easy_init),     FUNCTION(easy_pause),
	FUNCTION(easy_recv),     FUNCTION(easy_send),
	FUNCTION(easy_setopt),   FUNCTION(easy_strerror),
	FUNCTION(free),          FUNCTION(global_cleanup),
	FUNCTION(global_init),   FUNCTION(multi_add_handle),
	FUNCTION(multi_cleanup), FUNCTION(multi_info_read),
	FUNCTION(multi_init),    FUNCTION(multi_perform),
	FUNCTION(multi_poll),    FUNCTION(multi_remove_handle),
	FUNCTION(multi_setopt),  FUNCTION(multi_strerror),
	FUNCTION(slist_append),  FUNCTION(slist_free_all),
	FUNCTION(url),           FUNCTION(url_cleanup),
	FUNCTION(url_get),       FUNCTION(url_set),
};

int curl_library_load(struct error *err)
{
	if (!curl.handle) {
		curl.handle = library_load("libcurl.so.4", functions, ARRAY_LEN(functions), &curl,
		                           "send requests", err);
	}
	return curl.handle ? 0 : -1;
}

#undef curl_easy_setopt
#undef curl_easy_getinfo

/* The number of an option tells the type of its argument. (Blobs have numbers above; none is set.) */
CURLcode curl_easy_setopt(CURL *easy, CURLoption option, ...)
{
	CURLcode rc;
	va_list rest;

	va_start(rest, option);
	if (option < CURLOPTTYPE_OBJECTPOINT) {
		long number = va_arg(rest, long);
		rc = curl.easy_setopt(easy, option, number);
	} else if (option < CURLOPTTYPE_OFF_T) {
		void *pointer = va_arg(rest, void *);
		rc = curl.easy_setopt(easy, option, pointer);
	} else {
		curl_off_t size = va_arg(rest, curl_off_t);
		rc = curl.easy_setopt(easy, option, size);
	}
	va_end(rest);
	return rc;
}

/* The argument is always a pointer. */
CURLcode curl_easy_getinfo(CURL *easy, CURLINFO info, ...)
{
	va_list rest;

	va_start(rest, info);
	CURLcode rc = curl.easy_getinfo(easy, info, va_arg(rest, void *));
	va_end(rest);
	return rc;
}
