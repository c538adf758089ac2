/* The MCP revisions that can be spoken, from revisions.def: with sessions ("legacy") or without
   ("modern"). */
#ifndef ROLLDBG_ENV_MCP_REVISIONS_H
#define ROLLDBG_ENV_MCP_REVISIONS_H

#include "base/base.h"

const char *mcp_newest_revision(bool sessions);
const char *mcp_oldest_revision(bool sessions);

/* The one that a raw JSON string names; NULL: none of ours. */
const char *mcp_revision_named(struct str string, bool sessions);
/* The newest of ours in a raw JSON array of strings; NULL: none. */
const char *mcp_revision_in(struct str list, bool sessions);

/* Is it repeated in a header of each HTTP request? */
bool mcp_revision_has_header(const char *revision);

#endif
