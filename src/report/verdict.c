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

void report_findings(const struct rollout_verdict *v, bool name, struct style style,
                     struct buf *out)
{
	for (size_t i = 0; i < v->finding_count; i++) {
		const struct finding *f = &v->findings[i];

		if (name) {
			text_escape_cut(out, v->rollout, 60);
			buf_text(out, ": ");
		}
		if (style.color) {
			buf_printf(out, "\x1b[%sm", color_of(f->severity));
		}
		buf_printf(out, "%s", severity_name(f->severity));
		if (style.color) {
			buf_text(out, "\x1b[0m");
		}
		buf_printf(out, ": %s: ", f->rule);
		put_span(f, out);
		text_escape(out, str_from(f->message));
		buf_char(out, '\n');
	}
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
