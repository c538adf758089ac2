/* Adjusts the limit on open files: see descriptors.h. */
#include "cmd/options/descriptors.h"

#include <sys/resource.h>

/* Per rollout: libcurl's wakeup pipe (2), its connection, one in the background, and its file; with
   a built-in server also the other ends of the connections. Name resolution needs two more. */
#define LEAST_EACH 4
#define MOST_EACH  10
#define OURS       64

int descriptors_allow(size_t rollouts, struct error *err)
{
	struct rlimit limit;
	rlim_t least = rollouts * LEAST_EACH + OURS, most = rollouts * MOST_EACH + OURS;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return error_errno(err, "cannot read the limit on open files");
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= most)
		return 0;
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < least) {
		return error_set(err, FAIL_SYSTEM,
		                 "%zu concurrent rollouts need about %llu open files, but the "
		                 "limit is %llu: raise it (ulimit -Hn) or use fewer --jobs",
		                 rollouts, (unsigned long long)least,
		                 (unsigned long long)limit.rlim_max);
	}
	limit.rlim_cur =
		limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most ? most : limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit)
	               ? error_errno(err, "cannot raise the limit on open files")
	               : 0;
}
