/* Any bytes as what another machine left: a partial result of stats, one of check, a shard's
   manifest. Each is accepted or refused as a bad input. Metrics that were read are written so that
   they are read again as the same. */
#include "check/part.h"
#include "cmd/check_partial.h"
#include "cmd/store/manifest.h"
#include "stats/partial.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MANIFEST "/fuzz.manifest"

static char directory[] = "/tmp/fuzz_partial.XXXXXX";
static char file[sizeof(directory) + sizeof(MANIFEST)];

static void require(bool holds)
{
	if (!holds)
		abort();
}

static struct file_list the_file(char **path)
{
	*path = file;
	return (struct file_list){.paths = path, .count = 1};
}

static void put(struct str text)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	require(fd >= 0 && write(fd, text.p, text.n) == (ssize_t)text.n);
	close(fd);
}

static int take_head(void *ctx, const struct partial_head *head, struct error *err)
{
	(void)ctx;
	(void)head;
	(void)err;
	return 0;
}

/* False: refused. */
static bool metrics(struct str text, struct buf *out)
{
	const struct partial_head head = {.trained = false};
	struct stats *s = stats_new();
	struct error err;
	bool good = partial_read(s, text, file, take_head, NULL, &err) == 0;

	require(good || err.kind == FAIL_INPUT);
	if (good)
		partial_write(s, &head, out);
	stats_free(s);
	return good;
}

static void read_metrics(struct str text)
{
	struct buf once = BUF(SIZE_MAX / 2), twice = BUF(SIZE_MAX / 2);

	if (metrics(text, &once)) {
		require(metrics(buf_view(&once), &twice));
		require(str_eq(buf_view(&once), buf_view(&twice)));
	}
	BUFS_RELEASE(&once, &twice);
}

static void take_verdict(void *ctx, const struct rollout_verdict *v)
{
	(void)ctx;
	require(v->status < END_STATUSES && v->failure < FAILURE_CAUSES);
	for (size_t i = 0; i < v->finding_count; i++)
		require(check_find(str_from(v->findings[i].rule)) != NULL);
}

static void merge_verdicts(const struct check_partials *p, const struct file_list *files)
{
	const struct judge_conf conf = {.verdict = take_verdict};
	struct judge *all;
	struct judge_summary sum;
	struct error err;

	require(judge_new(&conf, &all, &err) == 0);
	judge_many(all);
	for (size_t i = 0; i < files->count; i++) {
		struct judge *part;
		bool good = check_partials_judge(p, i, &conf, &part, &err) == 0;

		require(good || err.kind == FAIL_INPUT);
		if (good && part && judge_can_absorb(all, part)) {
			judge_file(all, files->paths[i]);
			if (check_partials_verdicts(p, i, files->paths[i], &conf, &err) == 0)
				judge_absorb(all, part);
			else
				require(err.kind == FAIL_INPUT);
		}
		judge_free(part);
	}
	judge_finish(all);
	judge_summary(all, &sum);
	judge_free(all);
}

static void read_verdicts(void)
{
	char *path;
	const struct file_list partials = the_file(&path);
	struct check_partials *p = NULL;
	struct file_list files = {.count = 0};
	struct error err;

	if (check_partials_read(&partials, 0, &p, &files, &err) == 0)
		merge_verdicts(p, &files);
	else
		require(err.kind == FAIL_INPUT);
	file_list_free(&files);
	check_partials_free(p);
}

static void read_manifest(void)
{
	struct output out = {.text = BUF(SIZE_MAX / 2), .fd = open("/dev/null", O_WRONLY)};
	bool missing;
	struct error err;

	if (missing_list(directory, false, &out, &missing, &err))
		require(err.kind == FAIL_INPUT);
	output_release(&out);
	close(out.fd);
}

static void remove_directory(void)
{
	unlink(file);
	rmdir(directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!*file) {
		require(mkdtemp(directory) != NULL);
		snprintf(file, sizeof(file), "%s" MANIFEST, directory);
		atexit(remove_directory);
	}
	put((struct str){(const char *)data, size});
	read_verdicts();
	read_manifest();
	read_metrics((struct str){(const char *)data, size});
	return 0;
}
