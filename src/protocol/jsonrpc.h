/* JSON-RPC 2.0 messages: classified, parsed into slices, and written. No sockets. */
#pragma once

#include "base/buf.h"
#include "json/scan.h"

/* The type of a message. `null` for params, or for the unused one of result and error, is
   treated as absent, because some peers send it. Everything else is strict: "jsonrpc":"2.0" is
   required, an id is a string or a number (in an error it may be null or missing), params an
   object or array, error an object. */
enum jsonrpc_kind {
	JSONRPC_NOT_JSON, /* see fault */
	JSONRPC_INVALID,  /* JSON, but not a JSON-RPC message */
	JSONRPC_REQUEST,
	JSONRPC_NOTIFICATION,
	JSONRPC_RESULT,
	JSONRPC_ERROR,
	JSONRPC_BATCH, /* an array: iterate it with json_next and jsonrpc_read_valid */
};

/* Raw JSON, absent if missing. Also set as far as possible if the message is invalid. The last
   of duplicate members counts. */
struct jsonrpc_message {
	enum jsonrpc_kind kind;
	struct str id;
	struct str method; /* between its quotes, still escaped */
	struct str params, result, error;
	struct str error_code, error_message, error_data; /* members of `error`, of whatever type */
	struct json_fault fault;
};

/* Validates text and reads it. Borrowed from text. */
void jsonrpc_read(struct str text, struct jsonrpc_message *out);
/* The same for a slice that is known to be valid JSON. */
void jsonrpc_read_valid(struct str value, struct jsonrpc_message *out);

/* Is the raw id this integer? */
bool jsonrpc_id_is(struct str id, int64_t number);

/* Append one message, without line feed. params: raw JSON, absent for none. */
void jsonrpc_write_request(struct buf *out, int64_t id, const char *method, struct str params);
void jsonrpc_write_notification(struct buf *out, const char *method, struct str params);
void jsonrpc_write_result(struct buf *out, struct str raw_id, struct str result);
void jsonrpc_write_error(struct buf *out, struct str raw_id, int code, const char *message);
