/* The inside of a session, for the verbs. */
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
	struct buf out; /* what the present command prints */
	struct cursor *cursor;
	struct live *live; /* NULL: only a recording */
	struct moment now; /* as facts go: with what a live session knows beyond the recording */
	struct hasher *hasher;
	struct buf hashing;  /* scratch */
	char live_hash[64];  /* of a state that is not recorded yet, in quotes */
	struct buf proposed; /* the next call as a line */
	struct buf live_end; /* the verdict of the live session that has ended, as text */
	bool forked;
	struct json_paths *ignored; /* in states */
	struct points points;
	struct finding_begin *begins; /* of the whole recording, once they were asked for */
	size_t begin_count;
	bool begins_known;
	struct buf last_command;
	size_t column;    /* of the error in the arguments of the present command; SIZE_MAX: none */
	struct buf value; /* for a machine: the value that print found, raw JSON */
	bool moved;       /* the present command moved */
	bool greeting;    /* the present command is none: it says where the session begins */
	bool quit;
	/* A client can ask for a stop, too: true once for each time it does; NULL: there is none. */
	bool (*client_asks_stop)(void *ctx);
	void *client;
	bool scripted;               /* commands come from options */
	bool stopped;                /* by a signal: the program is to end */
	int64_t listed, listed_here; /* where list goes on, while it stands there */
	int depth;                   /* of files of commands that read files of commands */
};

enum debug_mode { MODE_REC, MODE_LIVE, MODE_FORK };
/* The view is of recorded facts, or at the newest step of a live session. */
enum debug_mode debugger_mode(const struct debugger *d);
const char *debug_mode_name(enum debug_mode m);

/* The file that it looks at, for people. */
const char *debugger_file(const struct debugger *d);
/* What expressions are asked about. */
struct known debugger_known(struct debugger *d);
/* The effect of a step that `after` follows, by the two states alone. */
enum effect debugger_effect(struct debugger *d, const struct line *step, struct str after);
/* Takes over where the cursor stands. */
void debugger_refresh(struct debugger *d);
/* Is what runs to be stopped? `d` is the debugger: for what reads much. */
bool debugger_is_interrupted(void *d);
/* False if a signal says that the program is to end; another one only ended what ran. */
bool debugger_goes_on(struct debugger *d);
/* Waits until the live session proposes a call or is over. */
void debugger_wait(struct debugger *d);
/* Reads what was recorded since, and stands at the newest step. */
MUST_USE int debugger_to_newest(struct debugger *d, struct error *err);
/* Opens a recording's rollout in place of the present one. */
MUST_USE int debugger_open(struct debugger *d, const char *path, const char *rollout,
                           struct error *err);
/* Reads the findings of all of the recording, for breakpoints on rules. */
MUST_USE int debugger_judge(struct debugger *d, struct error *err);
/* Live: notes which rules have a finding by now that had none at the step before. */
MUST_USE int debugger_note_new_findings(struct debugger *d, struct error *err);
/* Findings up to where it stands. */
MUST_USE int debugger_findings(struct debugger *d,
                               void (*take)(void *user, const struct rollout_verdict *v),
                               void *user, struct error *err);

/* The live session has ended: how, its verdict, and where it is recorded. */
MUST_USE int live_session_report(struct debugger *d, struct error *err);
/* Starts a live session with the policy of the options, and stands before its first call. */
MUST_USE int live_session_begin(struct debugger *d, struct error *err);

/* ---- stop.c: what is printed where it stops ---- */

void stop_print(struct debugger *d);
/* One line: "turn 3 · step 3  lake_move action=DOWN  ok  reward 0". */
void stop_title(const struct moment *m, struct style style, struct buf *out);
/* "state: position 4 -> 8". */
void stop_changes(struct debugger *d, size_t most, struct buf *out);
void stop_proposal(struct debugger *d);
/* The same for a machine: an object. */
struct json_writer;
void stop_json(struct debugger *d, struct json_writer *w);

/* ---- look.c ---- */

/* What info can be asked about; NULL behind the last. */
const char *info_topic(size_t i);
/* Findings, causes first, and the counters. */
void backtrace_put(const struct rollout_verdict *v, struct style style, struct buf *out);

/* ---- running commands ---- */

/* One line as it was typed. -1 with err set; d->column says where. */
MUST_USE int line_run(struct debugger *d, struct str line, struct error *err);
/* The commands of a file, up to the first that fails. */
MUST_USE int file_run(struct debugger *d, const char *path, struct error *err);
/* One line, and prints what came of it: text or JSON. *failed: it failed. -1: nothing can be
   printed any more. */
MUST_USE int line_answer(struct debugger *d, struct str line, bool *failed, struct error *err);

/* ---- verbs ---- */

enum verb_group { GROUP_MOVE, GROUP_LOOK, GROUP_STOP, GROUP_LIVE, GROUP_OTHER, VERB_GROUPS };

struct verb {
	const char *name;
	const char *short_forms; /* comma-separated; they win over other verbs that begin so */
	const char *arguments, *help;
	enum verb_group group;
	bool repeats; /* an empty line on a terminal runs it again */
	int (*run)(struct debugger *d, struct str arguments, struct error *err);
};
extern const struct verb verbs[];
extern const size_t verbs_count;

/* A name, a short form, or a beginning that only one verb has. FAIL_USAGE. */
MUST_USE int verb_find(struct str word, const struct verb **out, struct error *err);

#define VERB(id, name, forms, arguments, group, repeats, help)                                     \
	int verb_##id(struct debugger *d, struct str arguments_, struct error *err);
#include "debug/verbs.def"
#undef VERB

/* ---- arguments of verbs ---- */

/* Cuts the first word off. */
struct str argument_word(struct str *rest);
/* Nothing may be left. */
MUST_USE int argument_none(struct str rest, struct error *err);
/* A count of at least 1; 1 where there is none. */
MUST_USE int argument_count(struct str rest, int64_t *out, struct error *err);
/* "N", "step N" or "turn N". */
MUST_USE int argument_place(struct str rest, bool *turn, int64_t *out, struct error *err);

/* Stands at that step or turn, or says that there is none. */
MUST_USE int go_to_place(struct debugger *d, bool turn, int64_t number, struct error *err);

/* ---- lines.c: where commands come from: a terminal, with a line editor, or a pipe ---- */

/* Reads and runs commands until they end, or quit. *failed: one of a pipe's commands failed. */
MUST_USE int lines_read(struct debugger *d, bool *failed, struct error *err);

/* ---- complete.c ---- */

/* What the last word of the line could be: calls back for each. `line` ends at the cursor. */
typedef void completion_fn(void *ctx, struct str candidate);
void complete_line(struct debugger *d, struct str line, completion_fn *take, void *ctx);

/* ---- dap.c ---- */

/* Answers requests of the Debug Adapter Protocol until the client disconnects. FAIL_INPUT: what came
   was no protocol. */
MUST_USE int dap_serve(struct debugger *d, struct error *err);

#endif
