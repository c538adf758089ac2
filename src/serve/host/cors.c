/* CORS headers: see cors.h. */
#include "serve/host/cors.h"

#define METHODS "GET, POST, DELETE"
#define MAX_AGE "600" /* seconds; browsers have caps of their own */

/* The request's origin if it was allowed explicitly. NUL-terminated, as header values are. */
static const char *origin_of(const struct allowed_origins *allowed,
                             struct MHD_Connection *connection)
{
	struct str origin = host_header(connection, "origin");

	return origin_is_listed(allowed, origin) ? origin.p : NULL;
}

static void add_origin(struct MHD_Response *response, const char *origin)
{
	host_add_header(response, "access-control-allow-origin", origin);
	host_add_header(response, "vary", "Origin");
}

bool cors_is_preflight(const struct allowed_origins *allowed, struct MHD_Connection *connection,
                       struct str method)
{
	return str_is(method, "OPTIONS") && origin_of(allowed, connection) &&
	       host_header(connection, "access-control-request-method").n > 0;
}

enum MHD_Result cors_answer_preflight(struct MHD_Connection *connection)
{
	struct str headers = host_header(connection, "access-control-request-headers");
	struct MHD_Response *response =
		MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

	if (!response) {
		return MHD_NO;
	}
	add_origin(response, host_header(connection, "origin").p);
	host_add_header(response, "access-control-allow-methods", METHODS);
	if (headers.n) {
		host_add_header(response, "access-control-allow-headers", headers.p);
	}
	host_add_header(response, "access-control-max-age", MAX_AGE);
	enum MHD_Result sent = MHD_queue_response(connection, 204, response);

	MHD_destroy_response(response);
	return sent;
}

void cors_add(struct MHD_Response *response, const struct allowed_origins *allowed,
              struct MHD_Connection *connection)
{
	const char *origin = origin_of(allowed, connection);

	if (origin) {
		add_origin(response, origin);
		host_add_header(response, "access-control-expose-headers", "mcp-session-id");
	}
}
