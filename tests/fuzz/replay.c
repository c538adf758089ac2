/* Replaces libFuzzer: feeds every file of fixtures/fuzz/X to the target fuzz_X, with one
   TAP line each. */
#include "tap.h"

#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of exactly the input's size, so that a sanitizer detects reads beyond its end. */
static void replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");

	if (!ok(f != NULL, "%s opens", path) || !f)
		return;
	fseek(f, 0, SEEK_END);
	long size = ftell(f);
	rewind(f);
	uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
	size_t n = data ? fread(data, 1, (size_t)size, f) : 0;
	fclose(f);
	if (data)
		LLVMFuzzerTestOneInput(data, n);
	free(data);
	ok(data && n == (size_t)size, "%s", path);
}

int main(int argc, char **argv)
{
	(void)argc;
	const char *name = strrchr(argv[0], '/');
	name = name ? name + 1 : argv[0];
	char directory[512];
	snprintf(directory, sizeof(directory), "fixtures/fuzz/%s", name + strlen("fuzz_"));
	struct dirent **entries = NULL;
	int n = scandir(directory, &entries, NULL, alphasort);
	ok(n > 2, "%s has inputs", directory);
	for (int i = 0; i < n; i++) {
		char path[1024];

		snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			replay_file(path);
		free(entries[i]);
	}
	free(entries);
	return done();
}
