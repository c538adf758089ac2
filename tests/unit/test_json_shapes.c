/* Objects whose shape is known. */
#include "json_shapes.h"

int main(void)
{
	return shapes_main();
}
