/* Writes and reads partial results of check: see check_partial.h. */
#include "cmd/check_partial.h"

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "check/part.h"

#include <stdio.h>
#include <stdlib.h>

#define PARTIAL_VERSION 2

/* ---- writing ---- */

static void take_verdict(void *ctx, const struct rollout_verdict *v)
{
	part_put_verdict(ctx, v);
}

static void put_head(const struct check_division *d, const struct file_list *files, struct buf *out)
{
	struct json_writer w;
	char options[17];

	snprintf(options, sizeof(options), "%016llx", (unsigned long long)d->options);
	w = jw_begin(out);
	jw_pack(&w, "check:%d,shard:%i,of:%i,options:%t,many:%b,files:%i", PARTIAL_VERSION,
	        (int64_t)d->shard.index, (int64_t)d->shard.count, options, files->many,
	        (int64_t)files->count);
	jw_line_end(&w);
}

/* Appends the members "verdicts" and "part"; false: the file could not be judged alone. */
static bool put_judged(const struct judge_conf *conf, const char *path, struct json_writer *w)
{
	struct judge_conf own = *conf;
	struct judge *part = NULL;

	own.verdict = take_verdict;
	own.places = true;
	own.ctx = w;
	jw_put_array(w, "verdicts");
	/* the number only tells files apart */
	int64_t number = (int64_t)(map_hash(str_from(path)) >> 1);
	bool good = !judge_part_new(&own, number, &part, ERROR_IGNORED) &&
	            !judge_recording(part, path, NULL, NULL, ERROR_IGNORED);
	if (good)
		judge_part_finish(part);
	jw_end(w);
	jw_key(w, "part");
	if (good)
		part_put(w, part);
	else
		jw_null(w);
	judge_free(part);
	return good;
}

static void put_file(const struct judge_conf *conf, const char *path, size_t number,
                     struct buf *out)
{
	AUTO_BUF line = BUF(SIZE_MAX / 2);
	struct json_writer w;

	for (int again = 0; again < 2; again++) {
		buf_clear(&line);
		w = jw_begin(&line);
		jw_put_u64(&w, "file", number);
		jw_put_text(&w, "path", path);
		if (again || put_judged(conf, path, &w))
			break;
	}
	jw_end(&w);
	buf_str(out, buf_view(&line));
	buf_char(out, '\n');
}

int check_partial_write(const struct judge_conf *conf, const struct file_list *files,
                        const struct check_division *d, struct output *out, struct error *err)
{
	put_head(d, files, &out->text);
	for (size_t i = 0; i < files->count; i++) {
		put_file(conf, files->paths[i], d->numbers ? d->numbers[i] : i, &out->text);
		if (output_flush_some(out, err))
			return -1;
	}
	return output_flush(out, err);
}

/* ---- reading ---- */

struct partial_file {
	int64_t number;
	struct str line; /* raw JSON */
	char *path;      /* in the arena */
};

struct check_partials {
	struct partial_file *files;
	size_t count;
	struct shard_set shards;
	struct arena arena; /* holds the text of all files, too */
	bool many;
};

static int read_head(struct check_partials *p, struct str line, const char *name, uint64_t options,
                     int64_t *files, struct error *err)
{
	char want[17];
	int64_t version, shard, of;
	bool many;

	snprintf(want, sizeof(want), "%016llx", (unsigned long long)options);
	if (!json_i64(JSON_GET(line, "check"), &version) || version != PARTIAL_VERSION ||
	    !json_i64(JSON_GET(line, "shard"), &shard) || !json_i64(JSON_GET(line, "of"), &of) ||
	    !json_i64(JSON_GET(line, "files"), files) || *files < 0 || shard < 0 || of < 0 ||
	    !json_bool(JSON_GET(line, "many"), &many)) {
		return error_set(err, FAIL_INPUT,
		                 "not a partial result of check of this version of the "
		                 "program: write it with check --partial");
	}
	if (!json_is(JSON_GET(line, "options"), str_from(want))) {
		return error_set(
			err, FAIL_INPUT,
			"judged with other options: give --merge those that decide verdicts, "
			"such as --only and --ignore, as they were given with --partial");
	}
	p->many = p->many || many;
	return shard_set_add(&p->shards, &(struct shard){(uint64_t)shard, (uint64_t)of}, name, err);
}

