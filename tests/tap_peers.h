/* A conversation of two peers through the tap, without sockets: tap_converse() reads it from bytes, the first of which is 0 for no
   fault, else the number of one that befalls every request; then follows what client and server send in turn,
   separated by 0xff. Each rollout must have one header and one end. */
#pragma once

#include "recording/recorder.h"
#include "tap/episode.h"
#include "tap/fault.h"
#include "tap/flow.h"

#include <stdlib.h>

static void require(bool holds)
{
	if (!holds)
		abort();
}

struct peers {
	struct recorder *recorder;
	uint64_t now, headers, ends;
	struct tap_reader *reader;
	struct tap_flow *flow;
	struct fault_bytes *faults;
	struct buf out, steps; /* steps: "tool outcome reward", a line each; events: "! event" */
};

static uint64_t tick(void *ctx)
{
	struct peers *p = ctx;

	return p->now += 1000;
}

static int open_one(void *ctx, const char *rollout, bool apart, struct recorder **out, void **own,
                    struct error *err)
{
	struct peers *p = ctx;

	(void)rollout, (void)apart, (void)err;
	*out = p->recorder;
	*own = p;
	return 0;
}

static int close_one(void *ctx, void *own, struct error *err)
{
	(void)ctx, (void)own, (void)err;
	return 0;
}

static int take_line(void *ctx, const struct line *l, struct error *err)
{
	struct peers *p = ctx;

	(void)err;
	p->headers += l->type == LINE_HEADER;
	p->ends += l->type == LINE_END;
	require(l->type < LINE_TYPES && p->ends <= p->headers);
	if (l->type == LINE_STEP) {
		struct str reward = l->value[KEY_REWARD];

		buf_printf(&p->steps, "%.*s %s %.*s\n",
		           STR_ARG(JSON_GET(l->value[KEY_TOOL_CALL], "name")),
		           outcome_name(l->outcome), STR_ARG(reward.p ? reward : STR("null")));
	} else if (l->type == LINE_EVENT) {
		buf_printf(&p->steps, "! %.*s\n", STR_ARG(l->value[KEY_EVENT]));
	} else if (l->type == LINE_END) {
		buf_printf(&p->steps, "end %.*s\n", STR_ARG(l->value[KEY_STATUS]));
	}
	return 0;
}

static void pass(struct peers *p, enum tap_side from, struct str bytes)
{
	(void)tap_flow_pass(p->flow, from, bytes, &p->out);
	tap_flow_tell(p->flow);
}

static void release_nothing(void *condition)
{
	require(!condition);
}

static struct tap_engine *one_fault(unsigned number)
{
	struct tap_fault_conf conf = {.rules = calloc(1, sizeof(*conf.rules)),
	                              .count = 1,
	                              .release = release_nothing,
	                              .max_sessions = 1};

	require(conf.rules != NULL);
	conf.rules->fault = (enum tap_fault_id)((number - 1) % TAP_FAULTS);
	return tap_engine_new(&conf);
}

/* As in relay.c. */
static void say(struct peers *p, enum tap_side from, struct str bytes)
{
	struct fault_out out;

	if (!p->faults) {
		pass(p, from, bytes);
		return;
	}
	if (from == TAP_CLIENT) {
		pass(p, from, bytes);
		fault_bytes_client(p->faults, bytes, tap_flow_is_complete(p->flow), &out);
		require(out.to_server.n == 0 || out.to_server.n >= bytes.n);
	} else {
		fault_bytes_server(p->faults, tap_flow_is_socket(p->flow), bytes, &out);
	}
	if (out.from_server.n)
		pass(p, TAP_SERVER, out.from_server);
	fault_bytes_told(p->faults, tap_flow_is_socket(p->flow));
}

/* Each piece is a copy of exactly its size. */
static void converse(struct peers *p, struct str input)
{
	enum tap_side from = TAP_CLIENT;

	while (input.n) {
		const char *mark = memchr(input.p, 0xff, input.n);
		size_t n = mark ? (size_t)(mark - input.p) : input.n;

		if (n) {
			char *copy = malloc(n);

			require(copy != NULL);
			memcpy(copy, input.p, n);
			say(p, from, (struct str){copy, n});
			free(copy);
		}
		from = from == TAP_CLIENT ? TAP_SERVER : TAP_CLIENT;
		input = str_skip(input, n + 1);
	}
}

/* Appends what was recorded. */
static inline void tap_converse(struct str input, struct buf *recorded)
{
	static const struct recorder_conf nowhere = {.path = "/dev/null"};
	struct peers p = {.out = BUF(BUF_MAX_MESSAGE), .steps = BUF(BUF_MAX_MESSAGE)};
	struct clock clock = {tick, tick, &p};
	struct line_sink sink = {take_line, &p};
	struct error err = {0};

	struct tap_engine *engine =
		(unsigned char)input.p[0] ? one_fault((unsigned char)input.p[0]) : NULL;
	require(recorder_new(&nowhere, &p.recorder, &err) == 0);
	struct tap_recording *r = tap_recording_new(&(struct tap_recording_conf){.clock = clock,
	                                                                         .version = "0",
	                                                                         .url = "http://x",
	                                                                         .sinks = &sink,
	                                                                         .sink_count = 1,
	                                                                         .open = open_one,
	                                                                         .close = close_one,
	                                                                         .ctx = &p,
	                                                                         .faults = engine});
	p.reader = tap_reader_new(clock, r);
	p.flow = tap_flow_new(p.reader, &(struct tap_rewriting){.authority = "x"}, 1, NULL);
	p.faults = engine ? fault_bytes_new(engine) : NULL;
	converse(&p, str_skip(input, 1));
	(void)tap_flow_ended(p.flow, TAP_CLIENT, input.n & 1);
	(void)tap_flow_ended(p.flow, TAP_SERVER, false);
	tap_flow_free(p.flow, false);
	fault_bytes_free(p.faults);
	tap_reader_free(p.reader);
	require(tap_recording_counts(r)->open == 0);
	require(p.headers == p.ends);
	tap_recording_free(r);
	tap_engine_free(engine);
	buf_release(&p.out);
	require(recorder_close(p.recorder, &err) == 0);
	buf_str(recorded, buf_view(&p.steps));
	buf_release(&p.steps);
}
