/* Detects whether a symptom still occurs: see symptom.h. */
#include "cmd/golden/symptom.h"

#include "json/canon.h"
#include "report/brief.h"

#include <stdio.h>

/* A step of the golden. The same call in the same state must get the same reply, regardless of
   earlier calls; if replies already differ within the golden, the step is ambiguous and not
   compared. */
struct known_step {
	struct map_item item;
	uint64_t answer;
	bool ambiguous;
};

/* ---- replies ---- */

static uint64_t hash_json(uint64_t hash, struct str value)
{
	AUTO_BUF canon = BUF(BUF_MAX_MESSAGE);

	json_canon(json_is_null(value) ? STR("null") : value, NULL, JSON_EDIT_DROP, &canon);
	hash = map_hash_with(hash, map_hash(buf_view(&canon)));
	return hash;
}

static uint64_t hash_call(const struct line *step)
{
	uint64_t hash = map_hash(line_tool_name(step));
	struct str arguments = line_arguments(step);

	return hash_json(hash, json_is_null(arguments) ? STR("{}") : arguments);
}

/* The state hash after step i. */
static struct str after(const struct rollout_copy *r, size_t i)
{
	const struct line *next = i + 1 < r->count ? &r->steps[i + 1] : &r->end;

	return next->text.p ? line_state_hash(next) : STR_NONE;
}

static uint64_t hash_answer(const struct rollout_copy *r, size_t i)
{
	const struct line *l = &r->steps[i];
	uint64_t hash = map_hash_with((uint64_t)l->outcome, (uint64_t)line_error_class(l));
	struct str state = after(r, i);

	hash = hash_json(hash, l->value[KEY_OBSERVATION]);
	return map_hash_with(hash, state.p ? map_hash(state) : 0);
}

/* Identifies a step by the state before it, or, if that is unknown, by all calls so far. */
static uint64_t hash_place(const struct line *step, uint64_t *history)
{
	struct str state = line_state_hash(step);
	uint64_t call = hash_call(step);
	uint64_t place = map_hash_with(state.p ? map_hash(state) : *history, call);

	*history = map_hash_with(*history, call);
	return place;
}

static void learn(struct symptom *s)
{
	const struct rollout_copy *r = &s->golden->want;
	uint64_t history = 0;

	for (size_t i = 0; i < r->count; i++) {
		uint64_t place = hash_place(&r->steps[i], &history);
		uint64_t answer = hash_answer(r, i);
		struct known_step *known = map_find(&s->steps, place, STR_NONE);

		if (known) {
			known->ambiguous |= known->answer != answer;
			continue;
		}
		known = arena_new(&s->arena, sizeof(*known));
		known->answer = answer;
		map_add(&s->steps, &known->item, place);
	}
}

void symptom_init(struct symptom *s, const char *rule, const struct golden *golden)
{
	*s = (struct symptom){.rule = rule, .golden = golden};
	if (golden)
		learn(s);
}

void symptom_release(struct symptom *s)
{
	arena_release(&s->arena);
}

/* ---- one rollout ---- */

static void take_verdict(void *ctx, const struct rollout_verdict *v)
{
	struct symptom_watch *w = ctx;

	for (size_t i = 0; i < v->finding_count; i++) {
		const struct finding *f = &v->findings[i];

		if (strcmp(f->rule, w->symptom->rule) != 0)
			continue;
		if (!w->seen)
			snprintf(w->message, sizeof(w->message), "%s", f->message);
		w->seen = true;
		w->last_step = f->last_step > w->last_step ? f->last_step : w->last_step;
	}
}

int symptom_watch_start(struct symptom_watch *w, const struct symptom *s, struct error *err)
{
	struct judge_conf conf = {.only = s->rule, .verdict = take_verdict, .ctx = w};

	*w = (struct symptom_watch){.symptom = s, .last_step = -1};
	if (!s->golden)
		return judge_new(&conf, &w->judge, err);
	return masks_strip(s->golden->masks, s->golden->mask_count, &w->strip, err);
}

int symptom_watch_line(void *watch, const struct line *l, struct error *err)
{
	struct symptom_watch *w = watch;

	return w->judge ? judge_line(w->judge, l, NULL, err)
	                : rollout_copy_add(&w->copy, w->strip, l, err);
}

static void note_divergence(struct symptom_watch *w, const struct line *step)
{
	AUTO_BUF text = BUF(sizeof(w->message) - 64);

	brief_call(&text, step);
	snprintf(w->message, sizeof(w->message), "%s did not get the reply in the golden",
	         buf_cstr(&text));
	w->seen = true;
	w->last_step = step->step;
}

void symptom_watch_finish(struct symptom_watch *w)
{
	const struct rollout_copy *r = &w->copy;
	uint64_t history = 0;

	if (w->judge)
		judge_finish(w->judge);
	for (size_t i = 0; i < r->count && !w->seen; i++) {
		const struct known_step *known =
			map_find(&w->symptom->steps, hash_place(&r->steps[i], &history), STR_NONE);

		if (known && !known->ambiguous && known->answer != hash_answer(r, i))
			note_divergence(w, &r->steps[i]);
	}
}

void symptom_watch_release(struct symptom_watch *w)
{
	judge_free(w->judge);
	strip_free(w->strip);
	rollout_copy_release(&w->copy);
	w->judge = NULL;
	w->strip = NULL;
}
