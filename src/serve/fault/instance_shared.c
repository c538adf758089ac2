/* Fault instance-shared: the server of core 0.1. No WebSocket and no schemas; /reset, /step and
   /state of all clients use the process's single environment. */
#include "serve/fault/hooks.h"

#include "json/scan.h"

#include <stdlib.h>

static void reset(struct openenv *o, const struct request *q, struct reply *r)
{
	(void)q;
	episode_begin(&o->shared, &o->conf, openenv_next_seed(o), STR_NONE);
	r->status = 200;
	r->type = "application/json";
	episode_observe(&o->shared, false, METADATA_NOWHERE, &r->body);
}

/* The action: the member `action`, or the object itself. */
static void step(struct openenv *o, const struct request *q, struct reply *r)
{
	struct json_fault fault;
	struct buf why = BUF(BUF_MAX_MESSAGE);
	bool valid = json_validate(q->body, &fault) == 0;
	struct str inner = valid ? JSON_GET(q->body, "action") : STR_NONE;
	struct str action = json_type(inner) == JSON_OBJECT ? inner : q->body;

	r->wait_ms = fault_wait_ms(&o->conf);
	if (r->wait_ms > 0 && !q->waited) {
		r->action = REPLY_WAIT;
	} else if (valid && episode_act(&o->shared, action, METADATA_NOWHERE, &r->body, &why)) {
		atomic_fetch_add(&o->steps, 1);
		r->status = 200;
		r->type = "application/json";
	} else {
		reply_text(r, 500, "Internal Server Error");
	}
	buf_release(&why);
}

static void state(struct openenv *o, const struct request *q, struct reply *r)
{
	(void)q;
	r->status = 200;
	r->type = "application/json";
	episode_state(&o->shared, &r->body);
}

static void reply_json(struct reply *r, unsigned status, const char *json)
{
	r->status = status;
	r->type = "application/json";
	buf_text(&r->body, json);
}

static void health(struct openenv *o, const struct request *q, struct reply *r)
{
	(void)o, (void)q;
	reply_json(r, 200, "{\"status\":\"healthy\"}");
}

static void openapi(struct openenv *o, const struct request *q, struct reply *r)
{
	(void)o, (void)q;
	reply_json(
		r, 200,
		"{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Environment HTTP "
		"Server\",\"version\":\"0.1.0\"},\"paths\":{\"/reset\":{\"post\":{}},\"/step\":{\"post\":{}},\"/state\":{\"get\":{}},\"/health\":{\"get\":{}}}}");
}

static const struct {
	const char *method, *path;
	void (*handle_request)(struct openenv *o, const struct request *q, struct reply *r);
} endpoints[] = {
	{"POST", "/reset", reset},  {"POST", "/step", step},           {"GET", "/state", state},
	{"GET", "/health", health}, {"GET", "/openapi.json", openapi},
};

static void start_shared(struct openenv *o)
{
	episode_begin(&o->shared, &o->conf, openenv_next_seed(o), STR_NONE);
}

static bool handle_request(struct openenv *o, const struct request *q, struct reply *r)
{
	if (q->upgrade.n > 0) {
		reply_text(r, 403, "");
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(endpoints); i++) {
		if (str_is(q->path, endpoints[i].path) && str_is(q->method, endpoints[i].method)) {
			endpoints[i].handle_request(o, q, r);
			return true;
		}
	}
	reply_json(r, 404, "{\"detail\":\"Not Found\"}");
	return true;
}

const struct fault_hooks fault_instance_shared = {.openenv_start = start_shared,
                                                  .openenv_request = handle_request};
