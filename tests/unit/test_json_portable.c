/* The strict scanner as built on machines without SSE2: a separate copy, linked before the
   library's. */
#define JSON_PORTABLE 1
/* NOLINTNEXTLINE(bugprone-suspicious-include): this build of it is what is tested */
#include "json/validate.c"

#include "json_grammar.h"

int main(void)
{
	grammar_cases();
	return done();
}
