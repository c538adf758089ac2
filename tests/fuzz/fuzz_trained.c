/* Any bytes as a trainer's log-probabilities: an accepted file has at least one turn, and a
   refusal has a position. */
#include "recording/trained.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trained *t = NULL;
	struct error err = {0};
	FILE *file = tmpfile();

	if (!file)
		return 0;
	fwrite(data, 1, size, file);
	rewind(file);
	int failed = trained_read_stream(file, "fuzz", &t, &err);
	fclose(file);

	if (failed) {
		if (err.kind != FAIL_INPUT || strncmp(err.text, "fuzz:", 5) != 0 || t)
			abort();
		return 0;
	}
	struct trained_use use = trained_use(t);
	const struct trained_turn *one = trained_find(t, STR("lake.0"), 0);
	if (use.turns < 1 || use.unused != use.turns || use.several ||
	    (one && (one->line == 0 || !one->logprobs))) {
		abort();
	}
	trained_free(t);
	return 0;
}
