/* The first divergence of a replay: see divergence.h. */
#include "report/divergence.h"

#include "base/text.h"
#include "compare/rollout_copy.h"
#include "evidence/evidence.h"
#include "json/write.h"

/* ---- the steps after it ---- */

/* The calls from one step on, as recorded in the rollout. */
struct since {
	int64_t calls, ok;
	int64_t effective, unknown; /* steps, counted as in all summaries (evidence/evidence.h) */
};

struct since_counting {
	struct evidence *facts;
	int64_t from;
	struct since *out;
};

static void add_effects(struct since_counting *c, const struct rollout_facts *r)
{
	for (int64_t i = 0; i < r->steps; i++) {
		if (r->completed[i].step >= c->from) {
			c->out->effective += r->completed[i].effect == EFFECT_CHANGED;
			c->out->unknown += r->completed[i].effect == EFFECT_UNKNOWN;
		}
	}
}

static void add(struct since_counting *c, const struct line *l)
{
	struct evidence_update u;
	struct error ignored; /* lines that evidence_line rejects are not counted */

	if (!l->text.p || evidence_line(c->facts, l, NULL, &u, &ignored))
		return;
	if (u.derived.is_step && l->step >= c->from) {
		c->out->calls++;
		c->out->ok += l->outcome == OUTCOME_OK;
	}
	if (u.end)
		add_effects(c, u.rollout);
}

static void since_step(const struct rollout_copy *r, int64_t step, struct since *out)
{
	struct since_counting c = {evidence_new(&(struct evidence_conf){.lenient = true}), step,
	                           out};

	*out = (struct since){.calls = 0};
	add(&c, &r->header);
	add(&c, &r->reset);
	for (size_t i = 0; i < r->count; i++)
		add(&c, &r->steps[i]);
	add(&c, &r->end);
	struct evidence_update u;
	while (evidence_end_next(c.facts, &u))
		add_effects(&c, u.rollout);
	evidence_free(c.facts);
}

/* ---- the text ---- */

struct str rollout_copy_status(const struct rollout_copy *r)
{
	return str_from(end_status_name(r->end.text.p ? r->end.status : END_INCOMPLETE));
}

struct str rollout_copy_reward(const struct rollout_copy *r)
{
	return line_has(&r->end, KEY_TOTAL_REWARD) ? r->end.value[KEY_TOTAL_REWARD] : STR("null");
}

static void put_place(const struct difference *first, size_t steps, struct buf *out)
{
	const struct line *l = first->line;

	if (!l || l->type != LINE_STEP) {
		buf_printf(out, "the %s", l ? line_type_name(l->type) : "whole rollout");
		return;
	}
	buf_printf(out, "step %lld of %zu", (long long)l->step, steps);
	if (first->kind == DIFFERENCE_MISSING_STEP || first->kind == DIFFERENCE_EXTRA_STEP) {
		buf_text(out, first->kind == DIFFERENCE_MISSING_STEP ? " was not sent"
		                                                     : " is an extra step");
	}
}

static int64_t step_of(const struct difference *first)
{
	if (!first->line || first->line->type == LINE_END)
		return INT64_MAX;
	return first->line->type == LINE_STEP ? first->line->step : 0;
}

static void put_since(const struct replayed_pair *pair, int64_t step, struct buf *out)
{
	struct since since;

	since_step(pair->got, step, &since);
	if (!since.calls)
		return;
	buf_printf(out, "; from there on %lld call%s, %lld ok, %lld effective",
	           (long long)since.calls, since.calls == 1 ? "" : "s", (long long)since.ok,
	           (long long)since.effective);
	if (since.unknown)
		buf_printf(out, " (%lld unknown)", (long long)since.unknown);
}

static void put_end(struct str status, struct str reward, struct buf *out)
{
	buf_str(out, status.n ? status : STR("end unknown"));
	buf_text(out, ", reward ");
	text_escape_cut(out, json_is_null(reward) ? STR("unknown") : reward, 20);
}

void report_divergence(const struct replayed_pair *pair, const struct difference *first,
                       struct style style, struct buf *out)
{
	struct str status = rollout_copy_status(pair->got), reward = rollout_copy_reward(pair->got);
	struct str old_status = rollout_copy_status(pair->want),
		   old_reward = rollout_copy_reward(pair->want);

	struct buf text = BUF(BUF_MAX_MESSAGE);

	buf_text(&text, "first divergence: ");
	put_place(first, pair->want->count, &text);
	put_since(pair, step_of(first), &text);
	buf_text(&text, "; ");
	put_end(status, reward, &text);
	if (!str_eq(status, old_status) || !str_eq(reward, old_reward)) {
		buf_text(&text, " (golden: ");
		put_end(old_status, old_reward, &text);
		buf_char(&text, ')');
	}
	buf_text(out, "  ");
	text_wrap(out, buf_view(&text), 4, style.terminal ? style.columns : SIZE_MAX);
	buf_release(&text);
}

void report_divergence_json(const struct replayed_pair *pair, const struct difference *first,
                            const char *file, struct buf *out)
{
	struct since since;
	struct json_writer w;
	int64_t step = step_of(first);

	since_step(pair->got, step, &since);
	jw_line(&w, out, "divergence");
	jw_pack(&w, "file:%t,rollout:%s,line:%t,step:%c", file, first->rollout,
	        first->line ? line_type_name(first->line->type) : NULL,
	        first->line && first->line->type == LINE_STEP ? step : -1);
	jw_pack(&w, "calls:%i,ok:%i,effective:%i,unknown:%i", since.calls, since.ok,
	        since.effective, since.unknown);
	jw_pack(&w, "status:%s,reward:%r,expected_status:%s,expected_reward:%r",
	        rollout_copy_status(pair->got), rollout_copy_reward(pair->got),
	        rollout_copy_status(pair->want), rollout_copy_reward(pair->want));
	jw_line_end(&w);
}
