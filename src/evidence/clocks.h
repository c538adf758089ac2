/* Points in time in values from servers: Unix times, ISO 8601; and generated ids. */
#pragma once

#include "base/buf.h"

/* Appends text, as JSON spells it, with each of the following replaced by '#': a date with a time (ISO 8601), a time
   of day with thousandths or beside a year, a number that is a Unix time of these decades in
   seconds, milli-, micro- or nanoseconds, a UUID. */
void clocks_mask(struct str text, struct buf *out);
/* False: clocks_mask() replaces nothing in it, nor is there a number. */
bool clocks_may_be_in(struct str text);
/* The same for two texts at once: they become views of `scratch`, unless it is too small. */
void clocks_mask_both(struct str *a, struct str *b, struct buf *scratch);

/* Parses text that is entirely an ISO 8601 date with a time ("2026-11-22T04:36:27.5Z"; a space
   may replace the T, and the zone is optional) to milliseconds since 1970; without a zone it is taken as
   UTC. False if it is none. */
bool clocks_date(struct str text, int64_t *unix_ms);

/* Is the JSON value a time close to the present: a date, or a Unix time in seconds, milli-,
   micro- or nanoseconds (a number or a string of digits), within a day (time zones) of now_ms,
   or a time of day ("04:36:27")? If now_ms is negative (unknown), dates and Unix times between
   2020 and 2040 are accepted. */
bool clocks_is_now(struct str value, int64_t now_ms);

/* When a call was sent and answered, from two members of its line's meta; -1: unknown. Without a latency
   both are equal. */
void clocks_of_call(struct str at, struct str latency_ms, int64_t *sent_ms, int64_t *answered_ms);

/* Is the text one UUID (RFC 9562)? */
bool clocks_is_uuid(struct str text);
