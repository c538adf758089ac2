/* A pool of working memory: see scratch.h. */
#include "recording/scratch.h"

#include <pthread.h>
#include <stdlib.h>

struct scratch_pool {
	pthread_mutex_t lock; /* protects the members below */
	struct scratch *first;
};

struct scratch_pool *scratch_pool_new(void)
{
	struct scratch_pool *p = mem_new(sizeof(*p));

	pthread_mutex_init(&p->lock, NULL);
	return p;
}

static struct scratch *scratch_new(void)
{
	struct scratch *s = mem_new(sizeof(*s));

	s->hasher = hasher_new();
	s->text = s->value = s->parsed = s->hash = BUF(2 * BUF_MAX_MESSAGE);
	return s;
}

static void scratch_free(struct scratch *s)
{
	buf_release(&s->text);
	buf_release(&s->value);
	buf_release(&s->parsed);
	buf_release(&s->hash);
	arena_release(&s->arena);
	hasher_free(s->hasher);
	free(s);
}

void scratch_pool_free(struct scratch_pool *p)
{
	if (!p)
		return;
	while (p->first) {
		struct scratch *s = p->first;

		p->first = s->next;
		scratch_free(s);
	}
	pthread_mutex_destroy(&p->lock);
	free(p);
}

struct scratch *scratch_take(struct scratch_pool *p)
{
	if (!p)
		return scratch_new();
	pthread_mutex_lock(&p->lock);
	struct scratch *s = p->first;
	p->first = s ? s->next : NULL;
	pthread_mutex_unlock(&p->lock);
	return s ? s : scratch_new();
}

void scratch_give(struct scratch_pool *p, struct scratch *s)
{
	if (!p) {
		scratch_free(s);
		return;
	}
	arena_reset(&s->arena);
	pthread_mutex_lock(&p->lock);
	s->next = p->first;
	p->first = s;
	pthread_mutex_unlock(&p->lock);
}
