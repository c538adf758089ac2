/* The state of a debugging session, shared by the commands. */
#ifndef ROLLDBG_DEBUG_DEBUGGER_H
#define ROLLDBG_DEBUG_DEBUGGER_H

#include "debug/cursor.h"
#include "debug/debug.h"
#include "debug/points.h"

/* Where a finding begins. */
struct finding_begin {
	const char *rule;
	int64_t turn, step; /* -1: none; without both it is about the whole rollout */
};

struct debugger {
	const struct debug_conf *conf;
	struct buf out; /* output of the current command */
	struct cursor *cursor;
	struct live *live; /* NULL: there is only a recording */
	struct moment
		now; /* the current step, with what a live session knows beyond the recording */
	struct hasher *hasher;
	struct buf hashing;  /* scratch */
	char live_hash[64];  /* hash of a state that is not recorded yet, in quotes */
	struct buf proposed; /* the next call as a line */
	struct buf live_end; /* the verdict of the live session that has ended, as text */
	bool forked;
	struct json_paths *ignored; /* in states */
	struct points points;
	struct finding_begin *begins; /* in the whole recording, once needed */
	size_t begin_count;
	bool begins_known;
	struct buf last_command;
	size_t column;    /* of the error in the current command's arguments; SIZE_MAX: none */
	struct buf value; /* raw JSON printed by print or tools, for the JSON interpreter and DAP */
	bool moved;       /* the current command moved */
	bool starting;    /* there is no command yet: print where the session starts */
	bool quit;
	/* True once for each time the DAP client requests a stop; NULL: there is no client. */
	bool (*client_asks_stop)(void *ctx);
	void *client;
	bool scripted;               /* commands come from options */
	bool stopped;                /* by a signal: the program is to exit */
	int64_t listed, listed_here; /* where list continues, and the step it was used at */
	int depth;                   /* of nested command files */
};

enum debug_mode { MODE_REC, MODE_LIVE, MODE_FORK };
/* Whether a step is looked at in a recording, or is the newest one of a live session. */
enum debug_mode debugger_mode(const struct debugger *d);
const char *debug_mode_name(enum debug_mode m);

/* The current file, as it is printed. */
const char *debugger_file(const struct debugger *d);
/* What expressions are evaluated on. */
struct known debugger_known(struct debugger *d);
/* The effect of a step from its state and the state after it alone. */
enum effect debugger_effect(struct debugger *d, const struct line *step, struct str after);
/* Updates d->now from the cursor. */
void debugger_refresh(struct debugger *d);
/* Is the running command to be stopped? Takes the debugger; called during long reads. */
bool debugger_is_interrupted(void *d);
/* False if a signal asks the program to exit; one that only stopped a command is cleared. */
bool debugger_goes_on(struct debugger *d);
/* Waits until the live session proposes a call or is over. */
void debugger_wait(struct debugger *d);
/* Reads what was recorded since, and moves to the newest step. */
MUST_USE int debugger_to_newest(struct debugger *d, struct error *err);
/* Opens a rollout of a recording in place of the current one. */
MUST_USE int debugger_open(struct debugger *d, const char *path, const char *rollout,
                           struct error *err);
/* Finds where findings begin in the whole recording, for breakpoints on rules. */
MUST_USE int debugger_judge(struct debugger *d, struct error *err);
/* Live: notes the rules whose finding was not there at the previous step. */
MUST_USE int debugger_note_new_findings(struct debugger *d, struct error *err);
/* Findings up to the current step. */
MUST_USE int debugger_findings(struct debugger *d,
                               void (*take)(void *user, const struct rollout_verdict *v),
                               void *user, struct error *err);

/* Prints how the live session ended, its verdict, and where it is recorded. */
MUST_USE int live_session_report(struct debugger *d, struct error *err);
/* Starts a live session with the policy of the options; stops before its first call. */
MUST_USE int live_session_begin(struct debugger *d, struct error *err);

/* ---- stop.c: what is printed at a stop ---- */

void stop_print(struct debugger *d);
/* One line: "turn 3 · step 3  lake_move action=DOWN  ok  reward 0". */
void stop_title(const struct moment *m, struct style style, struct buf *out);
/* "state: position 4 -> 8". */
void stop_changes(struct debugger *d, size_t most, struct buf *out);
void stop_proposal(struct debugger *d);
/* The same as a JSON object. */
struct json_writer;
void stop_json(struct debugger *d, struct json_writer *w);

/* ---- look.c ---- */

/* The arguments of info; NULL after the last. */
const char *info_topic(size_t i);
/* Findings, causes first, and the counters. */
void backtrace_put(const struct rollout_verdict *v, struct style style, struct buf *out);

/* ---- running commands ---- */

/* Runs one line as it was typed. -1 with err set; d->column is the place in the line. */
MUST_USE int run_command(struct debugger *d, struct str line, struct error *err);
/* Runs the commands in a file, up to the first that fails. */
MUST_USE int run_command_file(struct debugger *d, const char *path, struct error *err);
/* Runs one line and prints its output, as text or JSON. *failed: the command failed. -1: the output
   cannot be printed. */
MUST_USE int run_and_print(struct debugger *d, struct str line, bool *failed, struct error *err);

/* ---- verbs ---- */

enum verb_group { GROUP_MOVE, GROUP_LOOK, GROUP_STOP, GROUP_LIVE, GROUP_OTHER, VERB_GROUPS };

struct verb {
	const char *name;
	const char
		*short_forms; /* comma-separated; they take precedence over names that begin so */
	const char *arguments, *help;
	enum verb_group group;
	bool repeats; /* an empty line on a terminal runs it again */
	int (*run)(struct debugger *d, struct str arguments, struct error *err);
};
extern const struct verb verbs[];
extern const size_t verbs_count;

/* Finds a command by name, short form or unambiguous prefix. FAIL_USAGE. */
MUST_USE int verb_find(struct str word, const struct verb **out, struct error *err);

#define VERB(id, name, forms, arguments, group, repeats, help)                                     \
	int verb_##id(struct debugger *d, struct str arguments_, struct error *err);
#include "debug/verbs.def"
#undef VERB

/* ---- arguments of verbs ---- */

/* Removes and returns the first word. */
struct str argument_word(struct str *rest);
/* FAIL_USAGE if anything is left. */
MUST_USE int argument_none(struct str rest, struct error *err);
/* A count of at least 1; 1 by default. */
MUST_USE int argument_count(struct str rest, int64_t *out, struct error *err);
/* "N", "step N" or "turn N". */
MUST_USE int argument_place(struct str rest, bool *turn, int64_t *out, struct error *err);

/* Moves to that step or turn. FAIL_USAGE: there is none. */
MUST_USE int go_to_place(struct debugger *d, bool turn, int64_t number, struct error *err);

/* ---- lines.c: commands from a terminal (with a line editor) or a pipe ---- */

/* Reads and runs commands until the input ends, or quit. *failed: a command from a pipe failed. */
MUST_USE int lines_read(struct debugger *d, bool *failed, struct error *err);

/* ---- complete.c ---- */

/* Calls back for each completion of the line's last word. `line` ends at the cursor. */
typedef void completion_fn(void *ctx, struct str candidate);
void complete_line(struct debugger *d, struct str line, completion_fn *take, void *ctx);

/* ---- dap.c ---- */

/* Serves the Debug Adapter Protocol until the client disconnects. FAIL_INPUT: the input is not in
   that protocol. */
MUST_USE int dap_serve(struct debugger *d, struct error *err);

#endif
