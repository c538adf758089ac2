/* Errors in replies that are marked as successful: `{"error":"no room"}` in a result with
   isError:false. Detected by structure only: members whose meaning is fixed by a protocol or a
   wide convention, and the exact beginnings of known frameworks' messages. What structure cannot
   decide remains a success here; rules decide it with more evidence, or the user with texts of
   their own. */
#pragma once

#include "json/scan.h"
#include "recording/words.h"

enum hidden_error_strength {
	HIDDEN_ERROR_NONE,
	/* an error only if the environment did not count the step */
	HIDDEN_ERROR_POSSIBLE,
	/* MCP: an error unless the environment counted the step; OpenEnv: always an error,
	   because its count includes failed calls */
	HIDDEN_ERROR_LIKELY,
	HIDDEN_ERROR_CERTAIN,
};

struct hidden_error {
	enum hidden_error_strength strength;
	enum error_layer layer; /* LAYER_BODY, LAYER_TEXT */
	/* raw JSON, a string if possible: the error's message */
	struct str message;
	struct str code; /* raw JSON number or string; absent: none */
	/* the reply contains only the error: no observation */
	bool bare;
	/* what it contains apart from the error is unchanged since the last successful reply */
	bool unchanged;
};

/* Earlier observations, raw JSON; absent: none. A member that already had such a value at the
   start is data, not an error. */
struct hidden_error_context {
	struct str start; /* observation of the reset */
	struct str last;  /* of the last successful step, else of the reset */
};

/* Checks an object, or the object in its only member `result`. */
struct hidden_error hidden_error_in_body(struct str body, struct hidden_error_context before);

/* Checks how a text (a raw JSON string) starts. */
struct hidden_error hidden_error_in_text(struct str text);

/* Checks an object's strings in the same way, if the rest of the object is unchanged. At most
   HIDDEN_ERROR_POSSIBLE, because it may be a program's output. */
struct hidden_error hidden_error_in_strings(struct str object, struct str last);

/* Does a string in the reply, at any depth, match one of the user's patterns? Patterns as for
   error_text_matches. */
struct hidden_error hidden_error_by_pattern(struct str answer, const char *const *patterns,
                                            size_t count);

struct hidden_error hidden_error_stronger(struct hidden_error a, struct hidden_error b);

/* Is it an error? counted: whether the environment counted the step: 1, 0, or -1 if unknown. */
bool hidden_error_holds(const struct hidden_error *r, int counted);
