/* The strict scanner as machines without AVX2 run it: its own copy, linked before the
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
