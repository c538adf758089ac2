/* The summary of one recording: see stored_summary.h. */
#include "cmd/store/stored_summary.h"

#include "base/text.h"

struct summarizing {
	struct arena *arena;
	struct stored_summary *out;
	bool broken;
	struct str last_task;
};

const char *stored_verdict_name(enum stored_verdict v)
{
	static const char *const names[STORED_VERDICTS] = {
		[STORED_CLEAN] = "clean",       [STORED_WARNING] = "warning",
		[STORED_ERROR] = "error",       [STORED_UNKNOWN] = "unknown",
		[STORED_UNUSABLE] = "unusable",
	};

	return names[v];
}

bool stored_summary_found(const struct stored_summary *s, const char *rule)
{
	for (size_t i = 0; i < s->rule_count; i++) {
		if (!strcmp(s->rules[i], rule)) {
			return true;
		}
	}
	return false;
}

static void take_header(struct summarizing *s, const struct line *l)
{
	struct stored_summary *o = s->out;

	if (o->protocol.p) {
		return;
	}
	o->env = json_text(s->arena, JSON_GET(l->value[KEY_ENV], "name"));
	o->protocol = json_text(s->arena, JSON_GET(l->value[KEY_ENV], "protocol"));
	o->url = json_text(s->arena, JSON_GET(l->value[KEY_META], "url"));
	o->started = json_text(s->arena, JSON_GET(l->value[KEY_META], "started"));
}

static void take_line(void *ctx, const struct evidence_update *u)
{
	if (u->derived.line && u->derived.line->type == LINE_HEADER) {
		take_header(ctx, u->derived.line);
	}
}

static void take_rules(struct stored_summary *o, const struct rollout_verdict *v)
{
	for (size_t i = 0; i < v->finding_count; i++) {
		const char *rule = v->findings[i].rule;

		if (!stored_summary_found(o, rule) && o->rule_count < ARRAY_LEN(o->rules)) {
			o->rules[o->rule_count++] = rule;
		}
	}
}

static void take_verdict(void *ctx, const struct rollout_verdict *v)
{
	struct summarizing *s = ctx;

	take_rules(s->out, v);
	if (!v->rollout.p) {
		return;
	}
	s->broken = s->broken || v->status == END_REFUSED || v->status == END_UNREACHABLE ||
	            v->status == END_FAILED;
	if (!s->out->status.p) {
		s->out->status = str_from(end_status_name(v->status));
		s->out->task = arena_str(s->arena, v->task);
	}
	if (s->out->tasks == 0 || !str_eq(v->task, s->last_task)) {
		s->last_task = arena_str(s->arena, v->task);
		s->out->tasks++;
	}
}

static enum stored_verdict verdict_of(const struct judge_summary *sums, bool broken)
{
	if (sums->errors || broken) {
		return STORED_ERROR;
	}
	if (sums->warnings) {
		return STORED_WARNING;
	}
	return sums->steps && sums->effective < 0 ? STORED_UNKNOWN : STORED_CLEAN;
}

void stored_summarize(const char *path, struct arena *arena, struct stored_summary *out)
{
	struct summarizing s = {.arena = arena, .out = out};
	const struct judge_conf conf = {.line = take_line, .verdict = take_verdict, .ctx = &s};
	struct judge *j = NULL;
	struct error err;

	*out = (struct stored_summary){.verdict = STORED_UNUSABLE};
	if (judge_new(&conf, &j, &err) || judge_recording(j, path, NULL, NULL, &err)) {
		text_copy(out->why, sizeof(out->why), str_from(err.text));
		judge_free(j);
		return;
	}
	judge_finish(j);
	judge_summary(j, &out->sums);
	judge_free(j);
	out->verdict = verdict_of(&out->sums, s.broken);
}
