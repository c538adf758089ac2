/* A stdio server behind the tap: see stdio.h. */
#include "tap/stdio.h"

int tap_stdio(const struct tap_stdio_conf *conf, int *code, struct error *err)
{
	*code = 0;
	return error_set(err, FAIL_USAGE, "%s: servers over standard streams are not supported yet",
	                 conf->command[0]);
}
