/* The supported MCP revisions, from revisions.def: with sessions ("legacy") or without
   ("modern"). */
#ifndef ROLLDBG_ENV_MCP_REVISIONS_H
#define ROLLDBG_ENV_MCP_REVISIONS_H

#include "base/base.h"

const char *mcp_newest_revision(bool sessions);
const char *mcp_oldest_revision(bool sessions);

/* The supported revision with that name (a raw JSON string); NULL: none. */
const char *mcp_revision_named(struct str string, bool sessions);
/* The newest supported one in a raw JSON array of strings; NULL: none. */
const char *mcp_revision_in(struct str list, bool sessions);

/* Is it sent in a header of each HTTP request? */
bool mcp_revision_has_header(const char *revision);

#endif
