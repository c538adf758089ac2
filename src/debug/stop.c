/* Output at a stop: see debugger.h. */
#include "base/text.h"
#include "debug/debugger.h"
#include "json/diff.h"
#include "json/write.h"
#include "report/brief.h"
#include "report/changes.h"

#define CHANGES_SHOWN 6
/* files up to this size in bytes are judged at each stop */
#define FINDINGS_AUTO ((uint64_t)4 << 20)

static void put_brief(struct str value, size_t columns, struct buf *out)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	brief_text(&text, value);
	text_escape_cut(out, buf_view(&text), columns);
}

void stop_title(const struct moment *m, struct style style, struct buf *out)
{
	const struct line *l = m->line;

	style_begin(out, style, COLOR_BOLD);
	if (m->position == 0) {
		buf_text(out, "start of rollout ");
		text_escape(out, l->rollout);
	} else {
		buf_printf(out, "turn %lld", (long long)l->turn);
		if (l->step >= 0)
			buf_printf(out, " · step %lld", (long long)l->step);
		buf_text(out, "  ");
		brief_put_call(out, l, 200);
	}
	style_end(out, style);
	if (l->outcome != OUTCOME_NONE && (m->position || l->outcome != OUTCOME_OK)) {
		style.color = style.color && l->outcome != OUTCOME_OK;
		buf_text(out, "  ");
		style_put(out, style, COLOR_RED, str_from(outcome_name(l->outcome)));
	}
	if (line_has(l, KEY_REWARD)) {
		buf_text(out, "  reward ");
		text_escape(out, l->value[KEY_REWARD]);
	}
	buf_text(out, l->terminated > 0 ? "  terminated" : l->truncated > 0 ? "  truncated" : "");
	buf_char(out, '\n');
}

static void put_changes(struct debugger *d, size_t most, struct buf *out)
{
	AUTO_BUF lines = BUF(SIZE_MAX / 2);

	changes_list(&lines, d->now.line->value[KEY_STATE], d->now.after, d->ignored, most);
	for (struct str rest = buf_view(&lines); rest.n; buf_char(out, '\n')) {
		text_escape_cut(out, str_cut(&rest, '\n'),
		                most == SIZE_MAX ? SIZE_MAX : d->conf->style.columns);
	}
}

/* Prints what the step changed, at most `most` lines, truncated unless `most` is SIZE_MAX. */
void stop_changes(struct debugger *d, size_t most, struct buf *out)
{
	const struct moment *m = &d->now;
	bool known = !json_is_null(m->after), before = !json_is_null(m->line->value[KEY_STATE]);

	if (m->line->type != LINE_STEP || m->line->step < 0)
		return;
	if (!known || !before) {
		buf_text(out, "  state unknown\n");
		return;
	}
	size_t start = out->n;
	put_changes(d, most, out);
	if (out->n == start)
		buf_text(out, "  state unchanged\n");
	else if (m->effect == EFFECT_UNCHANGED)
		buf_text(out, "  (no effect: this also changes without calls)\n");
}

/* The error, or what the policy got instead. */
static void put_failure(struct debugger *d)
{
	const struct line *l = d->now.line;
	struct str message = JSON_GET(l->value[KEY_ERROR], "message");

	if (l->outcome != OUTCOME_NONE && l->outcome != OUTCOME_OK) {
		buf_text(&d->out, "  ");
		put_brief(json_is_null(message) ? l->value[KEY_OBSERVATION] : message,
		          d->conf->style.columns > 4 ? d->conf->style.columns - 4 : 0, &d->out);
		buf_char(&d->out, '\n');
	}
}

static void put_events(struct debugger *d)
{
	struct str rest = d->now.events;
	AUTO_BUF id = BUF(BUF_MAX_MESSAGE);
	struct line l;
	size_t used;

	/* the lines were parsed before */
	while (rest.n && !line_parse(rest, &id, &l, &used, ERROR_IGNORED)) {
		buf_text(&d->out, "  ! ");
		put_brief(l.value[KEY_EVENT], 60, &d->out);
		if (line_has(&l, KEY_DETAIL)) {
			buf_char(&d->out, ' ');
			put_brief(l.value[KEY_DETAIL], 80, &d->out);
		}
		buf_char(&d->out, '\n');
		rest = str_skip(rest, used + 1);
	}
}

/* ---- findings so far ---- */

static void put_rules(void *user, const struct rollout_verdict *v)
{
	struct debugger *d = user;
	const char *between = "  findings so far: ";

	for (size_t i = 0; i < v->finding_count; i++) {
		if (!report_is_repeated(v, i)) {
			buf_printf(&d->out, "%s%s %s", between,
			           severity_name(v->findings[i].severity), v->findings[i].rule);
			between = ", ";
		}
	}
	buf_text(&d->out, v->finding_count ? "\n" : "  no findings so far\n");
}

