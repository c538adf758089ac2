/* --jobs of the commands that compute: see threads.h. */
#include "cmd/threads.h"

int threads_number(const struct opt_u64 *given, size_t *out, struct error *err)
{
	*out = given->given ? (size_t)given->value : 1;
	if (given->given && (given->value < 1 || given->value > THREADS_MAX)) {
		return error_set(err, FAIL_USAGE,
		                 "--jobs: expected a number from 1 to %d, got %llu", THREADS_MAX,
		                 (unsigned long long)given->value);
	}
	return 0;
}
