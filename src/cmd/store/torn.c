/* A truncated last line: see torn.h. */
#include "cmd/store/torn.h"

#include "base/log.h"

int torn_warn(void *ctx, const struct line *l, const struct reader_note *note, struct error *err)
{
	atomic_bool *torn = ctx;

	(void)l;
	(void)err;
	if (torn) {
		atomic_store(torn, true);
	}
	log_warn("%s:%llu: the last line is truncated and was skipped", note->file,
	         (unsigned long long)note->line);
	return 0;
}
