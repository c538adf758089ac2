/* HTTP headers that repeat parts of a request (MCP revision 2026-07-28, "Streamable
   HTTP", Request Metadata): Mcp-Name, and Mcp-Param-* for the arguments that a tool's
   inputSchema marks with x-mcp-header. Pure: JSON in, header lines out. */
#pragma once

#include "base/buf.h"

/* Longer values, and lines that do not fit in the buffer, are omitted: the server then reports
   the missing header. */
#define MCP_HEADER_VALUE_MAX ((size_t)64 << 10)

/* These append lines, each terminated by NUL. */

/* "NAME: VALUE", with a value that is not plain ASCII in base64 between =?base64? and
   ?=, or "NAME;" if it is empty. The name must be a token. */
void mcp_header_add(struct buf *out, const char *name, struct str value);

/* A line for each marked argument that has a value. tool: as advertised, absent if
   unknown; arguments: a raw JSON object. Invalid marks are skipped. */
void mcp_header_add_params(struct buf *out, struct str tool, struct str arguments);

/* The number of x-mcp-header marks of the tool; -1 if one is invalid: `why` is the reason, and
   the tool must not be offered. */
int mcp_header_marks(struct str tool, struct buf *why);
