/* Pages by path: see page_cache.h. */
#include "env/page_cache.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>

struct page {
	struct page *next;
	const char *path;
	int status;
	struct str body;
};

struct page_cache {
	pthread_mutex_t lock; /* protects the members below; held while a page is fetched */
	struct page *first;
	struct arena arena;
};

struct page_cache *page_cache_new(void)
{
	struct page_cache *p = mem_new(sizeof(*p));

	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void page_cache_free(struct page_cache *p)
{
	if (!p)
		return;
	pthread_mutex_destroy(&p->lock);
	arena_release(&p->arena);
	free(p);
}

bool page_cache_find(struct page_cache *p, const char *path, int *status, struct str *body)
{
	if (!p)
		return false;
	pthread_mutex_lock(&p->lock);
	const struct page *page = p->first;
	while (page && strcmp(page->path, path) != 0)
		page = page->next;
	if (!page)
		return false;
	*status = page->status;
	*body = page->body;
	pthread_mutex_unlock(&p->lock);
	return true;
}

void page_cache_store(struct page_cache *p, const char *path, int status, struct str body)
{
	if (!p)
		return;
	if (status == 200 || status == 404) {
		struct page *page = arena_new(&p->arena, sizeof(*page));

		*page = (struct page){.next = p->first,
		                      .path = arena_str(&p->arena, str_from(path)).p,
		                      .status = status,
		                      .body = arena_str(&p->arena, body)};
		p->first = page;
	}
	pthread_mutex_unlock(&p->lock);
}
