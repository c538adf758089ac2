/* The value of --jobs: see threads.h. */
#include "cmd/threads.h"

#include <inttypes.h>

int jobs_number(const struct opt_u64 *given, uint64_t most, size_t *out, struct error *err)
{
	*out = given->given ? (size_t)given->value : 1;
	if (given->given && (given->value < 1 || given->value > most)) {
		return error_set(err, FAIL_USAGE,
		                 "--jobs: expected a number from 1 to %" PRIu64 ", got %" PRIu64,
		                 most, given->value);
	}
	return 0;
}

int threads_number(const struct opt_u64 *given, size_t *out, struct error *err)
{
	return jobs_number(given, THREADS_MAX, out, err);
}
