/* Findings, conclusion and counters as text. */
#include "base/text.h"
#include "check/check.h"
#include "report/report.h"

void style_begin(struct buf *out, struct style style, const char *color)
{
	if (style.color)
		buf_printf(out, "\x1b[%sm", color);
}

void style_end(struct buf *out, struct style style)
{
	buf_text(out, style.color ? "\x1b[0m" : "");
}

void style_put(struct buf *out, struct style style, const char *color, struct str text)
{
	style_begin(out, style, color);
	buf_str(out, text);
	style_end(out, style);
}

void style_wrap(struct buf *out, struct style style, struct str text, size_t indent)
{
	if (style.terminal && indent < style.columns / 2) {
		text_wrap(out, text, indent, style.columns);
	} else {
		buf_str(out, text);
		buf_char(out, '\n');
	}
}

static const char *color_of(enum severity s)
{
	return s == SEVERITY_ERROR ? COLOR_RED : s == SEVERITY_WARNING ? COLOR_YELLOW : COLOR_CYAN;
}

static void put_turns(int64_t first, int64_t last, struct buf *out)
{
	if (first == last || last < 0)
		buf_printf(out, "turn %lld", (long long)first);
	else
		buf_printf(out, "turns %lld-%lld", (long long)first, (long long)last);
}

static void put_origin(const struct rollout_verdict *v, enum finding_origin origin, struct buf *out)
{
	bool file =
		origin == ORIGIN_FILE_AND_ROLLOUT || (origin == ORIGIN_ROLLOUT && !v->rollout.p);

	/* v->file is NULL for a group in several files */
	if (file && v->file) {
		text_escape(out, str_from(v->file));
		buf_text(out, ": ");
	}
	if (origin != ORIGIN_NONE && v->rollout.p) {
		text_escape_cut(out, v->rollout, 60);
		buf_text(out, ": ");
	}
}

static void put_sentence(const struct finding *f, size_t indent, struct style style,
                         struct buf *out)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	buf_printf(&text, "%s: ", f->rule);
	if (f->first_turn >= 0) {
		put_turns(f->first_turn, f->last_turn, &text);
		buf_text(&text, ": ");
	}
	text_escape(&text, str_from(f->message));
	style_wrap(out, style, buf_view(&text), indent);
}

void report_finding(const struct rollout_verdict *v, const struct finding *f,
                    enum finding_origin origin, struct style style, struct buf *out)
{
	const char *severity = severity_name(f->severity);
	size_t start = out->n;

	put_origin(v, origin, out);
	size_t indent = out->n - start + strlen(severity) + strlen(": ");
	style_put(out, style, color_of(f->severity), str_from(severity));
	buf_text(out, ": ");
	put_sentence(f, indent, style, out);
}

bool report_is_repeated(const struct rollout_verdict *v, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(v->findings[k].rule, v->findings[i].rule))
			return true;
	return false;
}

/* The rules whose findings this one explains, without duplicates. */
static void put_explained(const struct rollout_verdict *v, const struct finding *cause,
                          struct buf *out)
{
	const char *between = "explains ";

	for (size_t i = 0; i < v->finding_count; i++) {
		const struct finding *f = &v->findings[i];

		if (f->cause && !report_is_repeated(v, i) &&
		    causes_root(v->findings, v->finding_count, f) == cause) {
			buf_printf(out, "%s%s", between, f->rule);
			between = ", ";
		}
	}
}

bool report_is_cause(const struct rollout_verdict *v, const struct finding *f)
{
	for (size_t i = 0; i < v->finding_count && !f->cause; i++) {
		if (v->findings[i].cause &&
		    causes_root(v->findings, v->finding_count, &v->findings[i]) == f) {
			return true;
		}
	}
	return false;
}

/* The commands that say more about a rule's findings. */
static void put_more(const char *rule, struct buf *out)
{
	const struct check *c = check_find(str_from(rule));

	buf_printf(out, "more: rolldbg check \1explain\2 %s", rule);
	if (c && c->more)
		buf_printf(out, ", %s", c->more);
}

