/* The members of a rollout's state over time: which of them each call changed, and how.

   reading  the state at one time
   trial    two readings around a call
   control  two readings without a call between them
   member   a JSON Pointer to a leaf, also into JSON held in a string. In a text each number is a
            member (its pointer ends in the number of its word, json/scan.h), and the
            rest of the text is one. The number of entries of a list is one, too.

   Nothing is judged here: explain.h says what the changes of a member mean. Memory is capped by
   SERIES_BYTES; beyond it the series is `over`, and what came after is not known. */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "json/diff.h"
#include "json/paths.h"

/* What a member's changes are; MEMBER_UNEXPLAINED until explain.h decides. */
enum explanation {
	MEMBER_UNEXPLAINED,
	MEMBER_VOLATILE,
	MEMBER_BOOKKEEPING,
	MEMBER_COUNT,
	MEMBER_ECHO,
	MEMBER_EFFECT,
};

#define SHOWN_VALUE 40 /* bytes of a value in messages, terminated */

struct member {
	struct map_item item;
	struct member *follower; /* changed after it the last time; NULL: none did */
	struct str pointer;
	bool is_list; /* its number of entries; `pointer` is the list's */

	int64_t trials;   /* in which it changed */
	int64_t newest;   /* the index of the newest of them */
	int64_t controls; /* in which it changed while no other rollout acted */
	int64_t shared;   /* the same while others acted */
	int64_t control;  /* the number of the newest of both */
	bool moves;       /* it is one of series.moving */
	bool drifts;      /* volatile, and neither a time nor bookkeeping: calls may move it, too */
	bool paced; /* and by the same amount at each call, as what counts readings, too, does */
	bool always_now; /* each value was a time near the present, or a generated id */
	bool even;       /* each change was a number that grew by `step`, or so many entries */
	double step;
	double growth; /* of a list, in the newest trial */

	/* Each value so far was the same text (hashed) but for words of the call before it;
	   `is_word`: that text is nothing but words of the call. `value`: the value now. */
	bool echoes, is_word;
	uint64_t text;
	struct buf value;

	char before[SHOWN_VALUE], after[SHOWN_VALUE]; /* its first change */
	enum explanation explanation;
};

struct call_trial {
	size_t first, count; /* its members in series.changed */
	bool known;          /* both readings are known */
};

/* A call's arguments, raw, and the hashes of the words of their values, sorted, once `read`. */
struct series_words {
	struct buf arguments;
	struct word_set {
		uint64_t *list;
		size_t count, room;
		uint32_t firsts; /* bits for the letters that the names among them begin with */
	} set;
	bool read;
	bool repeated; /* the arguments are those of the call before */
};

struct series {
	struct arena arena;
	struct json_paths *ignored;
	struct str *moving; /* pointers known to change without a call */
	size_t moving_count;
	struct map members; /* by the hash of pointer and is_list */
	struct member **changed;
	size_t changed_count;
	struct call_trial *trials;
	size_t trial_count, known_count;
	int64_t quiet, busy; /* controls: no other rollout acted, others acted */
	struct buf last;     /* the last reading, raw */
	/* Its form, once it was compared (`formed`), and that of the reading after it. */
	struct json_form form, next_form;
	bool formed;
	struct member *latest; /* changed last */
	bool has_last, any;    /* the last reading is known; some reading was */
	bool over;
	struct member **echoing; /* members that may be echoes */
	size_t echoing_count;
	struct series_words words, words_before; /* of the last call and the one before */
	bool calls_differ;                       /* two calls in a row had different arguments */
	bool names_calls; /* some reading has a key or text that is a word of a call */
	int64_t now_ms;   /* when the newest reading was made; -1: unknown */
	struct buf text;
};

/* Empty if zeroed. */
void series_release(struct series *s);
/* Sets what is ignored: a JSON array of pointers, raw; absent: nothing. Those that are also in
   `moving` are followed, and known to change without a call. */
void series_ignore(struct series *s, struct str pointers, struct str moving);

/* A call was sent: its arguments (raw), and when it was answered (-1: unknown). */
void series_call(struct series *s, struct str arguments, int64_t now_ms);
/* Its reply, hashed without the words of its arguments. */
uint64_t series_wordless(struct series *s, struct str reply);
/* Adds its trial: the reading after it (raw; absent: unknown). */
void series_trial(struct series *s, struct str state);
/* Adds a reading that followed the last one, if that is known, without a call. busy: other
   rollouts acted in between. */
void series_control(struct series *s, struct str state, bool busy);
/* The next reading follows from this one (absent: unknown), not from the last: after a reset. */
void series_start(struct series *s, struct str state);
