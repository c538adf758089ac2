/* The lines of a model's turns, and recordings of those that no session could be found for: see
   joining.h. */
#include "tap/episode_internal.h"

#include "policy/llm/calls.h"
#include "policy/llm/conversation.h"

#include <stdlib.h>

struct tap_joiner *tap_joiner_new(struct tap_recording *r, const char *url)
{
	struct tap_joiner *j = mem_new(sizeof(*j));

	j->r = r;
	j->url = url;
	j->scratch = BUF(BUF_MAX_MESSAGE);
	r->joiner = j;
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

const struct tap_join_counts *tap_joiner_counts(const struct tap_joiner *j)
{
	return &j->counts;
}

void tap_joiner_skip(struct tap_joiner *j, const struct tap_connection *c)
{
	j->counts.unread++;
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

void tap_join_write(struct tap_joiner *j, struct tap_talk *k, const struct model_turn *t,
                    size_t from, struct buf *messages, struct buf *llm)
{
	const struct tap_prompt *p = t->prompt;

	for (size_t i = 0; i < p->count; i++)
		if (p->begins[i] >= from)
			add_message(j, p->messages[i], k, messages);
	about_reply(&t->reply, &t->calls, t->request->seed, k->hash, llm);
	if (t->message.p)
		add_message(j, t->message, k, messages);
	k->sent.max = BUF_MAX_MESSAGE;
	put_sent(t, &k->sent, llm);
}

/* ---- rollouts without an environment ---- */

struct apart {
	struct tap_joiner *j;
	struct tap_lines lines;
	struct tap_talk talk;
	struct buf id, messages, llm;
};

/* Tools are named if none of the conversation's turns called one: otherwise the calls were made,
   but it is not known where. */
static void write_header(struct apart *a, const struct model_turn *t, bool called)
{
	struct tap_recording *r = a->j->r;
	AUTO_ARENA scratch = {0};
	struct error err = {0};
	struct header_fields h = {.sample = -1,
	                          .tools = called ? STR_NONE : t->request->tools,
	                          .policy_kind = POLICY_LLM,
	                          .policy_name = json_text(&scratch, t->request->model),
	                          .policy_params = STR("{}"),
	                          .max_turns = -1,
	                          .version = r->conf.version,
	                          .url = str_from(a->j->url)};

	if (!tap_is_broken(r) && line_writer_header(&a->lines.writer, &h, &err))
		tap_stop_recording(r, &err);
}

static void write_apart(struct apart *a, const struct model_turn *t, size_t from)
{
	struct tap_recording *r = a->j->r;
	struct error err = {0};

	buf_clear(&a->messages);
	buf_clear(&a->llm);
	tap_join_write(a->j, &a->talk, t, from, &a->messages, &a->llm);
	struct step_fields f = {.turn = a->talk.turns++,
	                        .messages = buf_view(&a->messages),
	                        .llm = buf_view(&a->llm),
	                        .at_ms = r->conf.clock.unix_ms(r->conf.clock.ctx)};
	if (!tap_is_broken(r) && line_writer_turn(&a->lines.writer, &f, &err))
		tap_stop_recording(r, &err);
	a->j->counts.apart++;
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
	struct apart a = {.j = j,
	                  .id = BUF(BUF_MAX_SMALL),
	                  .messages = BUF(BUF_MAX_MESSAGE),
	                  .llm = BUF(BUF_MAX_MESSAGE)};
	struct model_turn *chain = t, *last = t;
	bool called = t->calls.count > 0 || t->prompt->results > 0;

	tap_join_remove(j, t);
	for (struct model_turn *next; (next = next_of(j, last)) != NULL; last = next) {
		tap_join_remove(j, next);
		last->next = next;
		called |= next->calls.count > 0;
	}
	buf_printf(&a.id, "model.%llu", (unsigned long long)++j->conversations);
	naming_claim(&j->r->naming, &a.id);
	tap_lines_open(j->r, j->r->conf.open_apart, buf_cstr(&a.id), &a.lines);
	write_header(&a, t, called);
	for (size_t from = 0; chain; chain = t) {
		write_apart(&a, chain, from);
		from = model_turn_length(chain);
		t = chain->next;
		model_turn_free(chain);
	}
	struct end_fields end = {
		.status = END_STOPPED,
		.reason = "turns of a model for which no environment session is known",
		.turns = a.talk.turns};
	tap_lines_close(j->r, &a.lines, &end);
	BUFS_RELEASE(&a.id, &a.messages, &a.llm, &a.talk.sent);
}
