/* One shard of work that is divided among machines: which tasks or files are its own. */
#pragma once

#include "cmd/cmd.h"
#include "recording/reader.h"

#define SHARDS_MAX 1000000

/* Zeroed: not divided. */
struct shard {
	uint64_t index, count; /* index: from 1 */
};

/* The help of --shard, of every command that can be divided. */
#define SHARD_HELP(what)                                                                           \
	"only " what " of shard I of N, by a stable hash; auto: as the job array says"

/* text: "2/8", "auto" or "auto/8"; NULL: not divided. auto takes the number from Slurm's array,
   Kubernetes' indexed job, or RANK and WORLD_SIZE, in this order. FAIL_USAGE. */
MUST_USE int shard_read(const char *text, const struct context *c, struct shard *out,
                        struct error *err);

/* Does the key belong to this shard? The first 8 bytes of its SHA-256, as a big-endian number, modulo
   the count. */
bool shard_has(const struct shard *s, struct str key);

/* Keeps the files whose path, as given, belongs to this shard. numbers[i] becomes the position of
   the i-th file kept in the whole list; the caller frees it. */
void shard_files(const struct shard *s, struct file_list *files, size_t **numbers);

/* The shards whose partial results are merged. Zeroed: none yet. */
struct shard_set {
	uint64_t count;     /* of shards; 0: not divided */
	const char **names; /* by index - 1: the file of each, borrowed; NULL: not seen */
	const char *first;  /* file of the first partial result; NULL: none yet */
};
/* FAIL_INPUT: that shard was there before, or belongs to another number of shards. name is borrowed
   until the end. */
MUST_USE int shard_set_add(struct shard_set *s, const struct shard *one, const char *name,
                           struct error *err);
/* FAIL_INPUT, with its number: a shard is missing. */
MUST_USE int shard_set_whole(const struct shard_set *s, struct error *err);
void shard_set_release(struct shard_set *s);
