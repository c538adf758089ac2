/* The canonical form without masks equals that of the masking loop. */
#include "json_canon_pairs.h"

int main(void)
{
	return canon_pairs();
}
