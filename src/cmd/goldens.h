/* Goldens: recordings that `replay` compares a live environment with. */
#ifndef ROLLDBG_CMD_GOLDENS_H
#define ROLLDBG_CMD_GOLDENS_H

#include "base/map.h"
#include "cmd/masks.h"
#include "compare/compare.h"
#include "rollout/tasks.h"
#include "trajectory/reader.h"

/* One rollout of a golden file. */
struct golden {
	struct map_item item;
	const char *file;              /* borrowed from the list of files */
	struct rollout_copy want;      /* its calls that were sent, and what came of them */
	struct str task;               /* id; absent: named after the environment */
	struct str reset;              /* raw JSON object: the reset's arguments; absent: none */
	struct str calls;              /* raw JSON array of {"name","arguments"} */
	const struct task *unrecorded; /* there is no golden of this task yet; NULL: there is one */
	int64_t sample, seed;
	bool has_seed;
	const char **masks; /* of the header, of the options and of FILE.masks */
	size_t mask_count;

	struct strip *strip; /* of what comes */
	struct rollout_copy got;
	struct buf text, kept; /* all lines, stripped, of what came (a new golden), and of it */
	struct compare_count count;
	bool started;  /* it was this one's turn */
	bool compared; /* the environment answered, to the end */
	bool opened;   /* and gave it a session */
	/* what the user said of what came: it takes the place of this one, or is nothing worth */
	bool accepted, rejected;
	struct buf lost; /* why it was not compared; empty: it was */
};

struct goldens {
	struct golden *items;
	size_t count, room;
	char *path; /* of goldens_read_policy: owned */
};

/* Reads all rollouts of all files, with the masks of the options and of each file's FILE.masks;
   goldens_release in every case. `uses` is given these masks and all lines; NULL: nobody asks.
   FAIL_INPUT: a file that is no recording, a rollout without header, reset or end, a mask that is
   no pointer. */
MUST_USE int goldens_read(struct goldens *g, const struct file_list *files,
                          const struct opt_list *masks, struct patterns *uses, struct error *err);
void goldens_release(struct goldens *g);

/* If *policy is a file that begins like a recording, its calls are the policy: reads its one
   rollout and sets *policy to NULL. Otherwise, and where it is NULL, nothing happens. */
MUST_USE int goldens_read_policy(struct goldens *g, const char **policy, struct error *err);
/* Its calls; absent where nothing was read. */
struct str goldens_policy(const struct goldens *g);

/* What the golden was started with: its task, seed, reset arguments and masks. Options of the command
   come first: `seeded`: it was given a seed. One that is still to be recorded: as `run` starts the
   task. */
void golden_start(const struct golden *g, bool seeded, struct rollout_conf *conf);

/* Adds one that is still to be recorded, of that file, which is borrowed like the task. */
MUST_USE int goldens_add_task(struct goldens *g, const struct task *t, const char *file,
                              const struct opt_list *masks, struct error *err);

/* Do two of them have the same rollout id? NULL: no. */
const char *goldens_repeated_id(const struct goldens *g);

/* How the rollouts of one file went. */
struct file_verdict {
	size_t different, accepted, rejected; /* accepted: of those that differ */
	size_t recorded;                      /* are not in it yet */
	bool whole;                           /* all were replayed, to their end */
};
struct file_verdict goldens_verdict(const struct goldens *g, const char *file);

/* Writes the rollouts of that file: to FILE.new what came in place of them, or over FILE what came
   of those that are accepted and what stood there of all others. Nothing is half written.
   FAIL_SYSTEM. */
MUST_USE int goldens_write(const struct goldens *g, const char *file, bool over, struct error *err);
/* Removes a FILE.new that an earlier comparison left. */
void goldens_forget(const char *file);

#endif
