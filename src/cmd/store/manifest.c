/* Writes the manifest of a shard: see manifest.h. */
#include "cmd/store/manifest.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/new_file.h"
#include "base/text.h"
#include "json/scan.h"
#include "json/write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MANIFEST_VERSION 1
#define MANIFEST_BEGIN   "{\"manifest\":"
#define MANIFEST_ENDING  ".manifest"

static const char *const fate_names[] = {"not-started", "done",      "refused", "unreachable",
                                         "lost",        "timed-out", "failed",  "interrupted"};
_Static_assert(ARRAY_LEN(fate_names) == FATES, "a name for each");

int manifest_check(const struct plan *p, const char *out, struct error *err)
{
	if (!p->shard.count || (out && strcmp(out, "-") != 0))
		return 0;
	return error_set(err, FAIL_USAGE,
	                 "--shard needs --out FILE or DIR/: the shard's manifest is written beside "
	                 "the recording");
}

/* The first rollout of a task that is not done says why. */
static enum fate task_fate(const struct plan *p, size_t task)
{
	for (size_t i = 0; i < p->group_size; i++) {
		enum fate f = p->fates[task * p->group_size + i];

		if (f != FATE_DONE)
			return f;
	}
	return FATE_DONE;
}

static void put_tasks(struct json_writer *w, const struct plan *p)
{
	uint64_t count[FATES] = {0};

	for (size_t i = 0; i < p->groups; i++)
		count[task_fate(p, i)]++;
	jw_pack(w, "expected:%i,done:%i,failed:{", (int64_t)p->groups, (int64_t)count[FATE_DONE]);
	for (size_t i = 0; i < FATES; i++)
		if (count[i] && i != FATE_DONE)
			jw_put_u64(w, fate_names[i], count[i]);
	jw_end(w);
}

