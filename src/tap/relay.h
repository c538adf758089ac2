/* The loop that moves bytes between clients and the server: one thread, any number of connections,
   bounded buffers. Each client's connection has one to the server of its own. */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "net/stream.h"

struct tap_recording;
struct tap_engine;

struct tap_relay_conf {
	struct clock clock;
	int listener;                 /* a listening socket */
	struct stream_server *server; /* borrowed */
	/* A model's server; NULL: none. Its listener; -1: it shares that of the environment, and the
	   first request of a connection tells which server it is for. */
	struct stream_server *model;
	int model_listener;
	struct tap_recording *recording;
	struct tap_engine *faults; /* to be injected; NULL: none */
	int stop_fd;               /* readable when the user asks to stop; -1: none */
	int wake_fd;               /* watched for on_wake; -1: none */
	/* Called when stop_fd or wake_fd is readable, and every tick_ms. False: stop. */
	bool (*on_stop)(void *ctx);
	bool (*on_wake)(void *ctx);
	bool (*on_tick)(void *ctx);
	uint64_t tick_ms;
	void *ctx;
};

/* Relays until it is stopped; then closes all connections, which passes the end on to both sides.
   -1: the loop itself failed (FAIL_SYSTEM). */
MUST_USE int tap_relay(const struct tap_relay_conf *conf, struct error *err);
