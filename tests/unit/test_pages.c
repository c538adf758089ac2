/* Pages requested by many sessions at once: one requests it from the server, the others
   wait for its reply; a reply that is not shareable is requested again by each. */
#include "env/page_cache.h"
#include "tap.h"

#include <pthread.h>
#include <stdlib.h>

#define ASKING 8

struct asker {
	struct page_cache *pages;
	pthread_mutex_t lock; /* guards the members below */
	int asked, heard;
	int answer;
};

static void *ask(void *arg)
{
	struct asker *a = arg;
	struct str body = {NULL, 0};
	int status = 0;
	bool known = page_cache_find(a->pages, "/schema", &status, &body);

	if (!known)
		page_cache_store(a->pages, "/schema", a->answer, STR("{\"a\":1}"));
	pthread_mutex_lock(&a->lock);
	a->asked += !known;
	a->heard += known && status == a->answer && str_is(body, "{\"a\":1}");
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

static void ask_all(struct asker *a, int answer)
{
	pthread_t threads[ASKING];

	*a = (struct asker){.pages = page_cache_new(), .answer = answer};
	pthread_mutex_init(&a->lock, NULL);
	for (int i = 0; i < ASKING; i++) {
		if (pthread_create(&threads[i], NULL, ask, a)) {
			printf("Bail out! no thread\n");
			exit(1);
		}
	}
	for (int i = 0; i < ASKING; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_destroy(&a->lock);
	page_cache_free(a->pages);
}

int main(void)
{
	struct asker a;
	struct page_cache *pages = page_cache_new();
	struct str body = {NULL, 0};
	int status = 0;

	ask_all(&a, 200);
	ok(a.asked == 1 && a.heard == ASKING - 1, "one requests it, all others get the reply");
	ask_all(&a, 404);
	ok(a.asked == 1 && a.heard == ASKING - 1, "404 is an answer, too");
	ask_all(&a, 503);
	ok(a.asked == ASKING, "if the server is busy, each requests it");
	ask_all(&a, 0);
	ok(a.asked == ASKING, "so is one that does not answer");

	ok(!page_cache_find(pages, "/schema", &status, &body), "a page is requested");
	page_cache_store(pages, "/schema", 200, STR("[]"));
	ok(!page_cache_find(pages, "/metadata", &status, &body), "so is a different one");
	page_cache_store(pages, "/metadata", 404, STR_NONE);
	ok(page_cache_find(pages, "/schema", &status, &body) && status == 200 && str_is(body, "[]"),
	   "each page has its own reply");
	ok(page_cache_find(pages, "/metadata", &status, &body) && status == 404 && !body.p,
	   "an absent page, too");
	page_cache_free(pages);
	page_cache_store(NULL, "/schema", 200, STR("{}"));
	ok(!page_cache_find(NULL, "/schema", &status, &body), "without a cache nothing is shared");
	return done();
}
