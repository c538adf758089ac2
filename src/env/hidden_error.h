/* Errors hidden in what a server calls a success: `{"error":"no room"}` in an answer with
   isError:false. Decided by structure alone: members whose meaning is fixed by a protocol
   or by wide convention, and the exact openings of known frameworks' messages. What
   structure cannot tell stays a success here; rules decide it with evidence, or the user
   does with texts of their own. */
#ifndef ROLLDBG_ENV_HIDDEN_ERROR_H
#define ROLLDBG_ENV_HIDDEN_ERROR_H

#include "json/scan.h"
#include "trajectory/words.h"

enum hidden_error_strength {
	HIDDEN_ERROR_NONE,
	/* only if the environment itself did not count the step */
	HIDDEN_ERROR_POSSIBLE,
	/* MCP: unless the environment itself counted it as a good step; OpenEnv: always, for its
	   count counts calls, good or not */
	HIDDEN_ERROR_LIKELY,
	HIDDEN_ERROR_CERTAIN,
};

struct hidden_error {
	enum hidden_error_strength strength;
	enum error_layer layer; /* LAYER_BODY, LAYER_TEXT */
	/* raw JSON, a string where there is one: what the error says */
	struct str message;
	struct str code; /* raw JSON number or string; absent: none */
	/* the answer holds nothing beside the error: no observation of an environment */
	bool bare;
	/* what it holds beside the error is as it was in the last good answer */
	bool unchanged;
};

/* Observations that came before, raw JSON; absent: none. A member that already read so at
   the start answers no action: it is data. */
struct hidden_error_context {
	struct str start; /* of the reset */
	struct str last;  /* of the last good step, else of the reset */
};

/* What an object, or the object that its only member `result` holds, reports of itself. */
struct hidden_error hidden_error_in_body(struct str body, struct hidden_error_context before);

/* What a whole text (a raw JSON string) says by how it begins. */
struct hidden_error hidden_error_in_text(struct str text);

/* What one of an object's strings says in that way while the rest of the object is as it
   was. It may be what a program printed: no more than possible. */
struct hidden_error hidden_error_in_strings(struct str object, struct str last);

/* Does the user call one of the strings in an answer, at any depth, an error? Patterns as
   of error_text_matches. */
struct hidden_error hidden_error_by_pattern(struct str answer, const char *const *patterns,
                                            size_t count);

struct hidden_error hidden_error_stronger(struct hidden_error a, struct hidden_error b);

/* Is it one, given whether the environment counted the step: 1, 0, or -1 where its count
   says nothing? */
bool hidden_error_holds(const struct hidden_error *r, int counted);

#endif
