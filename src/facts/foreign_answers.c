/* Answers that something else may have given: see foreign_answers.h. */
#include "facts/foreign_answers.h"

#include "facts/fingerprint.h"

#define RUN_MIN       4
#define EFFECTIVE_MIN 2
#define ANSWER_MAX    4096 /* bytes */
#define LEARNED_MAX   8    /* answers from which common members are learned */

void foreign_answers_step(struct foreign_answers *f, uint64_t call, struct str answer)
{
	f->newest_call = call;
	f->newest_foreign = answer.n <= ANSWER_MAX && common_members_lacks_all(&f->members, answer);
	f->newest_answer = f->newest_foreign ? fingerprint(answer) : 0;
	f->with_newest = f->members;
	if (f->learned < LEARNED_MAX) {
		common_members_add(&f->with_newest, answer);
	}
}

static void add_to_run(struct foreign_answers *f, const struct completed_step *p,
                       bool was_effective)
{
	if (f->run.count == 0) {
		f->call = f->newest_call;
		f->answer = f->newest_answer;
		f->effective = 0;
		f->calls_differ = f->answers_differ = false;
	}
	span_add(&f->run, p->turn, p->step);
	f->effective += was_effective;
	f->calls_differ = f->calls_differ || f->newest_call != f->call;
	f->answers_differ = f->answers_differ || f->newest_answer != f->answer;
}

void foreign_answers_effect(struct foreign_answers *f, const struct completed_step *p,
                            bool was_effective)
{
	bool changed = p->effect == EFFECT_CHANGED;

	if (!changed && f->newest_foreign) {
		add_to_run(f, p, was_effective);
	} else {
		f->ended = f->ended || f->run.count > 0;
		f->run = (struct span){.count = 0};
	}
	if (changed && !f->newest_foreign) {
		f->members = f->with_newest;
		f->learned++;
	}
}

bool foreign_answers_took_over(const struct foreign_answers *f, bool uncounted)
{
	return f->run.count >= RUN_MIN && f->calls_differ && !f->ended &&
	       (f->effective >= EFFECTIVE_MIN ||
	        (uncounted && (f->effective > 0 || !f->answers_differ)));
}
