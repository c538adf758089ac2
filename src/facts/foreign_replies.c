/* Replies that something else may have given: see foreign_replies.h. */
#include "facts/foreign_replies.h"

#include "facts/fingerprint.h"

#define RUN_MIN       4
#define EFFECTIVE_MIN 2
#define REPLY_MAX     4096 /* bytes */
#define LEARNED_MAX   8    /* replies from which common members are learned */

void foreign_replies_step(struct foreign_replies *f, uint64_t call, struct str reply)
{
	f->newest_call = call;
	f->newest_foreign = reply.n <= REPLY_MAX && common_members_lacks_all(&f->members, reply);
	f->newest_reply = f->newest_foreign ? fingerprint(reply) : 0;
	f->with_newest = f->members;
	if (f->learned < LEARNED_MAX) {
		common_members_add(&f->with_newest, reply);
	}
}

static void add_to_run(struct foreign_replies *f, const struct completed_step *p,
                       bool was_effective)
{
	if (f->run.count == 0) {
		f->call = f->newest_call;
		f->reply = f->newest_reply;
		f->effective = 0;
		f->calls_differ = f->replies_differ = false;
	}
	span_add(&f->run, p->turn, p->step);
	f->effective += was_effective;
	f->calls_differ = f->calls_differ || f->newest_call != f->call;
	f->replies_differ = f->replies_differ || f->newest_reply != f->reply;
}

void foreign_replies_effect(struct foreign_replies *f, const struct completed_step *p,
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

bool foreign_replies_took_over(const struct foreign_replies *f, bool uncounted)
{
	return f->run.count >= RUN_MIN && f->calls_differ && !f->ended &&
	       (f->effective >= EFFECTIVE_MIN ||
	        (uncounted && (f->effective > 0 || !f->replies_differ)));
}
