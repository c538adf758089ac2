/* Finds where rollouts begin: see rollouts.h. */
#include "debug/rollouts.h"

#include "base/map.h"
#include "base/mem.h"

#include <stdlib.h>

#define INTERRUPT_LINES 4096 /* lines between two polls of the signal */

/* An id seen before, 40 bytes. */
struct seen_id {
	struct map_item item;
	int64_t instances;
};

struct rollout_listing {
	struct map ids; /* key: only the hash of the id */
	rollout_place_fn *take;
	void *ctx;
};

/* A rollout begins with a header, or with any line of a rollout that is not open. */
static int take_line(struct rollout_listing *l, const struct line *line,
                     const struct reader_note *note, struct error *err)
{
	uint64_t hash = map_hash(line->rollout);
	struct seen_id *seen = map_find(&l->ids, hash, STR_NONE);
	bool begins = line->type == LINE_HEADER || !seen;

	if (!seen) {
		seen = mem_new(sizeof(*seen));
		map_add(&l->ids, &seen->item, hash);
	}
	if (!begins) {
		return 0;
	}
	seen->instances++;
	return l->take(
		l->ctx,
		&(struct rollout_place){line->rollout, seen->instances, note->offset, note->line},
		err);
}

static void release(struct rollout_listing *l)
{
	struct seen_id **all = map_list(&l->ids);

	for (size_t i = 0; i < l->ids.count; i++) {
		free(all[i]);
	}
	free(all);
}

int rollouts_each(const char *path, const struct rollouts_interrupt *interrupt,
                  rollout_place_fn *take, void *ctx, struct error *err)
{
	struct rollout_listing l = {.take = take, .ctx = ctx};
	struct reader_note note;
	struct reader *r;
	struct line line;
	int more, stop = 0;

	if (reader_open(path, &r, err)) {
		return -1;
	}
	for (uint64_t n = 1; !stop && (more = reader_skim(r, &line, &note, err)) > 0; n++) {
		if (note.torn) {
			break;
		}
		stop = line.type == LINE_UNKNOWN ? 0 : take_line(&l, &line, &note, err);
		if (!stop && n % INTERRUPT_LINES == 0 && interrupt->interrupted &&
		    interrupt->interrupted(interrupt->ctx)) {
			stop = error_set(err, FAIL_INTERRUPTED, "interrupted");
		}
	}
	reader_close(r);
	release(&l);
	return stop < 0 || (!stop && more < 0) ? -1 : 0;
}
