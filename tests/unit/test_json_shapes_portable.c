/* Objects whose shape is known, as on machines without SSE2: a separate copy, linked before the
   library's. */
#define JSON_PORTABLE 1
/* NOLINTNEXTLINE(bugprone-suspicious-include): this build of it is what is tested */
#include "json/shape.c"

#include "json_shapes.h"

int main(void)
{
	return shapes_main();
}
