/* CORS headers (Fetch Standard, "CORS protocol"), for pages of explicitly allowed origins only:
   see origin.h. */
#ifndef ROLLDBG_SERVE_HOST_CORS_H
#define ROLLDBG_SERVE_HOST_CORS_H

#include "serve/host/host.h"
#include "serve/host/origin.h"

/* Is it a preflight request? Call it after origin_refuse. */
bool cors_is_preflight(const struct allowed_origins *allowed, struct MHD_Connection *connection,
                       struct str method);

/* Answers a preflight request: allows our servers' methods, and the headers it lists. */
enum MHD_Result cors_answer_preflight(struct MHD_Connection *connection);

/* Lets the page of an allowed origin read the response. No effect without an Origin header. */
void cors_add(struct MHD_Response *response, const struct allowed_origins *allowed,
              struct MHD_Connection *connection);

#endif
