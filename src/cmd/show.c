/* rolldbg show: a recording for people. */
#include "base/mem.h"
#include "base/text.h"
#include "cmd/store.h"
#include "cmd/verdicts.h"
#include "policy/llm/conversation.h"
#include "trajectory/reader.h"

#include <stdlib.h>

struct show_options {
	struct opt_u64 turn;
	const char *rollout;
	bool prompt, json;
};

static const struct opt options[] = {
	{'t', "turn", "N", OPT_U64, OPT(struct show_options, turn), "show turn N in full",
         NULL},
	{'r', "rollout", "ID", OPT_STR, OPT(struct show_options, rollout),
         "show only this rollout", NULL},
	{0, "prompt", NULL, OPT_FLAG, OPT(struct show_options, prompt),
         "with --turn: show the whole conversation the model saw before it", NULL},
	{0, "json", NULL, OPT_FLAG, OPT(struct show_options, json),
         "with --prompt: print it as one JSON array of messages", NULL},
};

struct showing {
	const struct context *context;
	const struct show_options *opts;
	struct output out;
	struct table *table;
	struct buf ids; /* of the rollouts seen, comma separated, for the message */
	struct buf chosen;
	size_t rollouts;
	bool found;

	/* Of --prompt: the chain over the messages so far, and what the recording says.
	 */
	struct hasher *hasher;
	struct buf scratch;
	char hash[HASH_HEX + 1];
	bool wrong_hash;
};

static bool wanted(const struct showing *s, const struct line *l)
{
	return !s->opts->rollout || str_is(l->rollout, s->opts->rollout);
}

static void remember_id(struct showing *s, const struct line *l)
{
	if (l->type != LINE_HEADER) {
		return;
	}
	s->rollouts++;
	if (s->rollouts <= 20) {
		buf_text(&s->ids, s->ids.n ? ", " : "");
		buf_str(&s->ids, l->rollout);
	} else if (s->rollouts == 21) {
		buf_text(&s->ids, ", ...");
	}
}

/* The lines of one turn: its step, and the events around it. */
static void take_turn(struct showing *s, const struct line *l)
{
	bool at_turn = (l->type == LINE_STEP || l->type == LINE_EVENT) && l->turn >= 0 &&
	               (uint64_t)l->turn == s->opts->turn.value;

	if (at_turn) {
		s->found = true;
		buf_text(&s->chosen, s->chosen.n ? "\n" : "");
		report_turn(l, s->context->style, &s->chosen);
	}
}

/* The prompt of a turn is what the reset and the turns before it added. */
static void take_messages(struct showing *s, struct str messages)
{
	struct str message;

	for (size_t cursor = 0; json_next(messages, &cursor, &message);) {
		conversation_chain(s->hasher, message, &s->scratch, s->hash);
		if (s->opts->json) {
			buf_text(&s->chosen, s->chosen.n ? "," : "[");
			buf_str(&s->chosen, message);
		} else {
			report_message(message, s->context->style, &s->chosen);
		}
	}
}

static void take_prompt(struct showing *s, const struct line *l)
{
	int64_t turn = (int64_t)s->opts->turn.value;
	struct str hash = JSON_GET(l->value[KEY_LLM], "prompt_hash");

	if (l->type == LINE_HEADER) {
		s->hash[0] = '\0';
		s->found = false;
		buf_clear(&s->chosen);
	} else if (l->type == LINE_RESET || (l->type == LINE_STEP && l->turn < turn)) {
		take_messages(s, l->value[KEY_MESSAGES]);
	} else if (l->type == LINE_STEP && l->turn == turn && !s->found) {
		s->found = true;
		s->wrong_hash = hash.p && !json_is(hash, str_from(s->hash));
	}
}

static int take(void *ctx, const struct line *l, const struct reader_note *note,
                struct error *err)
{
	struct showing *s = ctx;

