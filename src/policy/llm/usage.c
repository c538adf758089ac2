/* Totals of model usage: see usage.h. */
#include "policy/llm/usage.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>

struct llm_usage {
	pthread_mutex_t lock;
	struct llm_usage_now now;
	bool denied, printed;
	struct chat_failure denial;
};

struct llm_usage *llm_usage_new(void)
{
	struct llm_usage *u = mem_new(sizeof(*u));

	pthread_mutex_init(&u->lock, NULL);
	chat_failure_init(&u->denial);
	return u;
}

void llm_usage_free(struct llm_usage *u)
{
	if (u) {
		chat_failure_release(&u->denial);
		pthread_mutex_destroy(&u->lock);
		free(u);
	}
}

/* False: there is nothing to count. */
static bool lock(struct llm_usage *u)
{
	return u && pthread_mutex_lock(&u->lock) == 0;
}

struct llm_usage_now llm_usage_now(struct llm_usage *u)
{
	struct llm_usage_now now = {.requests = 0};

	if (lock(u)) {
		now = u->now;
		pthread_mutex_unlock(&u->lock);
	}
	return now;
}

void llm_usage_turn(struct llm_usage *u, int64_t turn, uint64_t now_ns)
{
	if (lock(u)) {
		u->now.turn = turn;
		u->now.waiting = true;
		u->now.since_ns = now_ns;
		u->now.pieces = 0;
		pthread_mutex_unlock(&u->lock);
	}
}

void llm_usage_count(struct llm_usage *u, bool request)
{
	if (lock(u)) {
		u->now.requests += request;
		u->now.pieces += !request;
		pthread_mutex_unlock(&u->lock);
	}
}

/* 0: not reported. */
static uint64_t count_of(struct str n)
{
	int64_t value;

	return json_i64(n, &value) && value > 0 ? (uint64_t)value : 0;
}

void llm_usage_reply(struct llm_usage *u, bool answered, struct str usage)
{
	struct str details = JSON_GET(usage, "prompt_tokens_details");

	if (!lock(u))
		return;
	u->now.waiting = false;
	u->now.unknown += answered && json_type(usage) != JSON_OBJECT;
	u->now.prompt_tokens += count_of(JSON_GET(usage, "prompt_tokens"));
	u->now.cached_tokens += count_of(JSON_GET(details, "cached_tokens"));
	u->now.completion_tokens += count_of(JSON_GET(usage, "completion_tokens"));
	pthread_mutex_unlock(&u->lock);
}

bool llm_usage_first_time(struct llm_usage *u)
{
	bool first = true;

	if (lock(u)) {
		first = !u->printed;
		u->printed = true;
		pthread_mutex_unlock(&u->lock);
	}
	return first;
}

bool llm_usage_denied(struct llm_usage *u, struct chat_failure *out)
{
	bool denied = false;

	if (lock(u)) {
		denied = u->denied;
		if (denied)
			chat_failure_copy(out, &u->denial);
		pthread_mutex_unlock(&u->lock);
	}
	return denied;
}

void llm_usage_deny(struct llm_usage *u, const struct chat_failure *f)
{
	if (lock(u)) {
		if (!u->denied)
			chat_failure_copy(&u->denial, f);
		u->denied = true;
		pthread_mutex_unlock(&u->lock);
	}
}
