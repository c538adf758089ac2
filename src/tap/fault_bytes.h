/* The bytes of one connection when faults are injected: a request is held until it is complete, and
   what follows from its fault is done to it or to its reply. The recording sees what the client sees. */
#pragma once

#include "tap/fault.h"

struct fault_bytes;

struct fault_bytes *fault_bytes_new(struct tap_engine *e);
void fault_bytes_free(struct fault_bytes *f); /* NULL is fine */

/* What is to be done now. The slices are valid until the next call. */
struct fault_out {
	struct str to_server;
	struct str from_server; /* as if the server had sent it */
	bool cut;               /* both connections are to be lost */
	bool end;               /* the server is done after this */
	bool wait;              /* to_server is sent only after the delay */
};

/* Bytes of the client, which were told to the decoders. complete: they end a request. */
void fault_bytes_client(struct fault_bytes *f, struct str bytes, bool complete,
                        struct fault_out *out);
/* Bytes of the server, which were not told yet. */
void fault_bytes_server(struct fault_bytes *f, bool socket, struct str bytes,
                        struct fault_out *out);
/* from_server was told: if a request that has passed already was looked at only then, its reply comes next. */
void fault_bytes_told(struct fault_bytes *f, bool socket);
/* The server has ended its side. Returns what was held of it. */
struct str fault_bytes_ended(struct fault_bytes *f);
