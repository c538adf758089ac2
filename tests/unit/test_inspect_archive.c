/* Inspect's .eval logs are unpacked with limits: on memory, and on the total number of
   bytes. */
#include "base/base.h"
#include "convert/import.h"
#include "tap.h"

#include <fcntl.h>
#include <unistd.h>

#define LOG "fixtures/convert/inspect/zstd.eval"

static int unpacked(uint64_t most, FILE *out, struct error *err)
{
	int fd = open(LOG, O_RDONLY | O_CLOEXEC);
	int failed = inspect_unpack(fd, most, out, err);

	close(fd);
	return failed;
}

int main(void)
{
	char line[4096];
	struct error err = {0};
	FILE *out = tmpfile();
	size_t lines = 0, bytes = 0;

	is_int(unpacked(1 << 20, out, &err), 0, "a log compressed with zstd is unpacked");
	rewind(out);
	while (fgets(line, sizeof(line), out)) {
		lines++;
		bytes += strlen(line);
		ok(strstr(line, "\"samples\":[{\"id\":1,\"epoch\":"),
		   "a line is a log of one sample");
	}
	is_int(lines, 2, "a line for each sample");
	ok(bytes < 2048, "with the bytes read, and no more");
	is_int(unpacked(1000, out, &err), -1, "more bytes than allowed, together");
	is_int(err.kind, FAIL_INPUT, "are the file's fault");
	is_str(err.text, "the zip archive unpacks to too many bytes", "with a message");
	fclose(out);
	return done();
}
