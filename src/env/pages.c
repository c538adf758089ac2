/* Pages by their path: the first who wants one fetches it. See pages.h. */
#include "env/pages.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdlib.h>

struct page {
	struct page *next;
	char *path;
	bool awaited; /* somebody is asking the server */
	int status;   /* 0: not known */
	char *text;
	struct str body;
};

struct pages {
	pthread_mutex_t lock; /* guards all that follows */
	pthread_cond_t told;
	struct page *first;
};

struct pages *pages_new(void)
{
	struct pages *p = mem_new(sizeof(*p));

	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->told, NULL);
	return p;
}

void pages_free(struct pages *p)
{
	if (!p) {
		return;
	}
	while (p->first) {
		struct page *page = p->first;

		p->first = page->next;
		free(page->path);
		free(page->text);
		free(page);
	}
	pthread_cond_destroy(&p->told);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* With the lock held. */
static struct page *find(struct pages *p, const char *path)
{
	struct page *page = p->first;

	while (page && strcmp(page->path, path) != 0) {
		page = page->next;
	}
	return page;
}

static struct page *add(struct pages *p, const char *path)
{
	struct page *page = mem_new(sizeof(*page));

	page->path = mem_text(str_from(path));
	page->awaited = true;
	page->next = p->first;
	p->first = page;
	return page;
}

bool pages_know(struct pages *p, const char *path, int *status, struct str *body,
                struct page **ours)
{
	*ours = NULL;
	if (!p) {
		return false;
	}
	pthread_mutex_lock(&p->lock);
	struct page *page = find(p, path);
	while (page && page->awaited) {
		pthread_cond_wait(&p->told, &p->lock);
	}
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

void pages_tell(struct pages *p, struct page *page, int status, struct str body)
{
	if (!page) {
		return;
	}
	pthread_mutex_lock(&p->lock);
	page->awaited = false;
	if (status == 200 || status == 404) {
		page->status = status;
		page->text = body.p ? mem_text(body) : NULL;
		page->body = (struct str){page->text, body.n};
	}
	pthread_cond_broadcast(&p->told);
	pthread_mutex_unlock(&p->lock);
}
