/* Asks a server for its description: see learn.h. */
#include "tap/learn.h"

#include "env/http_json.h"
#include "tap/flow.h"

/* False: there is no use in asking further. */
static bool learn_page(struct tap_reader *r, struct http_json *h, const char *path)
{
	struct error err = {0};
	struct str body;
	int status;

	if (http_json_page(h, path, &status, &body, &err) || status != 200 || !body.p)
		return false;
	tap_reader_tell_page(r, path, body);
	return true;
}

void tap_learn(struct tap_reader *r, struct io *io, const char *url)
{
	struct env_conf conf = {.url = url, .timeout_ms = LEARN_MS};
	struct event_queue unread = {0};
	struct http_json pages;

	if (str_ends(str_from(url), STR("/mcp")) || str_ends(str_from(url), STR("/mcp/")))
		return;
	io_limit(io, LEARN_MS);
	http_json_init(&pages, &conf, io, &unread);
	if (learn_page(r, &pages, "/schema"))
		(void)learn_page(r, &pages, "/metadata");
	http_json_release(&pages);
	events_release(&unread);
}
