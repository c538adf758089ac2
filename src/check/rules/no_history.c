/* Rule no-history: found by an experiment (rollout/history.h), in no recording. */
#include "check/rule.h"

const struct check check_no_history = {
	.id = "no-history",
	.title = "no reply depends on earlier calls",
	.severity = SEVERITY_ERROR,
	.lowered =
		"nobody asked for the experiment, and an environment may keep what no reply shows; or "
		"the server is a plain MCP server, whose tools may just compute",
	.why = "Each call of the rollout, alone in a fresh session with the same seed, got the reply "
	       "that it had got within the rollout: nothing is kept between calls, however much the "
	       "states differ. Only run \1confirm\2 and probe find it.\n"
	       "Look at what creates the environment: a handler that makes one for each request, a "
	       "stateless mode, a proxy that opens a session for each call.\n"
	       "Fix: let all calls of a session act on one environment; declare tools that only look "
	       "something up with \1read_only\2; start a server that keeps data on a copy.",
};