	if (note->torn) {
		buf_printf(&s->out.text, "%5s  the last line is torn (line %llu)\n", "!",
		           (unsigned long long)note->line);
		return 0;
	}
	remember_id(s, l);
	if (!wanted(s, l) || l->type == LINE_UNKNOWN) {
		return 0;
	}
	if (s->opts->prompt) {
		take_prompt(s, l);
		return 0;
	}
	if (s->opts->turn.given) {
		take_turn(s, l);
		return 0;
	}
	s->found = true;
	table_line(s->table, l, &s->out.text);
	return output_flush_some(&s->out, err);
}

static int finish(struct showing *s, struct error *err)
{
	if (s->opts->turn.given && !s->opts->rollout && s->rollouts > 1) {
		return error_set(err, FAIL_USAGE,
		                 "--turn needs --rollout ID: the recording holds %zu "
		                 "rollouts (%s)",
		                 s->rollouts, buf_cstr(&s->ids));
	}
	if (!s->found && s->opts->rollout && !s->opts->turn.given) {
		return error_set(err, FAIL_USAGE, "there is no rollout '%s' (%s)",
		                 s->opts->rollout, buf_cstr(&s->ids));
	}
	if (!s->found && s->opts->turn.given) {
		return error_set(err, FAIL_USAGE, "there is no turn %llu",
		                 (unsigned long long)s->opts->turn.value);
	}
	table_finish(s->table, &s->out.text);
	if (s->opts->prompt && s->opts->json) {
		buf_text(&s->chosen, s->chosen.n ? "]\n" : "[]\n");
	}
	buf_str(&s->out.text, buf_view(&s->chosen));
	if (output_flush(&s->out, err)) {
		return -1;
	}
	return s->wrong_hash
	               ? error_set(err, FAIL_INPUT,
	                           "these messages are not the prompt that the model "
	                           "was given: the turn's prompt_hash differs "
	                           "(masked, edited, or incomplete)")
	               : 0;
}

static int check_options(const struct show_options *o, struct error *err)
{
	if (o->prompt && !o->turn.given) {
		return error_set(err, FAIL_USAGE, "--prompt needs --turn N");
	}
	if (o->json && !o->prompt) {
		return error_set(err, FAIL_USAGE, "--json goes with --prompt");
	}
	return 0;
}

static int show_run(const struct context *c, const void *opts, int argc, char **argv,
                    struct error *err)
{
	struct showing s = {.context = c,
	                    .opts = opts,
	                    .out = output_to_stdout(),
	                    .table = table_new(c->style),
	                    .ids = BUF(BUF_MAX_SMALL),
	                    .chosen = BUF(BUF_MAX_MESSAGE),
	                    .hasher = hasher_new(),
	                    .scratch = BUF(BUF_MAX_MESSAGE)};
	struct buf latest = BUF(BUF_MAX_SMALL);
	struct reader *r = NULL;
	int failed = check_options(opts, err) || (!argc && store_latest(c, &latest, err));

	if (!failed) {
		failed = reader_open(argc ? argv[0] : buf_cstr(&latest), &r, err) ||
		         reader_each(r, take, &s, err) || finish(&s, err);
	}
	if (failed) {
		struct error ignored; /* the rows before the fault are worth seeing */
		(void)!output_flush(&s.out, &ignored);
	}
	table_free(s.table);
	output_release(&s.out);
	buf_release(&s.ids);
	buf_release(&s.chosen);
	buf_release(&s.scratch);
	hasher_free(s.hasher);
	buf_release(&latest);
	return failed ? -1 : 0;
}

const struct command command_show = {
	.name = "show",
	.summary = "show a recording as a table, or one turn in full",
	.operands = "[FILE]",
	.description = "One row for each step: the call, how the environment answered, "
		       "whether the state changed, the reward and, where the terminal is "
		       "wide enough, what the policy got to see. Rows with ! are events. "
		       "Without FILE: the latest recording.",
	.max_operands = 1,
	.opts = options,
	.opt_count = ARRAY_LEN(options),
	.opts_size = sizeof(struct show_options),
	.run = show_run,
};
