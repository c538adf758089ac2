/* A connection through the tap: whatever two peers say, the decoders read it without a fault. See tap_peers.h. */
#include "tap_peers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf recorded = BUF(BUF_MAX_MESSAGE);

	if (size)
		tap_converse((struct str){(const char *)data, size}, &recorded);
	buf_release(&recorded);
	return 0;
}
