/* The canonical form where nothing is masked is that of the loop that masks. */
#include "json_canon_pairs.h"

int main(void)
{
	return canon_pairs();
}
