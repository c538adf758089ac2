/* What the changes of a member are, from a closed list, in this order: volatile, bookkeeping,
   count, echo, effect. rolldbg-verdicts(7) tells the same to users. One function an explanation. */
#pragma once

#include "evidence/series.h"

/* What the user and the protocol say about members. */
struct explaining {
	bool names; /* the names of bookkeeping.def count */
	/* Pointers of members that are effects, and of bookkeeping, with all below them. */
	const char *const *effects;
	size_t effect_count;
	const char *const *ignored;
	size_t ignored_count;
};

/* Sets the explanation of each member; call after the last trial. */
void explain_members(struct series *s, const struct explaining *e);

/* Whether the newest trial changed a member that is not known to be volatile or bookkeeping:
   what can be said while the rollout runs. */
bool explain_newest(const struct series *s, const struct explaining *e);

/* Has the last reading a member that is neither ignored, nor bookkeeping, nor moves by itself? */
bool explain_has_stable(const struct series *s, const struct explaining *e);

/* Is the member of the state with that key volatile so far, or bookkeeping? */
bool explain_is_aside(const struct series *s, const struct explaining *e, struct str key);

/* How two values differ, by what the series saw of the members in which they do: the most telling
   of the explanations, of which EFFECT is the last; UNEXPLAINED: in none. Fewer than COUNT_TRIALS
   trials that look like a count are taken for one, and so is a value over the cap. Both follow a
   call with these arguments. *own is the series' member; NULL: it never saw it change. Call
   explain_members() before. */
enum explanation explain_difference(const struct series *s, const struct explaining *e,
                                    struct str arguments, struct str a, struct str b,
                                    const struct member **own);

/* "requests 3 -> 4 counts the calls": why the member's changes are no effect, or that they are;
   not escaped, but short. */
void explain_sentence(const struct member *m, char *out, size_t size);

/* The names of bookkeeping.def, in their order. */
extern const char *const bookkeeping_names[];
extern const size_t bookkeeping_names_count;
bool is_bookkeeping_name(struct str pointer); /* is the last token of the pointer one of them? */
