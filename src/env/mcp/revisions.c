/* The table of MCP revisions: see mcp_session.h. */
#include "env/mcp/mcp_session.h"

#include "json/scan.h"

#include <string.h>

static const struct revision {
	const char *name;
	bool sessions, version_header;
} revisions[] = {
#define REVISION(name, sessions, version_header) {name, sessions, version_header},
#include "env/mcp/revisions.def"
#undef REVISION
};

const char *mcp_newest_revision(bool sessions)
{
	size_t i = 0;

	while (revisions[i].sessions != sessions)
		i++;
	return revisions[i].name;
}

const char *mcp_oldest_revision(bool sessions)
{
	size_t i = ARRAY_LEN(revisions) - 1;

	while (revisions[i].sessions != sessions)
		i--;
	return revisions[i].name;
}

const char *mcp_revision_named(struct str string, bool sessions)
{
	for (size_t i = 0; i < ARRAY_LEN(revisions); i++) {
		if (revisions[i].sessions == sessions &&
		    json_is(string, str_from(revisions[i].name))) {
			return revisions[i].name;
		}
	}
	return NULL;
}

const char *mcp_revision_in(struct str list, bool sessions)
{
	const char *newest = NULL;
	struct str each;

	for (size_t cursor = 0; json_next(list, &cursor, &each);) {
		const char *named = mcp_revision_named(each, sessions);

		/* dates: their order is that of their bytes */
		if (named && (!newest || strcmp(named, newest) > 0))
			newest = named;
	}
	return newest;
}

bool mcp_revision_has_header(const char *revision)
{
	for (size_t i = 0; i < ARRAY_LEN(revisions); i++)
		if (strcmp(revisions[i].name, revision) == 0)
			return revisions[i].version_header;
	return false;
}
