/* The gate: see failure_gate.h. */
#include "cmd/failure_gate.h"

#include "base/log.h"
#include "json/scan.h"

#include <inttypes.h>

int failure_gate_read(const char *text, double *limit, struct error *err)
{
	struct str number = str_from(text ? text : "1");
	struct json_fault fault;
	bool percent = number.n > 0 && number.p[number.n - 1] == '%';

	number.n -= percent;
	if (json_validate(number, &fault) || !json_double(number, limit) || *limit < 0 ||
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
