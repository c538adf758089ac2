/* Requirements on a classified reply, for the fuzz targets of adapters. */
#pragma once

#include "base/text.h"
#include "json/scan.h"
#include "recording/env_reply.h"

#include <stdlib.h>

static inline void require(bool holds)
{
	if (!holds)
		abort();
}

static inline void require_json(struct str value)
{
	struct json_fault fault;

	require(!value.p || json_validate(value, &fault) == 0);
}

/* Ignores blanks on both sides: slices of validated JSON have none. Absent: not JSON. */
static inline struct str json_or_none(struct str text)
{
	struct json_fault fault;

	text = text_trim(text);
	return text.n && json_validate(text, &fault) == 0 ? text : STR_NONE;
}

/* The next line of the input, without its line feed. */
static inline struct str take_line(struct str *rest)
{
	const char *lf = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
	struct str line = {rest->p, lf ? (size_t)(lf - rest->p) : rest->n};

	*rest = str_skip(*rest, lf ? line.n + 1 : line.n);
	return line;
}

/* message_utf8: it was decoded from JSON, not copied from arbitrary bytes. */
static inline void check_reply(const struct env_reply *r, bool message_utf8)
{
	require(r->outcome != OUTCOME_NONE);
	require_json(r->observation);
	require_json(r->structured);
	require_json(r->reward);
	require_json(r->error.code);
	if (r->error.code.p) {
		require(json_type(r->error.code) == JSON_NUMBER ||
		        json_type(r->error.code) == JSON_STRING);
	}
	if (r->outcome == OUTCOME_OK)
		require(r->error.class == CLASS_NONE && r->error.layer == LAYER_NONE);
	else
		require(r->error.class != CLASS_NONE && r->error.layer != LAYER_NONE);
	require(r->error.message.n <= 4096);
	if (message_utf8)
		require(text_utf8_valid(r->error.message) == r->error.message.n);
}