void report_more(const char *rule, struct style style, struct buf *out)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	put_more(rule, &text);
	style_wrap(out, style, buf_view(&text), strlen("more: "));
}

void report_cause(const struct rollout_verdict *v, const struct finding *f,
                  enum finding_origin origin, struct style style, struct buf *out)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL);
	size_t start = out->n;

	put_origin(v, origin, out);
	buf_text(out, "cause: ");
	size_t indent = out->n - start;
	buf_printf(&text, "%s: ", f->rule);
	put_explained(v, f, &text);
	buf_text(&text, "; ");
	put_more(f->rule, &text);
	style_wrap(out, style, buf_view(&text), indent);
}

static void put_count(const char *between, int64_t n, const char *what, struct buf *out)
{
	if (n > 0)
		buf_printf(out, "%s%lld %s%s", between, (long long)n, what, plural(n));
}

static void put_findings(const struct judge_summary *s, struct buf *out)
{
	buf_text(out, "findings: ");
	put_count("", s->errors, "error", out);
	put_count(s->errors ? ", " : "", s->warnings, "warning", out);
	put_count(s->errors + s->warnings ? ", " : "", s->infos, "info", out);
}

static void put_unfinished(const struct judge_summary *s, int64_t unfinished, struct buf *out)
{
	if (s->rollouts == 1 && s->turns == 0) {
		buf_text(out, "no findings: the rollout did not start");
	} else if (s->rollouts == 1) {
		buf_text(out, "no findings, but the rollout did not reach its end");
	} else {
		buf_printf(out, "no findings, but %lld of %lld rollouts did not reach their end",
		           (long long)unfinished, (long long)s->rollouts);
	}
}

/* What watching alone has seen, in numbers. */
static void put_movement(const struct movement *m, struct buf *out)
{
	static const char *const words[] = {"changed the state", "changed nothing (", "unknown"};
	long long acting = m->acting, parts[] = {m->moved, m->still, m->unknown};
	const char *between = "";

	if (acting == 0) {
		buf_text(out, "no findings: no call had to change anything");
		return;
	}
	if (m->unknown == acting) {
		buf_printf(out, "unknown: whether the %lld call%s changed the environment", acting,
		           plural(acting));
		return;
	}
	buf_text(out, "no findings: ");
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (parts[i] == 0)
			continue;
		buf_printf(out, "%s%lld ", between, parts[i]);
		if (!*between)
			buf_printf(out, "of %lld steps ", acting);
		buf_text(out, words[i]);
		if (i == 1) {
			put_turns(m->first_still.first_turn, m->first_still.last_turn, out);
			buf_char(out, ')');
		}
		between = ", ";
	}
}

static void put_no_findings(const struct judge_summary *s, struct buf *out)
{
	if (!s->rollouts) {
		buf_text(out, "nothing to check: no rollouts");
	} else if (!s->steps) {
		buf_text(out, "nothing to check: no call was sent");
	} else if (s->failed) {
		buf_printf(out, "no findings, but %lld of %lld steps failed", (long long)s->failed,
		           (long long)s->steps);
	} else if (s->confirmation == CONFIRMED) {
		buf_text(out, "clean: every step that had to act had an effect, and replies depend "
		              "on earlier calls");
	} else {
		put_movement(&s->movement, out);
	}
}

/* By reason. The names of read-only tools are put between the two parts. No advice leads to a weaker
   test: a named state source is never replaced by observations. */
static const struct {
	const char *text, *rest;
} ways_to_know[UNKNOWN_REASONS] = {
	[UNKNOWN_NO_SOURCE] =
		{"no state source: to know what the calls change, use rolldbg run with "
                 "\1state\2 tool:NAME[:JSON]",
                 " or \1state\2 resource:URI\n"},
	[UNKNOWN_IMPORTED] = {"the recording has no states: to know what the calls change, "
                              "repeat them with rolldbg run \1policy\2 RECORDING \1env\2 URL\n"},
	[UNKNOWN_UNSHOWN] = {"the state never changed, and does not name what the calls act on: to "
                             "know what they change, run with \1confirm\2\n"},
};

