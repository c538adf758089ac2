/* Pages by path: the first request fetches, others wait: see page_cache.h. */
#include "env/page_cache.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>

struct page {
	struct page *next;
	char *path;
	bool pending; /* a request is in progress */
	int status;   /* 0: unknown */
	char *text;
	struct str body;
};

struct page_cache {
	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t answered;
	struct page *first;
};

struct page_cache *page_cache_new(void)
{
	struct page_cache *p = mem_new(sizeof(*p));

	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->answered, NULL);
	return p;
}

void page_cache_free(struct page_cache *p)
{
	if (!p)
		return;
	while (p->first) {
		struct page *page = p->first;

		p->first = page->next;
		free(page->path);
		free(page->text);
		free(page);
	}
	pthread_cond_destroy(&p->answered);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* The lock must be held. */
static struct page *find(struct page_cache *p, const char *path)
{
	struct page *page = p->first;

	while (page && strcmp(page->path, path) != 0)
		page = page->next;
	return page;
}

static struct page *add(struct page_cache *p, const char *path)
{
	struct page *page = mem_new(sizeof(*page));

	page->path = mem_text(str_from(path));
	page->pending = true;
	page->next = p->first;
	p->first = page;
	return page;
}

bool page_cache_find(struct page_cache *p, const char *path, int *status, struct str *body,
                     struct page **ours)
{
	*ours = NULL;
	if (!p)
		return false;
	pthread_mutex_lock(&p->lock);
	struct page *page = find(p, path);
	while (page && page->pending)
		pthread_cond_wait(&p->answered, &p->lock);
	if (!page) {
		*ours = add(p, path);
	} else if (page->status) {
		*status = page->status;
		*body = page->body;
	}
	bool known = page && page->status;
	pthread_mutex_unlock(&p->lock);
	return known;
}

/* Is the failure temporary (overloaded, not ready)? Then the next request may succeed. */
static bool is_temporary(int status)
{
	static const int passing[] = {0, 408, 429, 502, 503, 504};

	for (size_t i = 0; i < ARRAY_LEN(passing); i++)
		if (status == passing[i])
			return true;
	return false;
}

void page_cache_store(struct page_cache *p, struct page *page, int status, struct str body)
{
	if (!page)
		return;
	pthread_mutex_lock(&p->lock);
	page->pending = false;
	if (!is_temporary(status)) {
		page->status = status;
		page->text = body.p ? mem_text(body) : NULL;
		page->body = (struct str){page->text, body.n};
	}
	pthread_cond_broadcast(&p->answered);
	pthread_mutex_unlock(&p->lock);
}
