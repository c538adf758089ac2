/* The lines of a model's turns, and recordings of those that no session could be found for: see
   joining.h. */
#include "tap/episode_internal.h"

#include "policy/llm/calls.h"
#include "policy/llm/conversation.h"

#include <stdlib.h>

struct tap_joiner *tap_joiner_new(struct tap_recording *r)
{
	struct tap_joiner *j = mem_new(sizeof(*j));

	j->r = r;
	j->scratch = BUF(BUF_MAX_MESSAGE);
	return j;
}

void tap_joiner_free(struct tap_joiner *j)
{
	if (!j)
		return;
	mem_free_all(map_list(&j->shared), j->shared.count);
	buf_release(&j->scratch);
	free(j);
}

struct tap_joiner *tap_joiner_of(struct tap_recording *r)
{
	return r->joiner;
}

void tap_joiner_skip(struct tap_joiner *j, const struct tap_connection *c)
{
	j->r->counts.model.unread++;
	tap_remark(j->r, c, "a request to the model that cannot be read");
}

/* ---- lines ---- */

/* The sampling parameters, if they differ from the last ones. */
static void put_sent(const struct model_turn *t, struct buf *last, struct buf *llm)
{
	if (!t->request->sent.p || str_eq(t->request->sent, buf_view(last)) || !llm->n)
		return;
	buf_set(last, t->request->sent);
	buf_cut(llm, llm->n - 1);
	buf_text(llm, ",\"sent\":");
	buf_str(llm, t->request->sent);
	buf_char(llm, '}');
}

static void add_message(struct tap_joiner *j, struct str message, struct tap_talk *k,
                        struct buf *messages)
{
	buf_text(messages, messages->n ? "," : "");
	buf_str(messages, message);
	conversation_chain(message, &j->scratch, k->hash);
}

void tap_talk_add(struct tap_joiner *j, struct tap_talk *k, struct model_turn *t,
                  struct buf *messages, struct buf *llm)
{
	const struct tap_prompt *p = t->prompt;
	bool goes_on = model_turn_precedes(k->turn, p, true);
	size_t from = goes_on ? model_turn_length(k->turn) : 0;

	if (!goes_on)
		k->hash[0] = '\0';
	for (size_t i = 0; i < p->count; i++)
		if (p->begins[i] >= from)
			add_message(j, p->messages[i], k, messages);
	about_reply(&t->reply, &t->calls, t->request->seed, k->hash, llm);
	if (t->message.p)
		add_message(j, t->message, k, messages);
	k->sent.max = BUF_MAX_MESSAGE;
	put_sent(t, &k->sent, llm);
	model_turn_free(k->turn);
	k->turn = t;
}

void tap_talk_write(struct tap_joiner *j, struct tap_talk *k, struct model_turn *t,
                    struct tap_lines *l, struct step_fields f)
{
	AUTO_BUF messages = BUF(BUF_MAX_MESSAGE), llm = BUF(BUF_MAX_MESSAGE);
	struct tap_recording *r = j->r;

	tap_talk_add(j, k, t, &messages, &llm);
	f.turn = k->turns++;
	f.messages = buf_view(&messages);
	f.llm = buf_view(&llm);
	f.at_ms = r->conf.clock.unix_ms(r->conf.clock.ctx);
	if (!tap_is_broken(r) && line_writer_turn(&l->writer, &f, &r->failure))
		tap_stop_recording(r);
}

/* ---- rollouts without an environment ---- */

/* Tools are named if none of the conversation's turns called one: otherwise the calls were made,
   but it is not known where. */
static void write_header(struct tap_joiner *j, struct tap_lines *l, const struct model_turn *t,
                         bool called)
{
	struct tap_recording *r = j->r;
	AUTO_ARENA scratch = {0};
	struct header_fields h = {.sample = -1,
	                          .tools = called ? STR_NONE : t->request->tools,
	                          .policy_kind = POLICY_LLM,
	                          .policy_name = json_text(&scratch, t->request->model),
	                          .policy_params = STR("{}"),
	                          .max_turns = -1,
	                          .version = r->conf.version,
	                          .url = str_from(r->conf.model_url)};

	if (!tap_is_broken(r) && line_writer_header(&l->writer, &h, &r->failure))
		tap_stop_recording(r);
}

static struct model_turn *next_of(struct tap_joiner *j, const struct model_turn *t)
{
	struct model_turn *next = j->first;

	while (next && !model_turn_precedes(t, next->prompt, true))
		next = next->next;
	return next;
}

void tap_join_apart(struct tap_joiner *j, struct model_turn *t)
{
	AUTO_BUF id = BUF(BUF_MAX_SMALL);
	struct tap_lines lines = {0};
	struct tap_talk talk = {0};
	struct model_turn *last = t;
	bool called = t->calls.count > 0 || t->prompt->results > 0;

	tap_join_remove(j, t);
	for (struct model_turn *next; (next = next_of(j, last)) != NULL; last = next) {
		tap_join_remove(j, next);
		last->next = next;
		called |= next->calls.count > 0;
	}
	buf_printf(&id, "model.%llu", (unsigned long long)++j->conversations);
	naming_claim(&j->r->naming, &id);
	tap_lines_open(j->r, buf_cstr(&id), true, &lines);
	write_header(j, &lines, t, called);
	for (struct model_turn *next; t; t = next) {
		next = t->next;
		tap_talk_write(j, &talk, t, &lines, (struct step_fields){0});
		j->r->counts.model.apart++;
	}
	struct end_fields end = {
		.status = END_STOPPED,
		.reason = "turns of a model for which no environment session is known",
		.turns = talk.turns};
	tap_lines_close(j->r, &lines, &end);
	model_turn_free(talk.turn);
	buf_release(&talk.sent);
}
