/* The formats of eval-protocol. */
#include "convert/dialog.h"
#include "convert/export.h"
#include "convert/import.h"
#include "json/python.h"
#include "recording/foreign.h"

/* ---- playback files ---- */

/* eval-protocol's playback files (EP_PLAYBACK_FILE, REWARD_KIT_PLAYBACK_FILE): one line per
   environment step, with the whole conversation so far; lines of several environments are
   interleaved. Only messages that a line adds are read. */
static bool is_eval_protocol(struct str value)
{
	return JSON_GET(value, "env_index").p && JSON_GET(value, "step").p &&
	       json_type(JSON_GET(value, "messages")) == JSON_ARRAY;
}

/* The first prompt contains the initial state in Python's notation: "{observation}". */
static struct str first_observation(struct import *m, struct str messages)
{
	struct str one;
	size_t cursor = 0;
	bool found = false;

	while (!found && json_next(messages, &cursor, &one)) {
		if (!json_is(JSON_GET(one, "role"), STR("user")))
			continue;
		buf_clear(&m->value);
		buf_clear(&m->work);
		json_text_or_json(JSON_GET(one, "content"), &m->value);
		if (!python_find(buf_view(&m->value), &m->work))
			return STR_NONE;
		found = true;
	}
	return found ? arena_str(&m->arena, buf_view(&m->work)) : STR_NONE;
}

static void begin(struct import *m, struct open_dialog *e, struct str index, struct str messages)
{
	AUTO_BUF task = BUF(BUF_MAX_SMALL);

	buf_text(&task, "env-");
	json_text_or_json(index, &task);
	struct import_header header = {.task = arena_str(&m->arena, buf_view(&task))};
	dialog_open(m, &e->dialog, &header);
	e->dialog.start = arena_str(&e->dialog.arena, first_observation(m, messages));
	e->messages = 0;
	e->step = -1;
}

static void end_environment(struct import *m, struct open_dialog *e)
{
	struct import_end end = {.reason = buf_given(&e->last)};

	dialog_end(m, &e->dialog, &end);
}

static void keep_reason(struct import *m, struct open_dialog *e, struct str message)
{
	struct str step = JSON_GET(message, "control_plane_step");
	struct str reason = json_text(&m->arena, JSON_GET(step, "termination_reason"));

	if (reason.p)
		buf_set(&e->last, reason);
}

static int import_eval_protocol(struct import *m, struct str value, struct error *err)
{
	struct str messages = JSON_GET(value, "messages"), one;
	struct str index = JSON_GET(value, "env_index");
	struct open_dialog *e;
	size_t cursor = 0, n = 0;
	int64_t step;

	if (!is_eval_protocol(value) || !json_i64(JSON_GET(value, "step"), &step)) {
		return error_set(
			err, FAIL_INPUT,
			"not a line of a playback file: env_index, step and messages are required");
	}
	e = dialogs_find(m, map_hash(index), err);
	if (!e)
		return -1;
	if (e->dialog.id && step <= e->step && json_count(messages) < e->messages)
		end_environment(m, e); /* another run was appended to the file */
	if (!e->dialog.id)
		begin(m, e, index, messages);
	while (json_next(messages, &cursor, &one)) {
		if (n++ >= e->messages) {
			dialog_message(m, &e->dialog, one, NULL);
			keep_reason(m, e, one);
		}
	}
	e->messages = n > e->messages ? n : e->messages;
	e->step = step;
	return 0;
}

/* Writes one line per turn, with the conversation so far. Playback runs all calls of the last
   message, so one line per call would repeat the calls of a turn with several. */
static int write(struct export *x, struct error *err)
{
	AUTO_BUF messages = BUF(BUF_MAX_MESSAGE);
	size_t turn = 0;

	export_prompt(x, MESSAGES_METADATA, 0, &messages);
	for (size_t i = 0; i < x->r.count && !x->out->full; turn++) {
		i = export_turn(x, i, MESSAGES_METADATA, 0, &messages);
		buf_printf(x->out, "{\"env_index\":%zu,\"step\":%zu,\"messages\":[", x->index,
		           turn);
		buf_str(x->out, buf_view(&messages));
		buf_text(x->out, "]}\n");
	}
	bool full = messages.full;
	return full ? error_set(err, FAIL_INPUT, "the conversation is longer than a line") : 0;
}

const struct format format_eval_protocol = {
	.name = "eval-protocol",
	.what = "eval-protocol playback files: env_index, step, messages",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(REWARD) | FACT(TERMINATED),
	.is = is_eval_protocol,
	.take = import_eval_protocol,
	.writer = &(const struct format_writer){.write = write},
	.finish = dialogs_finish,
};