/* How to make the effects known: by the first reason that applies. */
static void put_way_to_know(const struct judge_summary *s, struct buf *out)
{
	const struct movement *m = &s->movement;
	enum unknown_reason why = movement_reason(m);

	bool asked = s->confirmation != NOT_ASKED;

	if (s->errors || why == UNKNOWN_REASONS || !ways_to_know[why].text ||
	    (asked && why == UNKNOWN_UNSHOWN)) {
		return;
	}
	buf_text(out, ways_to_know[why].text);
	if (ways_to_know[why].rest) {
		if (m->read_only_tools[0])
			buf_printf(out, " (read-only: %s)", m->read_only_tools);
		buf_text(out, ways_to_know[why].rest);
	}
}

void report_conclusion(const struct judge_summary *s, int64_t unfinished, struct style style,
                       struct buf *out)
{
	const struct movement *m = &s->movement;
	bool findings = s->errors + s->warnings + s->infos > 0;
	bool moved =
		!findings && !unfinished && !s->failed && m->acting > 0 && m->moved == m->acting;
	const char *color = moved ? COLOR_GREEN : s->errors ? COLOR_RED : COLOR_YELLOW;

	style_begin(out, style, color);
	if (findings)
		put_findings(s, out);
	else if (unfinished)
		put_unfinished(s, unfinished, out);
	else
		put_no_findings(s, out);
	style_end(out, style);
	buf_char(out, '\n');
	put_way_to_know(s, out);
}

static void put_causes(const struct judge_summary *s, bool many, struct buf *out)
{
	const char *between = "";

	for (size_t i = FAILURE_NONE + 1; i < FAILURE_CAUSES; i++) {
		const char *name = failure_cause_name((enum failure_cause)i);

		if (s->failures.of[i] && many) {
			buf_printf(out, "%s%s %lld", between, name, (long long)s->failures.of[i]);
			between = ", ";
		} else if (s->failures.of[i]) {
			buf_printf(out, "%s (%s)", name,
			           failure_cause_meaning((enum failure_cause)i));
		}
	}
}

void report_failures(const struct judge_summary *s, struct style style, struct buf *out)
{
	AUTO_BUF line = BUF(BUF_MAX_SMALL);
	int64_t failed = 0;

	for (size_t i = FAILURE_NONE + 1; i < FAILURE_CAUSES; i++)
		failed += s->failures.of[i];
	if (failed == 0)
		return;
	buf_text(&line, "failure: ");
	if (s->rollouts > 1) {
		buf_printf(&line, "%lld of %lld rollouts: ", (long long)failed,
		           (long long)s->rollouts);
	}
	put_causes(s, s->rollouts > 1, &line);
	if (s->failures.no_rewards && s->rollouts > 1) {
		buf_printf(&line, "; %lld of the rewards %s", (long long)s->failures.no_rewards,
		           s->failures.no_rewards == 1 ? "is not a reward" : "are not rewards");
	} else if (s->failures.no_rewards) {
		buf_text(&line, "; its reward is not a reward");
	}
	style_wrap(out, style, buf_view(&line), 0);
}

void report_counters(int64_t turns, int64_t steps, int64_t effective, int64_t unknown,
                     int64_t failed, const char *reward, struct buf *out)
{
	buf_printf(out, "%lld turn%s · %lld step%s · ", (long long)turns, plural(turns),
	           (long long)steps, plural(steps));
	if (effective < 0)
		buf_text(out, steps ? "effective unknown" : "0 effective");
	else
		buf_printf(out, "%lld effective", (long long)effective);
	if (effective >= 0 && unknown > 0)
		buf_printf(out, " (%lld unknown)", (long long)unknown);
	buf_printf(out, " · %lld failed · reward %s\n", (long long)failed,
	           strcmp(reward, "null") != 0 ? reward : "unknown");
}
