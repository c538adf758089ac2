/* Loads libmicrohttpd: linking it would make the start of every command longer, as for libcurl
   (net/curl_library.h). Its functions are called through this table. */
#ifndef ROLLDBG_SERVE_HOST_MHD_LIBRARY_H
#define ROLLDBG_SERVE_HOST_MHD_LIBRARY_H

#include "base/error.h"

#include <microhttpd.h>

struct mhd_library {
	void *handle;
	__typeof__(MHD_add_response_header) *add_response_header;
	__typeof__(MHD_create_response_for_upgrade) *create_response_for_upgrade;
	__typeof__(MHD_create_response_from_buffer) *create_response_from_buffer;
	__typeof__(MHD_create_response_from_buffer_with_free_callback)
		*create_response_from_buffer_with_free_callback;
	__typeof__(MHD_create_response_from_callback) *create_response_from_callback;
	__typeof__(MHD_destroy_response) *destroy_response;
	__typeof__(MHD_get_connection_values) *get_connection_values;
	__typeof__(MHD_lookup_connection_value) *lookup_connection_value;
	__typeof__(MHD_queue_response) *queue_response;
	__typeof__(MHD_resume_connection) *resume_connection;
	__typeof__(MHD_set_connection_option) *set_connection_option;
	__typeof__(MHD_start_daemon) *start_daemon;
	__typeof__(MHD_stop_daemon) *stop_daemon;
	__typeof__(MHD_suspend_connection) *suspend_connection;
	__typeof__(MHD_upgrade_action) *upgrade_action;
};

/* Filled in by mhd_library_load. */
extern struct mhd_library mhd;

/* May be called again, but not in two threads at once. It stays loaded. */
MUST_USE int mhd_library_load(struct error *err);

#endif
