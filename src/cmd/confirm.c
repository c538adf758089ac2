/* run --confirm: see confirm.h. */
#include "cmd/confirm.h"

#include "base/log.h"
#include "base/text.h"
#include "cmd/options/config_file.h"
#include "cmd/options/setting_options.h"

#include <stdio.h>
#include <stdlib.h>

struct confirm {
	struct arena arena;
	struct explaining explaining;
	struct history_script *history; /* NULL before the first step */
	struct str rollout;             /* the first one's id */
	struct str state_ignore;
	struct history_step last; /* until the line with the state after it */
	bool pending, enough;
	bool asked, sent;
	bool owned; /* each session has an environment of its own */
	struct buf said;
};

#define SETTLE_MS 5000 /* how long a closed session may keep its slot */

struct confirm *confirm_new(bool asked, const struct hints *hints)
{
	struct confirm *c = mem_new(sizeof(*c));

	c->said = BUF(BUF_MAX_SMALL);
	c->asked = asked;
	c->explaining = (struct explaining){.names = true,
	                                    .effects = hints->effects,
	                                    .effect_count = hints->effect_count,
	                                    .ignored = hints->ignored,
	                                    .ignored_count = hints->ignored_count};
	return c;
}

void confirm_free(struct confirm *c)
{
	if (!c)
		return;
	history_free(c->history);
	buf_release(&c->said);
	arena_release(&c->arena);
	free(c);
}

static void take_header(struct confirm *c, const struct evidence_update *u)
{
	struct str source = u->derived.line->value[KEY_STATE_SOURCE];

	c->rollout = arena_str(&c->arena, u->rollout->id);
	c->owned = u->rollout->protocol == PROTOCOL_MCP_GYM ||
	           u->rollout->protocol == PROTOCOL_OPENENV;
	c->state_ignore = arena_str(&c->arena, JSON_GET(source, "ignore"));
	c->explaining.names = !str_is(JSON_GET(source, "names"), "false");
	c->history = history_new(&c->explaining, c->state_ignore);
}

static bool is_true(const struct line *l, enum key key)
{
	return str_is(l->value[key], "true");
}

static void take_step(struct confirm *c, const struct derived_line *m)
{
	const struct line *l = m->line;

	c->last = (struct history_step){
		.name = json_text(&c->arena, JSON_GET(l->value[KEY_TOOL_CALL], "name")),
		.arguments = arena_str(&c->arena, m->arguments),
		.outcome = l->outcome,
		.observation = env_reply_whole(l->value[KEY_OBSERVATION], l->value[KEY_STRUCTURED],
	                                       &c->arena),
		.idle = m->idle,
		.over = is_true(l, KEY_TERMINATED) || is_true(l, KEY_TRUNCATED)};
	c->pending = c->last.name.p != NULL;
}

void confirm_line(struct confirm *c, const struct evidence_update *u)
{
	const struct line *l = u->derived.line;

	if (!l || !u->rollout || c->enough)
		return;
	if (!c->history && l->type == LINE_HEADER)
		take_header(c, u);
	if (!c->history || !str_eq(u->rollout->id, c->rollout))
		return;
	bool next = l->type == LINE_STEP || l->type == LINE_RESET || l->type == LINE_END;
	if (c->pending && next) {
		struct str state = l->value[KEY_STATE];

		c->last.state = json_is_null(state) ? STR_NONE : state;
		c->enough = !history_add(c->history, &c->last) || l->type == LINE_RESET;
		c->pending = false;
	}
	if (u->derived.is_step && !c->enough && !u->derived.outside_episode)
		take_step(c, &u->derived);
}

static const char *doubt(const struct judge_summary *s, char *text, size_t size)
{
	const struct movement *m = &s->movement;

	if (s->errors + s->warnings + s->infos > 0)
		return "there are findings";
	if (s->failed) {
		snprintf(text, size, "%lld of %lld steps failed", (long long)s->failed,
		         (long long)s->steps);
		return text;
	}
	if (m->moved == m->acting)
		return NULL;
	snprintf(text, size, "the state is known to have changed in only %lld of %lld steps",
	         (long long)m->moved, (long long)m->acting);
	return text;
}

