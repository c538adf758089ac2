/* Inspect's evaluation logs as JSON (version 2): a document with samples, each with its messages.
   .eval logs, zip archives of the same data, are converted to JSON first
   (convert/inspect_archive.c). */
#include "recording/foreign.h"

#include "convert/dialog.h"
#include "convert/import.h"

#include <inttypes.h>

static bool is_inspect(struct str value)
{
	return json_type(JSON_GET(value, "eval")) == JSON_OBJECT && JSON_GET(value, "status").p &&
	       JSON_GET(value, "version").p;
}

/* The first numeric score; C and I stand for correct and incorrect. */
static struct str score_of(struct str scores)
{
	struct json_member one;
	size_t cursor = 0;

	while (json_next_member(scores, &cursor, &one)) {
		struct str value = JSON_GET(one.value, "value");

		if (json_type(value) == JSON_NUMBER)
			return value;
		if (json_is(value, STR("C")))
			return STR("1");
		if (json_is(value, STR("I")))
			return STR("0");
	}
	return STR_NONE;
}

static struct import_end end_of(struct import *m, struct str sample)
{
	struct str error = JSON_GET(sample, "error"), limit = JSON_GET(sample, "limit");
	struct import_end e = {.total_reward = score_of(JSON_GET(sample, "scores"))};

	if (!json_is_null(error)) {
		e.status = END_FAILED;
		e.reason = import_text(m, JSON_GET(error, "message"));
	} else if (!json_is_null(limit)) {
		e.status = END_TRUNCATED;
		e.reason = import_text(m, JSON_GET(limit, "type"));
	}
	return e;
}

/* Each epoch of a sample is a rollout, numbered by its epoch regardless of the order in which they
   ended; epoch absent: counted. */
static struct str rollout_id(struct import *m, struct str task, struct str epoch, int64_t *sample)
{
	struct buf id = BUF(BUF_MAX_SMALL);
	int64_t n;

	if (!json_i64(epoch, &n) || n < 1)
		return STR_NONE;
	*sample = n - 1;
	buf_str(&id, task);
	buf_printf(&id, ".%" PRId64, *sample);
	struct str kept = arena_str(&m->arena, buf_view(&id));
	buf_release(&id);
	return kept;
}

static int import_inspect(struct import *m, struct str value, struct error *err)
{
	struct str eval = JSON_GET(value, "eval"), samples = JSON_GET(value, "samples"), sample;
	size_t cursor = 0;

	if (!is_inspect(value)) {
		return error_set(err, FAIL_INPUT,
		                 "not an evaluation log: version, status and eval are required");
	}
	if (!json_count(samples))
		return error_set(err, FAIL_INPUT, "the evaluation log has no samples");
	while (json_next(samples, &cursor, &sample)) {
		struct import_header h = {
			.task = import_task(m, JSON_GET(sample, "id")),
			.env_name = import_text(m, JSON_GET(eval, "task")),
			.policy_name = import_text(m, JSON_GET(eval, "model")),
		};
		struct import_end e = end_of(m, sample);
		struct dialog d;

		h.id = rollout_id(m, h.task, JSON_GET(sample, "epoch"), &h.sample);
		dialog_open(m, &d, &h);
		dialog_messages(m, &d, JSON_GET(sample, "messages"));
		dialog_end(m, &d, &e);
	}
	return 0;
}

const struct format format_inspect = {
	.name = "inspect",
	.what = "Inspect's evaluation logs (.eval, or JSON: version, status, eval, samples)",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(OUTCOME) | FACT(TOTAL_REWARD),
	.is = is_inspect,
	.take = import_inspect,
};
