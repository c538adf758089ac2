/* Pages that a server returns over HTTP, fetched once for all sessions that a command opens on
   it. Thread-safe. */
#ifndef ROLLDBG_ENV_PAGE_CACHE_H
#define ROLLDBG_ENV_PAGE_CACHE_H

#include "base/base.h"

struct page_cache;
struct page;

struct page_cache *page_cache_new(void);
void page_cache_free(struct page_cache *p); /* NULL is fine; all sessions must be closed */

/* Returns true if the page is known: *status and *body are the server's reply, valid as long as
   p. Returns false if the caller must fetch it; if *ours is set, others wait for the result, and
   page_cache_tell() must follow. p NULL: nothing is cached. */
bool page_cache_know(struct page_cache *p, const char *path, int *status, struct str *body,
                     struct page **ours);

/* What the server answered. If it did not, was too busy (429, 503) or not there yet (502), this is
   not shared: all others ask for themselves. page NULL is fine. */
void page_cache_tell(struct page_cache *p, struct page *page, int status, struct str body);

#endif
