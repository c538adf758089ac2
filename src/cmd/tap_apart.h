/* The recording of a tap's turns of a model that belong to no session, in a file of its own, and what is
   said about turns. */
#pragma once

#include "cmd/store/recordings.h"
#include "tap/joining.h"

/* A zeroed one may be released. */
struct tap_apart {
	struct recordings recordings;
	struct recording_options options;
	char *path; /* NULL: not opened so far */
};

/* Opens it beside the recording of the rollouts, a file, once. */
MUST_USE int tap_apart_open(struct tap_apart *a, const struct recordings *rollouts,
                            struct recorder **out, struct error *err);
void tap_apart_release(struct tap_apart *a);

/* Appends the summary's line about a model; nothing without one. */
void tap_apart_say(const struct tap_apart *a, const struct tap_joiner *j, struct buf *out);
