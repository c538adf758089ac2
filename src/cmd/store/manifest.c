/* Writes the manifest of a shard: see manifest.h. */
#include "cmd/store/manifest.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/new_file.h"
#include "json/write.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static const char *const fate_names[] = {"not-started", "done",      "refused", "unreachable",
                                         "lost",        "timed-out", "failed",  "interrupted"};
_Static_assert(ARRAY_LEN(fate_names) == FATES, "a name for each");

int manifest_check(const struct plan *p, const char *out, struct error *err)
{
	if (!p->shard.count || (out && strcmp(out, "-") != 0)) {
		return 0;
	}
	return error_set(err, FAIL_USAGE,
	                 "--shard needs --out FILE or DIR/: the shard's manifest is written beside "
	                 "the recording");
}

/* The first rollout of a task that is not done says why. */
static enum fate task_fate(const struct plan *p, size_t task)
{
	for (size_t i = 0; i < p->group_size; i++) {
		enum fate f = p->fates[task * p->group_size + i];

		if (f != FATE_DONE) {
			return f;
		}
	}
	return FATE_DONE;
}

static void put_tasks(struct json_writer *w, const struct plan *p)
{
	uint64_t count[FATES] = {0};

	for (size_t i = 0; i < p->groups; i++) {
		count[task_fate(p, i)]++;
	}
	jw_put_u64(w, "expected", p->groups);
	jw_put_u64(w, "done", count[FATE_DONE]);
	jw_put_object(w, "failed");
	for (size_t i = 0; i < FATES; i++) {
		if (count[i] && i != FATE_DONE) {
			jw_put_u64(w, fate_names[i], count[i]);
		}
	}
	jw_end(w);
}

static void put_missing(struct json_writer *w, const struct plan *p)
{
	struct planned one;

	jw_put_array(w, "missing");
	for (size_t i = 0; i < p->groups; i++) {
		enum fate f = task_fate(p, i);

		if (f == FATE_DONE) {
			continue;
		}
		plan_nth(p, i * p->group_size, &one);
		jw_object(w);
		jw_put_text(w, "task", one.name);
		jw_put_text(w, "cause", fate_names[f]);
		jw_end(w);
	}
	jw_end(w);
}

/* A file that does not exist was not written: nothing was recorded. */
static int put_file(struct json_writer *w, const char *path, struct error *err)
{
	char hash[HASH_SHA256_HEX + 1];
	const char *slash = strrchr(path, '/');
	int64_t bytes;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		return 0;
	}
	bool read = hash_sha256_fd(fd, hash, &bytes);
	int failed = read ? 0 : error_errno(err, "cannot read %s", path);

	close(fd);
	if (!failed) {
		jw_object(w);
		jw_put_text(w, "file", slash ? slash + 1 : path);
		jw_put_i64(w, "bytes", bytes);
		jw_put_text(w, "sha256", hash);
		jw_end(w);
	}
	return failed;
}

static int put_files(struct json_writer *w, const struct plan *p, const struct recordings *r,
                     struct error *err)
{
	struct buf path = BUF(BUF_MAX_SMALL);
	struct planned one;
	int failed = r->directory ? 0 : put_file(w, buf_cstr(&r->path), err);

	for (size_t i = 0; r->directory && i < p->count && !failed; i++) {
		plan_nth(p, i, &one);
		buf_clear(&path);
		recordings_path(r, str_from(one.id), &path);
		failed = put_file(w, buf_cstr(&path), err);
	}
	buf_release(&path);
	return failed;
}

/* Shards of one plan have the same value. */
static void put_plan(struct json_writer *w, const struct plan *p)
{
	struct plan all = *p;
	struct planned one;
	uint64_t hash = p->group_size;
	char text[17];

	all.kept = NULL;
	for (size_t i = 0; i < p->all_groups; i++) {
		plan_nth(&all, i * p->group_size, &one);
		hash = map_hash_with(hash, map_hash(str_from(one.name)));
	}
	snprintf(text, sizeof(text), "%016" PRIx64, hash);
	jw_put_text(w, "plan", text);
}

/* Beside a file, or in the directory, whose other names all end in .jsonl. */
static void put_path(const struct plan *p, const struct recordings *r, struct buf *out)
{
	buf_str(out, buf_view(&r->path));
	if (r->directory) {
		buf_printf(out, "shard-%" PRIu64 "-of-%" PRIu64, p->shard.index, p->shard.count);
	}
	buf_text(out, MANIFEST_ENDING);
}

int manifest_write(const struct plan *p, const struct recordings *r, struct error *err)
{
	static const char *const begins[] = {MANIFEST_BEGIN, NULL};
	static const struct file_kind kind = {"a manifest of a shard", begins};
	struct buf path = BUF(BUF_MAX_SMALL), text = BUF(SIZE_MAX / 2);
	struct json_writer w;

	if (!p->shard.count) {
		return 0;
	}
	jw_init(&w, &text);
	jw_object(&w);
	jw_put_i64(&w, "manifest", MANIFEST_VERSION);
	jw_put_u64(&w, "shard", p->shard.index);
	jw_put_u64(&w, "of", p->shard.count);
	put_plan(&w, p);
	put_tasks(&w, p);
	put_missing(&w, p);
	jw_put_array(&w, "files");
	int failed = put_files(&w, p, r, err);
	jw_end(&w);
	jw_line_end(&w);
	put_path(p, r, &path);
	const struct new_file_conf conf = {.path = buf_cstr(&path), .kind = &kind};
	failed = failed || new_file_put(&conf, buf_view(&text), err);
	buf_release(&path);
	buf_release(&text);
	return failed ? -1 : 0;
}
