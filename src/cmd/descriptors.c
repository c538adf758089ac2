/* The limit of open files: see descriptors.h. */
#include "cmd/descriptors.h"

#include <sys/resource.h>

/* A rollout holds libcurl's wakeup (2), the connection it speaks on, one in the
   background, and its file; with a built-in server also the other ends. While a name is
   looked up there are two more. */
#define LEAST_EACH 4
#define MOST_EACH  10
#define OURS       64

int descriptors_allow(size_t rollouts, struct error *err)
{
	struct rlimit limit;
	rlim_t least = rollouts * LEAST_EACH + OURS, most = rollouts * MOST_EACH + OURS;

	if (getrlimit(RLIMIT_NOFILE, &limit)) {
		return error_errno(err, "cannot ask for the limit of open files");
	}
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= most) {
		return 0;
	}
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < least) {
		return error_set(err, FAIL_SYSTEM,
		                 "%zu rollouts at a time need some %llu open files, and "
		                 "the limit is %llu: raise it (ulimit -Hn) or give fewer "
		                 "--jobs",
		                 rollouts, (unsigned long long)least,
		                 (unsigned long long)limit.rlim_max);
	}
	limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most
	                         ? most
	                         : limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit)
	               ? error_errno(err, "cannot raise the limit of open files")
	               : 0;
}