static int read_file(struct check_partials *p, struct str line, struct error *err)
{
	struct str path = json_text(&p->arena, JSON_GET(line, "path"));
	int64_t number;

	if (!path.p || !json_i64(JSON_GET(line, "file"), &number))
		return error_set(err, FAIL_INPUT, "not a file of a partial result of check");
	p->files = mem_grow(p->files, p->count, sizeof(*p->files));
	p->files[p->count] = (struct partial_file){p->shards.count ? number : (int64_t)p->count,
	                                           line, mem_text(path)};
	p->count++;
	return 0;
}

static int read_one(struct check_partials *p, struct str text, const char *name, uint64_t options,
                    struct error *err)
{
	int64_t left = 0;
	size_t number = 0;

	do {
		struct str line = str_cut(&text, '\n');
		struct json_fault fault;
		bool head = left == 0;
		int failed;

		number++;
		if (json_validate(line, &fault)) {
			failed = error_set(err, FAIL_INPUT,
			                   "not a partial result of check: %s at byte %zu",
			                   fault.why, fault.at + 1);
		} else {
			failed = head ? read_head(p, line, name, options, &left, err)
			              : read_file(p, line, err);
			left -= !head;
		}
		if (failed)
			return error_wrap(err, "%s:%zu", name, number);
	} while (text.n);
	if (left) {
		return error_set(err, FAIL_INPUT, "%s:%zu: the file ends %lld files early", name,
		                 number, (long long)left);
	}
	return 0;
}

static int by_number(const void *left, const void *right)
{
	const struct partial_file *a = left, *b = right;

	return (a->number > b->number) - (a->number < b->number);
}

int check_partials_read(const struct file_list *partials, uint64_t options,
                        struct check_partials **out, struct file_list *files, struct error *err)
{
	struct check_partials *p = mem_new(sizeof(*p));
	int failed = 0;

	*out = p;
	for (size_t i = 0; i < partials->count && !failed; i++) {
		AUTO_BUF text = BUF(SIZE_MAX / 2);

		failed = file_read("partial result", partials->paths[i], &text, err) ||
		         read_one(p, arena_str(&p->arena, buf_view(&text)), partials->paths[i],
		                  options, err);
	}
	if (failed || shard_set_whole(&p->shards, err))
		return -1;
	if (p->count > 1)
		qsort(p->files, p->count, sizeof(*p->files), by_number);
	*files = (struct file_list){.paths = mem_array(p->count + 1, sizeof(*files->paths)),
	                            .count = p->count,
	                            .many = p->many || p->count > 1};
	for (size_t i = 0; i < p->count; i++) {
		files->paths[i] = p->files[i].path;
		p->files[i].path = NULL;
	}
	return 0;
}

static int refuse(const struct check_partials *p, size_t i, const char *what, struct error *err)
{
	AUTO_ARENA arena = {.last = NULL};

	return error_set(err, FAIL_INPUT,
	                 "the partial result of %s has no %s that can be read: write it again",
	                 json_text(&arena, JSON_GET(p->files[i].line, "path")).p, what);
}

int check_partials_judge(const struct check_partials *p, size_t i, const struct judge_conf *conf,
                         struct judge **out, struct error *err)
{
	struct str part = JSON_GET(p->files[i].line, "part");
	AUTO_ARENA arena = {.last = NULL};

	*out = NULL;
	if (!part.p || json_type(part) == JSON_NULL)
		return 0;
	if (judge_part_new(conf, 0, out, err))
		return -1;
	return part_get(part, &arena, *out) ? 0 : refuse(p, i, "totals", err);
}

int check_partials_verdicts(const struct check_partials *p, size_t i, const char *path,
                            const struct judge_conf *conf, struct error *err)
{
	struct str verdicts = JSON_GET(p->files[i].line, "verdicts"), one;
	AUTO_ARENA arena = {.last = NULL};
	struct rollout_verdict v;
	bool good = json_type(verdicts) == JSON_ARRAY;

	for (size_t cursor = 0; good && json_next(verdicts, &cursor, &one);) {
		good = part_get_verdict(one, conf->places, &arena, &v);
		if (good) {
			v.file = path;
			conf->verdict(conf->ctx, &v);
		}
		arena_reset(&arena);
	}
	return good ? 0 : refuse(p, i, "verdicts", err);
}

void check_partials_free(struct check_partials *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->count; i++)
		free(p->files[i].path);
	free(p->files);
	shard_set_release(&p->shards);
	arena_release(&p->arena);
	free(p);
}