static void conclude(const struct history_verdict *v, bool asked, struct judge *j, struct buf *out)
{
	struct judge_summary s;
	char text[240];
	const char *why = v->why;

	judge_summary(j, &s);
	switch (v->drawn && v->answer == HISTORY_KEPT ? HISTORY_UNKNOWN : v->answer) {
	case HISTORY_NONE:
		snprintf(text, sizeof(text),
		         "%zu of %zu replies%s are the same in a fresh session%s", v->compared,
		         v->compared, v->drawn ? " to calls drawn from the tools' schemas" : "",
		         v->has_episodes ? ""
		                         : "; so are those of tools that only compute, look "
		                           "something up or acknowledge");
		judge_confirm(j, asked && v->has_episodes && !v->drawn ? REFUTED : DOUBTED, text);
		return;
	case HISTORY_KEPT:
		why = doubt(&s, text, sizeof(text));
		why = why ? why : v->why;
		if (!why[0]) {
			judge_confirm(j, CONFIRMED, "");
			return;
		}
		buf_printf(out, "replies depend on earlier calls, but ");
		break;
	case HISTORY_UNKNOWN:
		buf_text(out, "unknown whether replies depend on earlier calls: ");
		break;
	}
	judge_confirm(j, UNCONFIRMED, "");
	text_escape_line(out, str_from(why));
}

static int send_calls(struct confirm *c, struct driver *d, const struct env_conf *env,
                      struct history_verdict *v, struct error *err)
{
	struct history_conf conf = {
		.env_ops = d->env_ops, .env = env, .episodes = c->owned, .settle_ms = SETTLE_MS};

	if (driver_new_io(d, &conf.io, err))
		return -1;
	int failed = history_run(c->history, &conf, v, err);
	io_free(conf.io);
	return failed;
}

int confirm_run(struct confirm *c, struct driver *d, const struct env_conf *env, struct judge *j,
                bool quiet, struct error *err)
{
	struct history_verdict v = {.answer = HISTORY_UNKNOWN};
	struct judge_summary s;
	size_t sessions, calls;

	judge_summary(j, &s);
	if (!c->history || !d->env_ops || s.movement.acting == 0 || s.errors > 0)
		return 0;
	const char *useless = history_plan(c->history, &sessions, &calls);
	bool unasked = c->owned && s.movement.moved == 0 && s.movement.unknown > 0 &&
	               judge_has_rule(j, &check_no_history);

	if (!c->asked && (useless || !unasked))
		return 0;
	c->sent = true;
	if (!useless && !quiet) {
		log_warn("history: %zu session%s for %zu calls", sessions, sessions == 1 ? "" : "s",
		         calls);
	}
	if (send_calls(c, d, env, &v, err))
		return -1;
	conclude(&v, c->asked, j, &c->said);
	return 0;
}

/* The file of the recording exists by now: the repeated run is recorded elsewhere. Returns how many
   words name it. */
static int words_of_out(char *const *word)
{
	bool apart = !strcmp(word[0], "-o") || !strcmp(word[0], "--out");

	return apart && word[1] ? 2 : !strncmp(word[0], "--out=", 6) || !strncmp(word[0], "-o", 2);
}

static void propose(const struct confirm *c, const struct driver *d, const struct judge *j,
                    struct buf *out)
{
	AUTO_BUF line = BUF(BUF_MAX_SMALL);
	struct judge_summary s;

	judge_summary(j, &s);
	bool all_moved = !s.failed && s.movement.moved == s.movement.acting;
	/* one call has none before it */
	if (s.errors > 0 || all_moved || s.movement.acting < 2 * s.rollouts)
		return;
	buf_text(&line, "rolldbg");
	for (char *const *word = d->target.context->typed; *word;) {
		int skipped = words_of_out(word);

		if (!skipped) {
			buf_char(&line, ' ');
			config_shell_word(&line, *word);
		}
		word += skipped ? skipped : 1;
	}
	buf_printf(
		out, "to know whether replies depend on earlier calls%s:\n  ",
		c->owned
			? ""
			: " (if the server keeps its data, on a copy: see CONFIRMATION in rolldbg-run(1))");
	secrets_redact(d->target.secrets, buf_view(&line), out);
	settings_put(out, " \1confirm\2\n");
}

void confirm_say(const struct confirm *c, const struct driver *d, const struct judge *j,
                 struct buf *out)
{
	if (c->sent)
		buf_str(out, buf_view(&c->said));
	else if (!c->asked)
		propose(c, d, j, out);
}
