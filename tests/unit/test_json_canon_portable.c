/* The canonical form as on machines without SSE2: a separate copy, linked before the
   library's. */
#define JSON_PORTABLE 1
/* NOLINTNEXTLINE(bugprone-suspicious-include): this build of it is what is tested */
#include "json/canon_plain.c"

#include "json_canon_pairs.h"

int main(void)
{
	return canon_pairs();
}
