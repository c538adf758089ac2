/* Replies that web pages of allowed origins may read (Fetch Standard, "CORS protocol"): only
   pages let in by name get these headers, see strangers.h. */
#ifndef ROLLDBG_SERVE_HOST_CORS_H
#define ROLLDBG_SERVE_HOST_CORS_H

#include "serve/host/host.h"
#include "serve/host/strangers.h"

/* Does the browser ask what it may send? Call it after strangers_refuse. */
bool cors_is_preflight(const struct allowed_origins *allowed, struct MHD_Connection *connection,
                       struct str method);

/* Answers a preflight: the methods of our servers, and the headers that it asks for. */
enum MHD_Result cors_answer_preflight(struct MHD_Connection *connection);

/* Lets the page of an allowed origin read the response; nothing without an Origin. */
void cors_add(struct MHD_Response *response, const struct allowed_origins *allowed,
              struct MHD_Connection *connection);

#endif
