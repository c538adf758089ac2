/* libmicrohttpd's functions: see mhd_library.h. */
#include "serve/host/mhd_library.h"

#include "base/base.h"
#include "base/library.h"

struct mhd_library mhd;

#define FUNCTION(name) {offsetof(struct mhd_library, name), "MHD_" #name}
static const struct library_function functions[] = {
	FUNCTION(add_response_header),
	FUNCTION(create_response_for_upgrade),
	FUNCTION(create_response_from_buffer),
	FUNCTION(create_response_from_buffer_with_free_callback),
	FUNCTION(create_response_from_callback),
	FUNCTION(destroy_response),
	FUNCTION(get_connection_values),
	FUNCTION(lookup_connection_value),
	FUNCTION(queue_response),
	FUNCTION(resume_connection),
	FUNCTION(set_connection_option),
	FUNCTION(start_daemon),
	FUNCTION(stop_daemon),
	FUNCTION(suspend_connection),
	FUNCTION(upgrade_action),
};

int mhd_library_load(struct error *err)
{
	if (!mhd.handle) {
		mhd.handle = library_load("libmicrohttpd.so.12", functions, ARRAY_LEN(functions),
		                          &mhd, "serve requests", err);
	}
	return mhd.handle ? 0 : -1;
}