static void put_missing(struct json_writer *w, const struct plan *p)
{
	struct planned one;

	jw_put_array(w, "missing");
	for (size_t i = 0; i < p->groups; i++) {
		enum fate f = task_fate(p, i);

		if (f == FATE_DONE)
			continue;
		plan_nth(p, i * p->group_size, &one);
		jw_pack(w, "{task:%t,cause:%t}", one.name, fate_names[f]);
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

	if (fd < 0)
		return 0;
	bool read = hash_sha256_fd(fd, hash, &bytes);
	int failed = read ? 0 : error_errno(err, "cannot read %s", path);

	close(fd);
	if (!failed)
		jw_pack(w, "{file:%t,bytes:%i,sha256:%t}", slash ? slash + 1 : path, bytes, hash);
	return failed;
}

static int put_files(struct json_writer *w, const struct plan *p, const struct recordings *r,
                     struct error *err)
{
	AUTO_BUF path = BUF(BUF_MAX_SMALL);
	struct planned one;
	int failed = r->directory ? 0 : put_file(w, buf_cstr(&r->path), err);

	for (size_t i = 0; r->directory && i < p->count && !failed; i++) {
		plan_nth(p, i, &one);
		buf_clear(&path);
		recordings_path(r, str_from(one.id), &path);
		failed = put_file(w, buf_cstr(&path), err);
	}
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
	if (r->directory)
		buf_printf(out, "shard-%" PRIu64 "-of-%" PRIu64, p->shard.index, p->shard.count);
	buf_text(out, MANIFEST_ENDING);
}

int manifest_write(const struct plan *p, const struct recordings *r, struct error *err)
{
	static const char *const begins[] = {MANIFEST_BEGIN, NULL};
	static const struct file_kind kind = {"a manifest of a shard", begins};
	AUTO_BUF path = BUF(BUF_MAX_SMALL), text = BUF(SIZE_MAX / 2);
	struct json_writer w;

	if (!p->shard.count)
		return 0;
	w = jw_begin(&text);
	jw_pack(&w, "manifest:%d,shard:%i,of:%i", MANIFEST_VERSION, (int64_t)p->shard.index,
	        (int64_t)p->shard.count);
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
	return failed ? -1 : 0;
}

/* ---- comparing manifests with what is there ---- */

#define FILE_MOST ((size_t)1 << 30)

struct manifests {
	const char *directory;
	bool json;
	struct output *out;
	struct shard_set shards; /* by the names of their manifests */
	bool *complete;          /* nothing is missing; by index - 1 */
	char plan[17];           /* of the first one */
	int64_t expected, done;
	struct arena arena;
};

/* One thing to do again. task and file: absent if it is not about one. */
static void say(struct manifests *m, int64_t shard, struct str task, const char *file,
                const char *cause)
{
	struct buf *out = &m->out->text;

	m->complete[shard - 1] = false;
	if (!m->json) {
		buf_printf(out, "shard %lld/%lld: ", (long long)shard, (long long)m->shards.count);
		buf_text(out, task.p ? "task " : "");
		text_escape(out, task.p ? task : str_from(file ? file : ""));
		buf_printf(out, "%s%s\n", task.p || file ? ": " : "", cause);
		return;
	}
	json_line(out, "missing", "shard:%i,task:%s,file:%t,cause:%t", shard, task, file, cause);
}

/* Why the file is not as its manifest says; NULL: it is. */
static const char *fault_of(const struct manifests *m, const char *name, struct str entry)
{
	AUTO_BUF path = BUF(BUF_MAX_SMALL);
	char hash[HASH_SHA256_HEX + 1] = "";
	int64_t bytes, want;

	buf_printf(&path, "%s/%s", m->directory, name);
	int fd = strchr(name, '/') || file_may_block(buf_cstr(&path))
	                 ? -1
	                 : open(buf_cstr(&path), O_RDONLY | O_CLOEXEC);
	bool read = fd >= 0 && hash_sha256_fd(fd, hash, &bytes);
	if (fd >= 0)
		close(fd);
	if (!read)
		return "cannot be read";
	return json_i64(JSON_GET(entry, "bytes"), &want) && want == bytes &&
	                       json_is(JSON_GET(entry, "sha256"), str_from(hash))
	               ? NULL
	               : "is not what the shard recorded";
}

static void take_files(struct manifests *m, int64_t shard, struct str text, struct arena *arena)
{
	struct str files = JSON_GET(text, "files"), entry;

	for (size_t cursor = 0; json_next(files, &cursor, &entry);) {
		const char *name = json_text(arena, JSON_GET(entry, "file")).p;
		const char *fault = name ? fault_of(m, name, entry) : NULL;

		if (fault)
			say(m, shard, STR_NONE, name, fault);
	}
}

static int64_t take_tasks(struct manifests *m, int64_t shard, struct str text, struct arena *arena)
{
	struct str list = JSON_GET(text, "missing"), entry;
	int64_t count = 0;

	for (size_t cursor = 0; json_next(list, &cursor, &entry); count++) {
		struct str task = json_text(arena, JSON_GET(entry, "task"));
		struct str cause = json_text(arena, JSON_GET(entry, "cause"));
		AUTO_BUF why = BUF(BUF_MAX_SMALL);

		text_escape(&why, cause);
		say(m, shard, task, NULL, buf_cstr(&why));
	}
	return count;
}

/* The first manifest says how many shards there are; the others must agree. */
static int join(struct manifests *m, const char *name, const struct shard *one, const char *plan,
                struct error *err)
{
	bool first = !m->shards.first;

	if (!first && strcmp(plan, m->plan) != 0) {
		return error_set(err, FAIL_INPUT, "%s/%s and %s belong to runs of different tasks",
		                 m->directory, name, m->shards.first);
	}
	if (shard_set_add(&m->shards, one, arena_str(&m->arena, str_from(name)).p, err))
		return error_wrap(err, "%s/%s", m->directory, name);
	if (first) {
		m->complete = mem_array((size_t)one->count, sizeof(*m->complete));
		snprintf(m->plan, sizeof(m->plan), "%s", plan);
	}
	m->complete[one->index - 1] = true;
	return 0;
}

static int take(struct manifests *m, const char *name, struct str text, struct error *err)
{
	AUTO_ARENA arena = {.last = NULL};
	struct json_fault fault;
	int64_t version = 0, shard = 0, of = 0, expected = 0, done = 0;

	if (json_validate(text, &fault)) {
		return error_set(err, FAIL_INPUT, "%s/%s is no manifest: %s at byte %zu",
		                 m->directory, name, fault.why, fault.at + 1);
	}
	struct str plan = json_text(&arena, JSON_GET(text, "plan"));
	bool good = json_i64(JSON_GET(text, "manifest"), &version) &&
	            json_i64(JSON_GET(text, "shard"), &shard) &&
	            json_i64(JSON_GET(text, "of"), &of) && of >= 1 && shard >= 1 && plan.p &&
	            json_i64(JSON_GET(text, "expected"), &expected) &&
	            json_i64(JSON_GET(text, "done"), &done) && expected >= 0 && done >= 0;
	if (!good || version != MANIFEST_VERSION) {
		return error_set(err, FAIL_INPUT, "%s/%s is no manifest of a shard, version %d",
		                 m->directory, name, MANIFEST_VERSION);
	}
	if (join(m, name, &(struct shard){(uint64_t)shard, (uint64_t)of}, plan.p, err))
		return -1;
	m->expected += expected;
	m->done += done;
	if (take_tasks(m, shard, text, &arena) != expected - done)
		say(m, shard, STR_NONE, name, "contradicts itself: its counts do not add up");
	take_files(m, shard, text, &arena);
	return 0;
}

static int is_manifest(const struct dirent *e)
{
	return str_ends(str_from(e->d_name), STR(MANIFEST_ENDING));
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_all(struct manifests *m, struct error *err)
{
	struct dirent **entries = NULL;
	AUTO_BUF path = BUF(BUF_MAX_SMALL), text = BUF(FILE_MOST);
	int n = scandir(m->directory, &entries, is_manifest, by_name), failed = 0;

	if (n < 0) {
		return error_set(err, FAIL_INPUT, "cannot read %s: %s", m->directory,
		                 strerror(errno));
	}
	for (int i = 0; i < n && !failed; i++) {
		buf_clear(&path);
		buf_clear(&text);
		buf_printf(&path, "%s/%s", m->directory, entries[i]->d_name);
		failed = file_read_regular("manifest", buf_cstr(&path), &text, err) ||
		         take(m, entries[i]->d_name, text_trim(buf_view(&text)), err);
	}
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	if (!failed && !m->shards.count) {
		return error_set(err, FAIL_INPUT,
		                 "no manifest in %s: run --shard writes one as its last act",
		                 m->directory);
	}
	return failed ? -1 : 0;
}

static void say_all(struct manifests *m, int64_t complete)
{
	struct buf *out = &m->out->text;
	AUTO_BUF list = BUF(BUF_MAX_MESSAGE);

	for (uint64_t i = 0; i < m->shards.count; i++)
		if (!m->complete[i])
			buf_printf(&list, "%s%" PRIu64, list.n ? "," : "", i + 1);
	if (m->json) {
		json_line(out, "shards", "shards:%i,complete:%i,tasks:%i,done:%i,resubmit:%s",
		          (int64_t)m->shards.count, complete, m->expected, m->done,
		          (struct str){buf_cstr(&list), list.n});
	} else {
		buf_printf(out, "%lld of %lld shards complete · %lld of their %lld tasks done\n",
		           (long long)complete, (long long)m->shards.count, (long long)m->done,
		           (long long)m->expected);
		buf_printf(out, list.n ? "resubmit %s\n" : "", buf_cstr(&list));
	}
}

int missing_list(const char *directory, bool json, struct output *out, bool *missing,
                 struct error *err)
{
	struct manifests m = {.directory = directory, .json = json, .out = out};
	int failed = read_all(&m, err);
	int64_t complete = 0;

	for (uint64_t i = 0; !failed && i < m.shards.count; i++) {
		if (!m.shards.names[i])
			say(&m, (int64_t)i + 1, STR_NONE, NULL, "no manifest");
		complete += m.complete[i];
	}
	if (!failed) {
		say_all(&m, complete);
		*missing = complete < (int64_t)m.shards.count;
		failed = output_flush(out, err);
	}
	shard_set_release(&m.shards);
	arena_release(&m.arena);
	free(m.complete);
	return failed ? -1 : 0;
}
