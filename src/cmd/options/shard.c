/* Which shard this process is: see shard.h. */
#include "cmd/options/shard.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>

/* False if the variable is not set; or if it is no number, which sets *bad. */
static bool number_of(const struct context *c, const char *name, uint64_t *out, const char **bad)
{
	const char *text = name ? c->variable(name) : NULL;

	if (!text || !*text)
		return false;
	if (!text_u64(str_from(text), out)) {
		*bad = name;
		return false;
	}
	return true;
}

/* The variables of one kind of job. `first`, `last` and `step`: NULL if its numbers are 0, 1, 2.. */
static const struct job_kind {
	const char *number, *count, *first, *last, *step;
} job_kinds[] = {
	{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
         "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP"},
	{"JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", NULL, NULL, NULL},
	{"RANK", "WORLD_SIZE", NULL, NULL, NULL},
};

static int read_job(const struct context *c, const struct job_kind *k, uint64_t count,
                    struct shard *out, struct error *err)
{
	uint64_t number = 0, first = 0, last = 0, step = 1;
	const char *bad = NULL;

	number_of(c, k->number, &number, &bad);
	bool counted = count || number_of(c, k->count, &count, &bad);
	number_of(c, k->first, &first, &bad);
	number_of(c, k->step, &step, &bad);
	bool array = number_of(c, k->last, &last, &bad);

	if (bad)
		return error_set(err, FAIL_USAGE, "--shard auto: %s is not a number", bad);
	if (!counted) {
		return error_set(
			err, FAIL_USAGE,
			"--shard auto: %s is set, but not %s: give the number of shards, as "
			"in --shard auto/8",
			k->number, k->count);
	}
	if (first > 1 || step != 1 || (array && last - first + 1 != count))
		return error_set(
			err, FAIL_USAGE,
			"--shard auto: the array is not 0..N-1 or 1..N, so its count is not the "
			"number of shards: use --shard $%s/N with an array 1-N",
			k->number);
	if (number < first || number - first >= count) {
		return error_set(err, FAIL_USAGE,
		                 "--shard auto: %s is %" PRIu64 ", which is none of %" PRIu64
		                 " shards",
		                 k->number, number, count);
	}
	*out = (struct shard){number - first + 1, count};
	return 0;
}

static int read_auto(const struct context *c, uint64_t count, struct shard *out, struct error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(job_kinds); i++) {
		const char *number = c->variable(job_kinds[i].number);

		if (!number || !*number)
			continue;
		if (read_job(c, &job_kinds[i], count, out, err))
			return -1;
		log_info("shard %" PRIu64 " of %" PRIu64 ", from %s", out->index, out->count,
		         job_kinds[i].number);
		return 0;
	}
	return error_set(err, FAIL_USAGE,
	                 "--shard auto: this is no job of an array: none of SLURM_ARRAY_TASK_ID, "
	                 "JOB_COMPLETION_INDEX and RANK is set");
}

int shard_read(const char *text, const struct context *c, struct shard *out, struct error *err)
{
	struct str s = text ? str_from(text) : STR_NONE, head, tail;

	*out = (struct shard){0};
	if (!text)
		return 0;
	const char *slash = strchr(text, '/');
	head = slash ? (struct str){text, (size_t)(slash - text)} : s;
	tail = slash ? str_from(slash + 1) : STR_NONE;
	bool by_job = str_eq(head, STR("auto"));
	bool good = (!slash || text_u64(tail, &out->count)) &&
	            (by_job || (slash && text_u64(head, &out->index)));

	if (!good || (slash && (out->count == 0 || out->count > SHARDS_MAX)) ||
	    (!by_job && (out->index == 0 || out->index > out->count))) {
		return error_set(
			err, FAIL_USAGE,
			"--shard: expected I/N with I from 1 to N such as 2/4, or auto, got '%s'",
			text);
	}
	return by_job ? read_auto(c, out->count, out, err) : 0;
}

bool shard_has(const struct shard *s, struct str key)
{
	unsigned char hash[HASH_SHA256_BYTES];
	uint64_t number = 0;

	if (s->count < 2)
		return true;
	hash_sha256(key, hash);
	for (size_t i = 0; i < sizeof(number); i++)
		number = number << 8 | hash[i];
	return number % s->count == s->index - 1;
}

void shard_files(const struct shard *s, struct file_list *files, size_t **numbers)
{
	size_t kept = 0;

	*numbers = mem_array(files->count + 1, sizeof(**numbers));
	for (size_t i = 0; i < files->count; i++) {
		if (!shard_has(s, str_from(files->paths[i]))) {
			free(files->paths[i]);
			continue;
		}
		(*numbers)[kept] = i;
		files->paths[kept++] = files->paths[i];
	}
	files->count = kept;
}

int shard_set_add(struct shard_set *s, const struct shard *one, const char *name, struct error *err)
{
	if (one->count > SHARDS_MAX) {
		return error_set(err, FAIL_INPUT, "of %" PRIu64 " shards: the most are %d",
		                 one->count, SHARDS_MAX);
	}
	if (one->count && (!one->index || one->index > one->count)) {
		return error_set(err, FAIL_INPUT, "there is no shard %" PRIu64 " of %" PRIu64,
		                 one->index, one->count);
	}
	if (!s->first) {
		s->first = name;
		s->count = one->count;
		s->names = mem_array((size_t)one->count + 1, sizeof(*s->names));
	}
	if (one->count != s->count) {
		return error_set(err, FAIL_INPUT,
		                 "not of the same division as %s: of %" PRIu64
		                 " shards, not %" PRIu64,
		                 s->first, one->count, s->count);
	}
	if (!one->count)
		return 0;
	if (s->names[one->index - 1]) {
		return error_set(err, FAIL_INPUT,
		                 "shard %" PRIu64 "/%" PRIu64 " again: %s is the same one",
		                 one->index, one->count, s->names[one->index - 1]);
	}
	s->names[one->index - 1] = name;
	return 0;
}

int shard_set_whole(const struct shard_set *s, struct error *err)
{
	for (uint64_t i = 0; i < s->count; i++) {
		if (!s->names[i]) {
			return error_set(err, FAIL_INPUT,
			                 "the partial result of shard %" PRIu64 "/%" PRIu64
			                 " is missing",
			                 i + 1, s->count);
		}
	}
	return 0;
}

void shard_set_release(struct shard_set *s)
{
	free(s->names);
	*s = (struct shard_set){0};
}