static void put_findings(struct debugger *d)
{
	struct error err;

	if (d->now.position == 0 || d->now.line->type != LINE_STEP)
		return;
	if (d->now.end > FINDINGS_AUTO)
		buf_text(&d->out, "  findings so far: use backtrace (the recording is long)\n");
	else if (debugger_findings(d, put_rules, d, &err))
		buf_printf(&d->out, "  findings so far: unknown: %s\n", err.text);
}

void stop_proposal(struct debugger *d)
{
	const struct proposal *p;

	if (debugger_mode(d) == MODE_REC)
		return;
	p = live_proposal(d->live);
	buf_text(&d->out, "  next: ");
	switch (p->kind) {
	case PROPOSAL_CALL:
		text_escape(&d->out, p->name);
		buf_char(&d->out, ' ');
		text_escape(&d->out, p->arguments);
		buf_text(&d->out, p->edited ? "  (edited)" : "");
		break;
	case PROPOSAL_NO_CALL:
		buf_text(&d->out, "a turn without a call");
		break;
	case PROPOSAL_DONE:
		buf_text(&d->out, "no call: ");
		text_escape(&d->out, p->reason);
		buf_text(&d->out, "; 'step' ends the rollout, 'call' sends another call");
		break;
	case PROPOSAL_NONE:
		text_escape(&d->out, p->reason);
		break;
	}
	buf_char(&d->out, '\n');
}

void stop_print(struct debugger *d)
{
	struct known k = debugger_known(d);

	stop_title(&d->now, d->conf->style, &d->out);
	stop_changes(d, CHANGES_SHOWN, &d->out);
	put_failure(d);
	put_events(d);
	points_display(&d->points, &k, &d->out);
	if (!d->live || !live_is_over(d->live) || !d->now.is_last)
		put_findings(d); /* otherwise the session's verdict is printed instead */
	stop_proposal(d);
}

/* ---- for a machine ---- */

struct change_writer {
	struct json_writer *w;
	size_t left;
};

static bool write_change(void *ctx, const struct json_difference *c)
{
	struct change_writer *out = ctx;

	jw_pack(out->w, "{pointer:%s,before:%r,after:%r}", c->pointer, c->before, c->after);
	return --out->left > 0;
}

static void write_changes(struct debugger *d, struct json_writer *w)
{
	struct change_writer out = {w, 1000};
	const struct moment *m = &d->now;

	jw_put_array(w, "changes");
	if (m->line->type == LINE_STEP && !json_is_null(m->after) &&
	    !json_is_null(m->line->value[KEY_STATE])) {
		json_diff(m->line->value[KEY_STATE], m->after, d->ignored, write_change, &out);
	}
	jw_end(w);
}

static void write_findings(void *user, const struct rollout_verdict *v)
{
	struct json_writer *w = user;

	for (size_t i = 0; i < v->finding_count; i++) {
		jw_pack(w, "{rule:%t,severity:%t,cause:%t,message:%t}", v->findings[i].rule,
		        severity_name(v->findings[i].severity), v->findings[i].cause,
		        v->findings[i].message);
	}
}

static void write_proposal(struct debugger *d, struct json_writer *w)
{
	bool asks = debugger_mode(d) != MODE_REC;
	const struct proposal *p = asks ? live_proposal(d->live) : NULL;
	bool call = asks && p->kind == PROPOSAL_CALL;

	if (asks) {
		jw_pack(w, "next:{name:%s,arguments:%r,reason:%s}", call ? p->name : STR_NONE,
		        call ? p->arguments : STR_NONE, p->reason);
	} else {
		jw_pack(w, "next:%r", STR_NONE);
	}
}

void stop_json(struct debugger *d, struct json_writer *w)
{
	const struct moment *m = &d->now;
	struct known k = debugger_known(d);

	jw_pack(w, "{position:%i,last:%b", m->position, m->is_last);
	for (enum named_fact f = FACT_TURN; f < FACT_RULE; f++)
		if (f != FACT_CHANGED && f != FACT_TOOL && f != FACT_ARGUMENTS)
			jw_put_raw(w, named_facts[f].name, fact_value(f, &k));
	write_changes(d, w);
	jw_put_array(w, "findings");
	if (m->position && m->end <= FINDINGS_AUTO) /* none if unknown; backtrace says why */
		(void)!debugger_findings(d, write_findings, w, ERROR_IGNORED);
	jw_end(w);
	write_proposal(d, w);
	jw_end(w);
}
