/* Loads libcurl: linking it would make the start of every command three times as long, as it brings
   25 other libraries. Its functions are called through this table, except curl_easy_setopt and
   curl_easy_getinfo, which keep their names: curl.h checks the type of their last argument. */
#ifndef ROLLDBG_NET_CURL_LIBRARY_H
#define ROLLDBG_NET_CURL_LIBRARY_H

#include "base/error.h"

#include <curl/curl.h>

struct curl_library {
	void *handle;
	__typeof__(curl_easy_cleanup) *easy_cleanup;
	__typeof__(curl_easy_getinfo) *easy_getinfo;
	__typeof__(curl_easy_init) *easy_init;
	__typeof__(curl_easy_pause) *easy_pause;
	__typeof__(curl_easy_recv) *easy_recv;
	__typeof__(curl_easy_send) *easy_send;
	__typeof__(curl_easy_setopt) *easy_setopt;
	__typeof__(curl_easy_strerror) *easy_strerror;
	__typeof__(curl_free) *free;
	__typeof__(curl_global_cleanup) *global_cleanup;
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_multi_add_handle) *multi_add_handle;
	__typeof__(curl_multi_cleanup) *multi_cleanup;
	__typeof__(curl_multi_info_read) *multi_info_read;
	__typeof__(curl_multi_init) *multi_init;
	__typeof__(curl_multi_perform) *multi_perform;
	__typeof__(curl_multi_poll) *multi_poll;
	__typeof__(curl_multi_remove_handle) *multi_remove_handle;
	__typeof__(curl_multi_setopt) *multi_setopt;
	__typeof__(curl_multi_strerror) *multi_strerror;
	__typeof__(curl_slist_append) *slist_append;
	__typeof__(curl_slist_free_all) *slist_free_all;
	__typeof__(curl_url) *url;
	__typeof__(curl_url_cleanup) *url_cleanup;
	__typeof__(curl_url_get) *url_get;
	__typeof__(curl_url_set) *url_set;
};

/* Filled in by curl_library_load. */
extern struct curl_library curl;

/* Call before the first thread; may be called again. It stays loaded. */
MUST_USE int curl_library_load(struct error *err);

#endif
