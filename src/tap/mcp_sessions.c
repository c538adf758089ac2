/* The table of the sessions of MCP clients: see mcp_client.h. */
#include "tap/mcp_client.h"

#include <stdlib.h>

#define CLIENTS_MAX 4096 /* sessions that are neither deleted nor used: the oldest is ended */
#define TOOLS_MAX   ((size_t)16 << 20)

struct mcp_client *mcp_client_find(struct mcp_decoder *d, enum mcp_name by, struct str name)
{
	struct mcp_named *n = name.n ? map_find(&d->names[by], map_hash(name), STR_NONE) : NULL;

	return n ? n->client : NULL;
}

static void unname(struct mcp_client *c, enum mcp_name by)
{
	if (c->names[by].client) {
		map_remove(&c->decoder->names[by], &c->names[by].item);
		c->names[by].client = NULL;
	}
}

void mcp_client_name(struct mcp_client *c, enum mcp_name by, struct str name)
{
	struct mcp_client *other = mcp_client_find(c->decoder, by, name);

	unname(c, by);
	if (other && other != c)
		unname(other, by);
	if (name.n) {
		map_add(&c->decoder->names[by], &c->names[by].item, map_hash(name));
		c->names[by].client = c;
	}
}

/* Clients that never delete their sessions do not fill the memory. */
static void make_room(struct mcp_decoder *d)
{
	struct mcp_client *c = d->first;

	while (d->count >= CLIENTS_MAX && c) {
		struct mcp_client *next = c->next;
		struct tap_ending e = {.first = TAP_NOBODY,
		                       .why = STR("the client left the session open")};

		if (!c->exchanges && !c->pending)
			mcp_client_end(c, &e);
		c = next;
	}
}

struct mcp_client *mcp_client_new(struct mcp_decoder *d, const struct tap_connection *connection,
                                  struct str id)
{
	struct tap_session_start f = {.connection = connection, .protocol = "mcp", .session = id};

	make_room(d);
	struct mcp_client *c = mem_new(sizeof(*c));
	*c = (struct mcp_client){.decoder = d,
	                         .connection = connection->id,
	                         .previous = d->last,
	                         .config = BUF(BUF_MAX_SMALL),
	                         .start = BUF(BUF_MAX_MESSAGE),
	                         .tools = BUF(TOOLS_MAX),
	                         .ending = {REPLY_UNKNOWN},
	                         .session = tap_session_begin(d->recording, &f)};
	struct buf *facts[] = {&c->held.status.text, &c->held.status.why, &c->held.reward.text,
	                       &c->held.reward.why};
	for (size_t i = 0; i < ARRAY_LEN(facts); i++)
		*facts[i] = BUF(BUF_MAX_SMALL);
	mcp_known_init(&c->known, &c->events);
	c->id = arena_str(&c->texts, id);
	mcp_client_name(c, MCP_BY_ID, id);
	*(d->last ? &d->last->next : &d->first) = c;
	d->last = c;
	d->count++;
	return c;
}

void mcp_pending_free(struct mcp_pending *p)
{
	free(p->id);
	free(p);
}

static void free_client(struct mcp_client *c)
{
	struct buf *all[] = {&c->config,           &c->start,           &c->tools,
	                     &c->held.status.text, &c->held.status.why, &c->held.reward.text,
	                     &c->held.reward.why};

	for (struct mcp_pending *p = c->pending, *next; p; p = next) {
		next = p->next;
		mcp_pending_free(p);
	}
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		buf_release(all[i]);
	mcp_known_release(&c->known);
	events_release(&c->events);
	ignore_paths_release(&c->ignored);
	arena_release(&c->held.kept);
	arena_release(&c->texts);
	free(c);
}

void mcp_client_end(struct mcp_client *c, const struct tap_ending *e)
{
	struct mcp_decoder *d = c->decoder;

	if (c->over)
		return;
	mcp_client_flush(c);
	tap_session_end(c->session, e, NULL);
	c->session = NULL;
	c->over = true;
	for (int by = 0; by < MCP_NAMES; by++)
		unname(c, (enum mcp_name)by);
	*(c->previous ? &c->previous->next : &d->first) = c->next;
	*(c->next ? &c->next->previous : &d->last) = c->previous;
	d->count--;
	if (!c->exchanges)
		free_client(c);
}

void mcp_client_leave(struct mcp_client *c)
{
	c->exchanges--;
	if (c->over && !c->exchanges)
		free_client(c);
}
