/* Any lines get consistent verdicts: one for every rollout, counters that agree, findings
   in order with complete messages and safe text, and the same verdicts for the same lines
   again. */
#include "base/text.h"
#include "check/judge.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sums {
	int64_t rollouts, steps, findings;
	uint64_t hash;
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void add(struct sums *s, struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		s->hash = (s->hash ^ (unsigned char)text.p[i]) * 0x100000001b3u;
}

static void check_text(const char *text, size_t room)
{
	size_t n = strnlen(text, room);

	require(n < room && text_utf8_valid((struct str){text, n}) == n);
	for (size_t i = 0; i < n; i++)
		require((unsigned char)text[i] >= ' ' && text[i] != 0x7f);
}

static void check_finding(const struct finding *f, const struct finding *next)
{
	require(check_find(str_from(f->rule)) != NULL);
	check_text(f->message, sizeof(f->message));
	require(strnlen(f->pointer, sizeof(f->pointer)) < sizeof(f->pointer));
	require(f->pointer[0] == '\0' || f->pointer[0] == '/');
	require(f->severity <= f->urgency && !f->cause == !f->depth);
	require(!f->cause || check_find(str_from(f->cause)) != NULL);
	require(!next || f->urgency >= next->urgency);
}

static void take(void *ctx, const struct rollout_verdict *v)
{
	struct sums *s = ctx;
	const struct counters *t = &v->counters;
	struct json_fault fault;

	s->rollouts += v->rollout.p != NULL;
	s->steps += t->steps;
	s->findings += (int64_t)v->finding_count;
	require(t->failed <= t->steps && t->longest_failed_run <= t->failed);
	require(t->unknown <= t->steps && t->effective <= t->steps - t->unknown);
	require(json_validate(str_from(t->reward), &fault) == 0);
	require(v->status < END_STATUSES);
	for (size_t i = 0; i < v->finding_count; i++) {
		const struct finding *f = &v->findings[i];

		check_finding(f, i + 1 < v->finding_count ? f + 1 : NULL);
		add(s, str_from(f->message));
	}
}

/* Omits invalid lines, and those that the judge refuses. */
static void feed(struct judge *j, struct str text)
{
	struct buf scratch = BUF(BUF_MAX_SMALL);
	struct reader_note note = {0};
	struct line l;
	struct error err;

	while (text.n > 0) {
		const char *lf = memchr(text.p, '\n', text.n);
		size_t line = lf ? (size_t)(lf - text.p) : text.n, used = 0;
		struct str one = {text.p, line};

		note.fused = false;
		while (one.n > 0 && line_parse(one, &scratch, &l, &used, &err) == 0 && used > 0) {
			if (judge_line(j, &l, &note, &err))
				require(err.kind == FAIL_INPUT);
			note.fused = true;
			one = str_skip(one, used);
		}
		if (!lf && one.n > 0) { /* an incomplete line at the end */
			l.type = LINE_UNKNOWN;
			note.torn = true;
			require(judge_line(j, &l, &note, &err) == 0);
		}
		text = str_skip(text, line + 1);
	}
	buf_release(&scratch);
}

static struct sums judge(struct str text)
{
	struct sums s = {.hash = 0xcbf29ce484222325u};
	struct judge_conf conf = {.verdict = take, .ctx = &s};
	struct judge_summary sum;
	struct judge *j;
	struct error err;

	require(judge_new(&conf, &j, &err) == 0);
	judge_file(j, "input");
	feed(j, text);
	judge_finish(j);
	judge_summary(j, &sum);
	require(sum.rollouts == s.rollouts && sum.steps == s.steps);
	require(sum.errors + sum.warnings + sum.infos == s.findings);
	judge_free(j);
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct sums once = judge(text), again = judge(text);

	require(once.hash == again.hash && once.findings == again.findings);
	return 0;
}
