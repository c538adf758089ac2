/* Buffers one rollout and writes it: see export.h. */
#include "convert/export.h"

#include <inttypes.h>
#include <stdlib.h>

#define ROLLOUT_BYTES_MAX ((size_t)1 << 30)

/* ---- lines in ---- */

static struct line *place_for(struct export *x, enum line_type type)
{
	switch (type) {
	case LINE_HEADER:
		return &x->header;
	case LINE_RESET:
		return &x->reset;
	case LINE_END:
		return &x->end;
	case LINE_STEP:
		if (x->count == x->room) {
			x->room = x->room ? 2 * x->room : 16;
			x->steps = mem_resize(x->steps, x->room, sizeof(*x->steps));
		}
		return &x->steps[x->count++];
	case LINE_EVENT:
	case LINE_TYPES:
	case LINE_UNKNOWN:
		break;
	}
	return NULL;
}

/* Facts whose loss is reported. Facts derivable from others, and those about how the recording was
   made, are omitted. */
static const enum key facts[] = {
	KEY_SEED, KEY_TOOLS,        KEY_OUTCOME, KEY_ERROR,      KEY_OBSERVATION, KEY_STRUCTURED,
	KEY_RAW,  KEY_STATE,        KEY_REWARD,  KEY_TERMINATED, KEY_TRUNCATED,   KEY_ENV_STEPS,
	KEY_LLM,  KEY_TOTAL_REWARD, KEY_STATUS,  KEY_MESSAGES,
};

static bool is_empty(struct str value)
{
	return (json_type(value) == JSON_ARRAY || json_type(value) == JSON_OBJECT) &&
	       !json_count(value);
}

static bool holds(const struct format *f, enum key k)
{
	return (f->facts | f->also_written) >> k & 1;
}

/* Is anything lost without this fact? A successful call, an unset flag and a sum are implied. */
static bool is_information(const struct export *x, const struct line *l, enum key k)
{
	switch (k) {
	case KEY_OUTCOME:
		return export_is_failed(l);
	case KEY_TERMINATED:
		return l->terminated > 0;
	case KEY_TRUNCATED:
		return l->truncated > 0;
	case KEY_TOTAL_REWARD:
		return !holds(x->format, KEY_REWARD);
	case KEY_STATUS:
		return l->status != END_TERMINATED || !holds(x->format, KEY_TERMINATED);
	default:
		return line_has(l, k) && !is_empty(l->value[k]);
	}
}

static void note_losses(struct export *x, const struct line *l)
{
	x->lost_events += l->type == LINE_EVENT;
	for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
		enum key k = facts[i];

		x->lost[k] += !holds(x->format, k) && line_has(l, k) && is_information(x, l, k);
	}
}

int export_add(struct export *x, const struct line *l, struct error *err)
{
	struct buf scratch = BUF(BUF_MAX_SMALL);
	struct line kept;
	size_t used;
	int failed;

	x->bytes += l->text.n;
	if (x->bytes > ROLLOUT_BYTES_MAX) {
		return error_set(err, FAIL_INPUT, "a rollout of more than %zu MiB",
		                 ROLLOUT_BYTES_MAX >> 20);
	}
	note_losses(x, l);
	failed = line_parse(arena_str(&x->arena, l->text), &scratch, &kept, &used, err);
	if (!failed) {
		x->id = x->id.p ? x->id : arena_str(&x->arena, kept.rollout);
		kept.rollout = x->id;
		struct line *place = place_for(x, kept.type);

		if (place) {
			*place = kept;
		}
	}
	buf_release(&scratch);
	return failed;
}

/* ---- the rollout out ---- */

static void forget(struct export *x)
{
	arena_reset(&x->arena);
	x->header = x->reset = x->end = (struct line){.type = LINE_UNKNOWN};
	x->count = x->bytes = 0;
	x->id = STR_NONE;
}

int export_rollout(struct export *x, struct buf *out, struct error *err)
{
	x->out = out;
	int failed = x->format->write(x, err);

	if (!failed && out->full) {
		failed = error_set(err, FAIL_INPUT, "it is over %zu MiB in this format",
		                   out->max >> 20);
	}
	if (failed) {
		error_wrap(err, "rollout %.*s", STR_ARG(x->id));
	}
	x->index++;
	forget(x);
	return failed;
}

void export_release(struct export *x)
{
	arena_release(&x->arena);
	free(x->steps);
	x->steps = NULL;
}

static const char *name_of(enum key k)
{
	for (size_t i = 0; i < line_keys_count; i++) {
		if (line_keys[i].key == k) {
			return line_keys[i].name;
		}
	}
	return "";
}

static void describe_loss(const struct export *x, const char *what, uint64_t lines, struct buf *out)
{
	if (lines) {
		buf_printf(out, "%s cannot hold %s: omitted from %" PRIu64 " line%s\n",
		           x->format->name, what, lines, lines == 1 ? "" : "s");
	}
}

void export_describe_losses(const struct export *x, struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
		describe_loss(x, name_of(facts[i]), x->lost[facts[i]], out);
	}
	describe_loss(x, "events", x->lost_events, out);
}

void export_own_id(const struct export *x, struct json_writer *j)
{
	jw_put_raw(j, "task", JSON_GET(x->header.value[KEY_TASK], "id"));
	jw_put_raw(j, "sample", x->header.value[KEY_SAMPLE]);
}
