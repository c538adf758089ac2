/* Goldens: recordings that `replay` compares with a live environment. */
#pragma once

#include "base/map.h"
#include "cmd/options/compare_options.h"
#include "cmd/options/target_options.h"
#include "compare/compare.h"
#include "compare/proposals.h"
#include "recording/reader.h"
#include "rollout/rollout.h"

/* Which recorded calls are sent, and as calls of which tools: options of `run` and `replay`. */

#define MEMBERS recorded
#include "cmd/options/members.h"
extern const struct option_group tool_map_group;

/* One rollout of a golden file. */
struct golden {
	struct map_item item;
	const char *file;         /* borrowed from the list of files */
	struct rollout_copy want; /* the calls that were sent, and their results */
	struct str task;          /* id; absent: named after the environment */
	struct str reset;         /* raw JSON object: the reset's arguments; absent: none */
	struct str state;         /* specification of its state source; absent: auto */
	const char **ignore;      /* pointers that were ignored in its states */
	size_t ignore_count;
	bool plain;       /* recorded as plain MCP, without a control plane */
	struct str calls; /* raw JSON array of {"name","arguments"} */
	/* lines in the file, and as counted by the end line (-1: not counted) */
	int64_t lines, lines_counted;
	/* the task to record, if it has no golden yet; NULL: has one */
	const struct task *unrecorded;
	int64_t sample, seed;
	bool has_seed;
	const char **masks; /* from the header, the options and FILE.masks */
	size_t mask_count;

	struct strip *strip; /* applied to the replayed lines */
	struct rollout_copy got;
	struct buf text;     /* stripped lines of the replay: the new golden */
	struct buf stripped; /* those of this golden */
	struct compare_count count;
	struct proposals proposals;
	uint64_t took_ms; /* its replay */
	bool started;     /* its replay was started */
	bool compared;    /* the environment answered all calls */
	bool opened;      /* the environment opened a session */
	/* the user's decision: the replay replaces this golden, or is discarded */
	bool accepted, rejected;
	struct buf lost; /* why it was not compared; empty: it was */
};

struct goldens {
	struct golden *items;
	size_t count;
	char *path;                      /* read by goldens_read_policy; owned */
	struct golden *policy;           /* whose calls are the policy; NULL: none */
	const struct opt_list *tool_map; /* set before reading; NULL: none */
};

/* Reads all rollouts of all files, with the masks of the options and of each file's FILE.masks.
   Call goldens_release in any case. `uses` receives these masks and all lines, to find masks that
   match nothing; may be NULL. FAIL_INPUT: a file is not a recording, a rollout lacks its header,
   reset or end, or a mask is not a pointer. */
MUST_USE int goldens_read(struct goldens *g, const struct file_list *files,
                          const struct opt_list *masks, struct patterns *uses, struct error *err);
/* FAIL_USAGE if `out`, which may be NULL, is one of these files: a golden only changes on request. */
MUST_USE int goldens_check_out(const struct file_list *files, const char *out, struct error *err);
/* FAIL_USAGE: no environment was named, and a golden was not recorded from the built-in lake. */
MUST_USE int goldens_check_environment(const struct goldens *g, const struct target_options *o,
                                       struct error *err);
/* The same after the replay: the lake's name is not its settings, which only its first observation shows.
   A seed of the command line may change that, too. */
MUST_USE int goldens_check_begin(const struct goldens *g, const struct target_options *o,
                                 struct error *err);
void goldens_release(struct goldens *g);

/* The calls of the rollout that was chosen as policy; absent: none was. */
struct str goldens_policy(const struct goldens *g);

/* Sets the golden's task, seed, reset arguments, state source with what is ignored, and masks in conf; values
   set by the command's options take precedence (`seeded`: a seed was given). A golden still to be recorded starts as
   `run` starts its task. */
void golden_start(const struct golden *g, bool seeded, struct rollout_conf *conf);

/* Adds a golden to be recorded to that file. Borrows the file name and the task. */
MUST_USE int goldens_add_task(struct goldens *g, const struct task *t, const char *file,
                              const struct opt_list *masks, struct error *err);

/* A rollout id that occurs twice; NULL: none. */
const char *goldens_repeated_id(const struct goldens *g);

/* Appends the options with which all rollouts are equal, and the values that are unstable or changed,
   as one or two lines; nothing if there is neither. */
void goldens_propose(const struct goldens *g, struct buf *out);

/* The result of replaying the rollouts of one file. */
struct file_verdict {
	size_t different, accepted, rejected; /* accepted: among those that differ */
	size_t recorded;                      /* new ones, not in the file yet */
	bool whole;                           /* all were replayed to their end */
};
struct file_verdict goldens_verdict(const struct goldens *g, const char *file);

/* Writes the rollouts of that file atomically: to FILE.new all replayed ones; or, if `over`, over
   FILE the replayed ones that were accepted and the old ones otherwise. Headers keep the golden's
   policy. FAIL_SYSTEM; FAIL_USAGE if something else is there. */
MUST_USE int goldens_write(const struct goldens *g, const char *file, bool over, struct error *err);
/* Removes FILE.new of an earlier comparison, if there is one. */
void goldens_forget(const char *file);

/* ---- one rollout of a recording: of a golden, or as policy (goldens_choice.c) ---- */

/* The rollout with that id; if id is NULL, the only one, or the first with a finding of the rule
   (which may be NULL). All rollouts are of one file. FAIL_USAGE with the available ids; FAIL_INPUT:
   the rule finds nothing in the file. */
MUST_USE int goldens_choose(const struct goldens *g, const char *rule, const char *id,
                            struct golden **out, struct error *err);

/* goldens_check_environment for the first rollout of a file, if that is a regular one. */
MUST_USE int goldens_check_file(const char *file, const struct target_options *o,
                                struct error *err);

/* If *policy is a file that begins like a recording, its calls are the policy: reads its only
   rollout, or the one with that id, and sets *policy to NULL. Otherwise, or if *policy is NULL, does nothing.
   Without an id all of several are read, and none is chosen; o NULL: the command has no such option, and needs one.
   FAIL_USAGE: it has several rollouts, or not that one; lists their ids. */
MUST_USE int goldens_read_policy(struct goldens *g, const char **policy,
                                 const struct recorded_options *o, struct error *err);

/* Appends a task file with a task for each rollout, if none is chosen: its seed and reset arguments. */
void goldens_as_tasks(const struct goldens *g, struct buf *out);
/* The calls of the chosen rollout, or of the task's first one; absent: there is none. t may be NULL. */
struct str goldens_policy_of(const struct goldens *g, const struct task *t);
