/* The baseline for `check`: parse_cjson FILE parses each line with cJSON and frees the tree. Prints
   the number of lines. */
#include <cjson/cJSON.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static long parse_lines(const char *text, size_t size)
{
	long lines = 0;
	const char *end = text + size;

	while (text < end) {
		const char *feed = memchr(text, '\n', (size_t)(end - text));
		size_t n = feed ? (size_t)(feed - text) : (size_t)(end - text);
		cJSON *tree = cJSON_ParseWithLength(text, n);

		if (!tree) {
			fprintf(stderr, "parse_cjson: line %ld is not JSON\n", lines + 1);
			return -1;
		}
		cJSON_Delete(tree);
		lines++;
		text += n + 1;
	}
	return lines;
}

int main(int argc, char **argv)
{
	struct stat about;
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;

	if (fd < 0 || fstat(fd, &about) != 0 || about.st_size == 0) {
		fputs("usage: parse_cjson FILE\n", stderr);
		return 2;
	}
	size_t size = (size_t)about.st_size;
	void *text = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (text == MAP_FAILED) {
		perror("parse_cjson");
		return 1;
	}
	long lines = parse_lines(text, size);
	munmap(text, size);
	printf("%ld\n", lines);
	return lines < 0;
}
