/* Findings and counters for people. */
#include "base/text.h"
#include "report/report.h"

static const char *color_of(enum severity s)
{
	switch (s) {
	case SEVERITY_ERROR:
		return "31";
	case SEVERITY_WARNING:
		return "33";
	case SEVERITY_INFO:
		break;
	}
	return "36";
}

static void put_span(const struct finding *f, struct buf *out)
{
	if (f->first_turn < 0) {
		return;
	}
	if (f->first_turn == f->last_turn || f->last_turn < 0) {
		buf_printf(out, "turn %lld: ", (long long)f->first_turn);
	} else {
		buf_printf(out, "turns %lld-%lld: ", (long long)f->first_turn,
		           (long long)f->last_turn);
	}
}

static void put_whose(const struct rollout_verdict *v, enum whose whose, struct buf *out)
{
	bool file = whose == WHOSE_FILE_AND_ROLLOUT ||
	            (whose == WHOSE_ROLLOUT && !v->rollout.p);

	/* a group may stand in several files */
	if (file && v->file) {
		text_escape(out, str_from(v->file));
		buf_text(out, ": ");
	}
	if (whose != WHOSE_NOTHING && v->rollout.p) {
		text_escape_cut(out, v->rollout, 60);
		buf_text(out, ": ");
	}
}

/* On a terminal the sentence is broken between words, below its own beginning. */
static void put_sentence(const struct finding *f, size_t indent, struct style style,
                         struct buf *out)
{
	struct buf text = BUF(BUF_MAX_SMALL);

	buf_printf(&text, "%s: ", f->rule);
	put_span(f, &text);
	text_escape(&text, str_from(f->message));
	if (style.terminal && indent < style.columns / 2) {
		text_wrap(out, buf_view(&text), indent, style.columns);
	} else {
		buf_str(out, buf_view(&text));
		buf_char(out, '\n');
	}
	buf_release(&text);
}

void report_findings(const struct rollout_verdict *v, enum whose whose,
                     struct style style, struct buf *out)
{
	for (size_t i = 0; i < v->finding_count; i++) {
		const struct finding *f = &v->findings[i];
		const char *severity = severity_name(f->severity);
		size_t start = out->n;

		put_whose(v, whose, out);
		size_t indent = out->n - start + strlen(severity) + strlen(": ");
		if (style.color) {
			buf_printf(out, "\x1b[%sm%s\x1b[0m: ", color_of(f->severity),
			           severity);
		} else {
			buf_printf(out, "%s: ", severity);
		}
		put_sentence(f, indent, style, out);
	}
}

static void put_count(const char *between, int64_t n, const char *what, struct buf *out)
{
	if (n > 0) {
		buf_printf(out, "%s%lld %s%s", between, (long long)n, what,
		           n == 1 ? "" : "s");
	}
}

static void put_findings(const struct judge_summary *s, struct buf *out)
{
	buf_text(out, "findings: ");
	put_count("", s->errors, "error", out);
	put_count(s->errors ? ", " : "", s->warnings, "warning", out);
	put_count(s->errors + s->warnings ? ", " : "", s->infos, "info", out);
}

static void put_unfinished(const struct judge_summary *s, int64_t unfinished,
                           struct buf *out)
{
	if (s->rollouts == 1) {
		buf_text(out, "no findings, but the rollout did not run to its end");
	} else {
		buf_printf(
			out,
			"no findings, but %lld of %lld rollouts did not run to their end",
			(long long)unfinished, (long long)s->rollouts);
	}
}

/* "clean" is said only where the recorded states show that the environment moved. */
static const char *no_findings(const struct judge_summary *s)
{
	if (!s->rollouts) {
		return "nothing to judge: no rollouts";
	}
	if (!s->steps) {
		return "nothing to judge: no call was sent";
	}
	if (s->failed) {
		return "no findings, but not every step succeeded";
	}
	if (s->effective < 0) {
		return "no findings; whether the environment moved is unknown";
	}
	return s->effective ? "clean: every step reached the environment"
	                    : "no findings, but no step changed the state";
}

void report_conclusion(const struct judge_summary *s, int64_t unfinished,
                       struct style style, struct buf *out)
{
	bool findings = s->errors + s->warnings + s->infos > 0;
	bool clean = !findings && !unfinished && s->effective > 0 && !s->failed;
	const char *color = clean ? "32" : s->errors ? "31" : "33";

	if (style.color) {
		buf_printf(out, "\x1b[%sm", color);
	}
	if (findings) {
		put_findings(s, out);
	} else if (unfinished) {
		put_unfinished(s, unfinished, out);
	} else {
		buf_text(out, no_findings(s));
	}
	buf_text(out, style.color ? "\x1b[0m\n" : "\n");
}

void report_counters(int64_t turns, int64_t steps, int64_t effective, int64_t unknown,
                     int64_t failed, const char *reward, struct buf *out)
{
	buf_printf(out, "%lld turns · %lld steps · ", (long long)turns, (long long)steps);
	if (effective < 0) {
		buf_text(out, steps ? "effective unknown" : "0 effective");
	} else {
		buf_printf(out, "%lld effective", (long long)effective);
	}
	if (effective >= 0 && unknown > 0) {
		buf_printf(out, " (%lld unknown)", (long long)unknown);
	}
	buf_printf(out, " · %lld failed · reward %s\n", (long long)failed,
	           strcmp(reward, "null") != 0 ? reward : "unknown");
}
