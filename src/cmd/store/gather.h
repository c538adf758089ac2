/* Reads recordings, or partial results, into metrics. */
#pragma once

#include "recording/reader.h"
#include "recording/trained.h"
#include "stats/stats.h"

struct gathered {
	struct stats *stats;
	bool trained;    /* a trainer's log-probabilities were given */
	size_t unusable; /* files that were skipped */
};

/* `trained` may be NULL. If there are several files, unusable ones are reported and counted. */
MUST_USE int gather_recordings(struct gathered *g, const struct file_list *files,
                               struct trained *trained, struct error *err);
MUST_USE int gather_partials(struct gathered *g, const struct file_list *files, struct error *err);
void gathered_release(struct gathered *g); /* zeroed is fine */
