/* The strict scanner as run on machines without AVX2: a separate copy, linked before the
   library's. */
#define JSON_NO_AVX2 1
/* NOLINTNEXTLINE(bugprone-suspicious-include): this build of it is what is tested */
#include "json/validate.c"

#include "json_grammar.h"

int main(void)
{
	grammar_cases();
	return done();
}
