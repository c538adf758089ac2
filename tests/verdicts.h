/* For tests of the rules: lines in, verdicts out as text. Each rollout gives a line

       lake.0 finished: 4 turns, 4 steps, 0 effective, 0 unknown, 4 failed, run 4, ...

   and below it one for each finding

         error multi-step-illusion turns 0..3 steps 0..3 /outcome: 4 of 4 steps ... */
#pragma once

#include "check/judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct verdicts {
	struct judge *judge;
	struct buf text;  /* as above */
	struct buf rules; /* of all findings: "|capacity|incomplete|", each once */
	int count;        /* rollouts */
};

static inline void verdicts_add_rule(struct verdicts *v, const char *rule)
{
	char want[80];

	snprintf(want, sizeof(want), "|%s|", rule);
	if (strstr(buf_cstr(&v->rules), want))
		return;
	buf_text(&v->rules, v->rules.n ? want + 1 : want);
}

static inline void verdicts_take(void *ctx, const struct rollout_verdict *r)
{
	struct verdicts *v = ctx;
	const struct counters *t = &r->counters;

	v->count += r->rollout.p != NULL;
	buf_printf(&v->text,
	           "%.*s %.*s: %" PRId64 " turns, %" PRId64 " steps, %" PRId64
	           " effective, %" PRId64 " unknown, %" PRId64 " failed, run %" PRId64
	           ", reward %s\n",
	           r->rollout.p ? (int)r->rollout.n : 6, r->rollout.p ? r->rollout.p : "(file)",
	           STR_ARG(str_from(end_status_name(r->status))), t->turns, t->steps, t->effective,
	           t->unknown, t->failed, t->longest_failed_run, t->reward);
	for (size_t i = 0; i < r->finding_count; i++) {
		const struct finding *f = &r->findings[i];

		buf_printf(&v->text,
		           "  %s %s turns %" PRId64 "..%" PRId64 " steps %" PRId64 "..%" PRId64
		           " %s%s%s: %s\n",
		           severity_name(f->severity), f->rule, f->first_turn, f->last_turn,
		           f->first_step, f->last_step, f->pointer[0] ? f->pointer : "-",
		           f->cause ? ", because of " : "", f->cause ? f->cause : "", f->message);
		verdicts_add_rule(v, f->rule);
	}
}

/* A judge that writes to v. */
static inline void verdicts_begin_with(struct verdicts *v, struct judge_conf conf)
{
	struct error err = {0};

	*v = (struct verdicts){.text = BUF(BUF_MAX_MESSAGE), .rules = BUF(BUF_MAX_SMALL)};
	conf.verdict = verdicts_take;
	conf.ctx = v;
	if (judge_new(&conf, &v->judge, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
}

static inline void verdicts_begin(struct verdicts *v, const char *only, const char *without)
{
	verdicts_begin_with(v, (struct judge_conf){.only = only, .without = without});
}

static inline void verdicts_end(struct verdicts *v)
{
	judge_free(v->judge);
	buf_release(&v->text);
	buf_release(&v->rules);
}

/* Feeds lines from memory; 0, or -1 with *err at the first invalid one. */
static inline int verdicts_feed(struct verdicts *v, struct str text, struct error *err)
{
	struct buf scratch = BUF(BUF_MAX_SMALL);
	int failed = 0;

	while (text.n > 0 && !failed) {
		const char *lf = memchr(text.p, '\n', text.n);
		struct str one = {text.p, lf ? (size_t)(lf - text.p) : text.n};
		struct line l;
		size_t used;

		failed = line_parse(one, &scratch, &l, &used, err) ||
		         judge_line(v->judge, &l, NULL, err);
		text = str_skip(text, one.n + 1);
	}
	buf_release(&scratch);
	return failed ? -1 : 0;
}

/* Feeds a file through the reader and ends the open rollouts. */
static inline int verdicts_file(struct verdicts *v, const char *path, struct error *err)
{
	struct reader *r;

	if (reader_open(path, &r, err))
		return -1;
	struct line l;
	struct reader_note note;
	int got;
	judge_file(v->judge, path);
	while ((got = reader_next(r, &l, &note, err)) == 1) {
		if (judge_line(v->judge, &l, &note, err)) {
			got = -1;
			break;
		}
	}
	reader_close(r);
	judge_finish(v->judge);
	return got;
}
