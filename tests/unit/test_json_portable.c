/* The strict scanner reading byte by byte: a separate copy, linked before the
   library's. */
#define JSON_BLOCKS false
/* NOLINTNEXTLINE(bugprone-suspicious-include): this build of it is what is tested */
#include "json/validate.c"

#include "json_grammar.h"

int main(void)
{
	grammar_cases();
	return done();
}
