/* Asks a server for its description: see learn.h. */
#include "tap/learn.h"

#include "env/openenv/wire.h"
#include "tap/flow.h"

/* False: there is no use in asking further. */
static bool learn_page(struct tap_reader *r, struct openenv_wire *w, const char *path)
{
	struct error err = {0};
	struct str body;
	int status;

	if (http_json_page(&w->http, path, &status, &body, &err) || status != 200 || !body.p) {
		return false;
	}
	tap_reader_tell_page(r, path, body);
	return true;
}

void tap_learn(struct tap_reader *r, struct io *io, const char *url)
{
	struct env_conf conf = {.url = url, .timeout_ms = LEARN_MS};
	struct event_queue unread = {0};
	struct openenv_wire wire;

	if (str_ends(str_from(url), STR("/mcp")) || str_ends(str_from(url), STR("/mcp/"))) {
		return;
	}
	io_limit(io, LEARN_MS);
	openenv_wire_init(&wire, &conf, io, &unread);
	if (learn_page(r, &wire, "/schema")) {
		(void)learn_page(r, &wire, "/metadata");
	}
	openenv_wire_release(&wire);
	events_release(&unread);
}
