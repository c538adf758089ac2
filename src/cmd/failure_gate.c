/* The gate: see failure_gate.h. */
#include "cmd/failure_gate.h"

#include "base/log.h"

#include <inttypes.h>
#include <stdlib.h>

int failure_gate_read(const char *text, double *limit, struct error *err)
{
	const char *given = text ? text : "1";
	char *end;

	*limit = strtod(given, &end);
	bool percent = *end == '%';
	if (strspn(given, "0123456789.") != (size_t)(end - given) || end == given || end[percent] ||
	    *limit > (percent ? 100 : 1)) {
		return error_set(
			err, FAIL_USAGE,
			"--max-environment-failures: expected a share such as 5%% or 0.05, "
			"got '%s'",
			text);
	}
	*limit /= percent ? 100 : 1;
	return 0;
}

bool failure_gate_exceeded(double limit, int64_t failures, int64_t rollouts)
{
	double all = (double)rollouts;

	if ((double)failures <= limit * all) {
		return false;
	}
	log_error("%" PRId64 " of %" PRId64
	          " rollouts (%.3g%%) failed by the environment, which is more than %.3g%%",
	          failures, rollouts, 100 * (double)failures / all, 100 * limit);
	return true;
}
