/* Recordings, and partial results, into metrics: see gather.h. */
#include "cmd/store/gather.h"

#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "cmd/options/shard.h"
#include "cmd/store/store.h"
#include "recording/reader.h"
#include "stats/partial.h"

#include <stdlib.h>
#include <string.h>

#define PARTIAL_MAX ((size_t)1 << 30)

struct gathering {
	struct stats *stats;
	struct evidence *facts;
	bool many;         /* several files: an unusable one is skipped */
	bool any;          /* this file has a whole line */
	uint64_t headless; /* the first line in this file of a rollout without header; 0: none */
};

static int take_line(void *ctx, const struct line *l, const struct reader_note *note,
                     struct error *err)
{
	struct gathering *g = ctx;
	struct evidence_update u;

	g->any = g->any || !note->torn;
	if (evidence_end_unfinished(g->facts, l, &u))
		stats_take(g->stats, &u);
	if (evidence_line(g->facts, l, note, &u, err)) {
		if (!g->many || !evidence_is_headless(g->facts, l))
			return -1;
		g->headless = g->headless ? g->headless : note->line;
		return 0;
	}
	if (u.rollout)
		stats_take(g->stats, &u);
	return 0;
}

static int take_file(struct gathering *g, const char *path, struct error *err)
{
	struct evidence_update u;
	bool any;

	g->headless = 0;
	g->any = false;
	if (reader_file_lines(path, take_line, g, &any, err))
		return -1;
	if (!g->any && !g->many) {
		return error_set(err, FAIL_INPUT, "%s: contains no recording%s", path,
		                 any ? ", only a truncated line" : "");
	}
	if (!g->any)
		log_warn(any ? "%s contains no complete line" : "%s is empty", path);
	if (g->headless) {
		log_warn("%s:%llu: lines of a rollout without a header are skipped", path,
		         (unsigned long long)g->headless);
	}
	while (evidence_end_next(g->facts, &u))
		stats_take(g->stats, &u);
	evidence_new_file(g->facts);
	return 0;
}

int gather_recordings(struct gathered *out, const struct file_list *files, struct trained *trained,
                      struct error *err)
{
	const struct evidence_conf conf = {.hints.trained = trained,
	                                   .user_size = sizeof(struct stats_rollout)};
	int failed = 0;

	*out = (struct gathered){.stats = stats_new(), .trained = trained};
	struct gathering g = {
		.stats = out->stats, .facts = evidence_new(&conf), .many = files->many};
	for (size_t i = 0; !failed && i < files->count; i++) {
		failed = take_file(&g, files->paths[i], err) &&
		         !store_pass_over(files, err, &out->unusable);
	}
	evidence_free(g.facts);
	return failed ? -1 : 0;
}

/* Files with equal bytes nearly always hold the same rollouts; two runs that did exactly the same may
   be equal as well. */
static void warn_if_seen(const struct file_list *files, uint64_t *hashes, size_t i, struct str text)
{
	hashes[i] = map_hash(text);
	for (size_t k = 0; k < i; k++) {
		if (hashes[k] != hashes[i])
			continue;
		if (!strcmp(files->paths[k], files->paths[i])) {
			log_warn("%s is given twice: its rollouts are counted twice",
			         files->paths[i]);
		} else {
			log_warn("%s has the same bytes as %s: the same rollouts are counted twice",
			         files->paths[i], files->paths[k]);
		}
		return;
	}
}

struct merging {
	struct shard_set shards;
	const char *name; /* of the file being read */
	bool trained;
};

static int take_head(void *ctx, const struct partial_head *head, struct error *err)
{
	struct merging *m = ctx;
	const struct shard one = {head->shard, head->of};

	m->trained = m->trained || head->trained;
	return shard_set_add(&m->shards, &one, m->name, err);
}

int gather_partials(struct gathered *out, const struct file_list *files, struct error *err)
{
	AUTO_BUF text = BUF(PARTIAL_MAX);
	uint64_t *hashes = mem_array(files->count + 1, sizeof(*hashes));
	struct merging m = {.name = NULL};
	int failed = 0;

	*out = (struct gathered){.stats = stats_new()};
	for (size_t i = 0; !failed && i < files->count; i++) {
		buf_clear(&text);
		m.name = files->paths[i];
		failed = file_read("partial result", m.name, &text, err) ||
		         partial_read(out->stats, buf_view(&text), m.name, take_head, &m, err);
		warn_if_seen(files, hashes, i, buf_view(&text));
	}
	failed = failed || shard_set_whole(&m.shards, err);
	out->trained = m.trained;
	shard_set_release(&m.shards);
	free(hashes);
	return failed ? -1 : 0;
}

void gathered_release(struct gathered *g)
{
	stats_free(g->stats);
	g->stats = NULL;
}
