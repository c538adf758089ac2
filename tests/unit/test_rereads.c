/* Which rollout of a batch may read the state twice: rollout/rereads.h. */
#include "rollout/rereads.h"
#include "tap.h"

static void test_requests(void)
{
	struct rereads r = {0};

	ok(!rereads_may_read(&r, true), "no request, no read");
	rereads_count(&r, 14);
	ok(rereads_may_read(&r, false), "14 requests: one read");
	ok(rereads_may_read(&r, true), "asking does not take it");
	ok(!rereads_may_read(&r, true), "14 requests: not two");
	rereads_count(&r, 10);
	rereads_take(&r);
	ok(!rereads_may_read(&r, true), "a read that is sent in any case counts");
}

static void test_others(void)
{
	struct rereads r = {0};
	long long before;

	rereads_sent(&r);
	before = rereads_calls_sent(&r);
	ok(!rereads_is_quiet(&r, before), "a call is in progress");
	rereads_answered(&r);
	ok(!rereads_is_answered(&r, before), "it was sent before");
	ok(rereads_is_quiet(&r, before), "all calls are answered");
	rereads_sent(&r);
	ok(!rereads_is_quiet(&r, before), "a different request was sent");
	rereads_answered(&r);
	ok(!rereads_is_quiet(&r, before), "and answered: not quiet since");
	ok(rereads_is_answered(&r, before), "it was sent after");
}

static void test_turns(void)
{
	struct rereads r = {0};

	ok(rereads_begin_wait(&r), "one may wait");
	ok(!rereads_begin_wait(&r), "a second one may not");
	rereads_end_wait(&r);
	ok(rereads_begin_wait(&r), "until the first has ended");
	ok(!rereads_control_runs(&r), "no control yet");
	ok(rereads_begin_control(&r), "the first one to act");
	ok(rereads_control_runs(&r), "it is the control");
	ok(!rereads_begin_control(&r), "there is one control");
	rereads_end_control(&r);
	ok(!rereads_control_runs(&r), "until it ends");
	ok(!rereads_begin_control(&r), "and no second time");
}

/* Four rollouts of four calls send 44 requests: two reads before first calls, beside the control's. */
static void test_starts(void)
{
	struct rereads r = {.most = 4}, two = {.most = 2}, one_call = {.most = 4};

	atomic_store(&r.ready, 2);
	ok(!rereads_are_ready(&r), "the control waits for two others");
	atomic_store(&r.ready, 3);
	ok(rereads_are_ready(&r), "that have read their states");
	atomic_store(&two.ready, 2);
	ok(rereads_are_ready(&two), "or for the only other one");
	for (int i = 0; i < 4; i++) {
		rereads_count_start(&r);
		rereads_count_start(&one_call);
	}
	rereads_take(&r);
	ok(rereads_take_start(&r, 4), "one other reads again");
	ok(rereads_take_start(&r, 4), "a second one");
	ok(!rereads_take_start(&r, 100), "and no third one");
	rereads_take(&one_call);
	ok(rereads_take_start(&one_call, 1), "20 requests: one beside the control");
	ok(!rereads_take_start(&one_call, 1), "but not two");
}

int main(void)
{
	test_requests();
	test_others();
	test_turns();
	test_starts();
	return done();
}
