/* The strict scanner compiled a second time, byte by byte and under different names. The library's build must give the same results. */
#pragma once

#define JSON_BLOCKS          false
#define json_validate        portable_validate
#define json_validate_first  portable_validate_first
#define json_validate_object portable_validate_object
#define lex_validate         portable_lex_validate
#include "json/validate.c" /* NOLINT(bugprone-suspicious-include) */
#undef json_validate
#undef json_validate_first
#undef json_validate_object
#undef lex_validate

MUST_USE int json_validate(struct str text, struct json_fault *fault);
MUST_USE int json_validate_first(struct str text, size_t *used, struct json_fault *fault);
MUST_USE int json_validate_object(struct str text, struct json_member *members, size_t max,
                                  size_t *count, size_t *used, struct json_fault *fault);

/* Do both builds give the same result for the text, including faults and their positions? */
static inline bool portable_agrees(struct str text)
{
	struct json_fault fault = {.at = SIZE_MAX}, other = {.at = SIZE_MAX};

	return json_validate(text, &fault) == portable_validate(text, &other) &&
	       fault.at == other.at;
}
