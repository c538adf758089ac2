/* A cache of HTTP pages, shared by all sessions that a command opens on a server. Thread-safe. */
#pragma once

#include "base/base.h"

struct page_cache;

struct page_cache *page_cache_new(void);
void page_cache_free(struct page_cache *p); /* NULL is fine; all sessions must be closed */

/* Returns true if the page is cached: *status and *body are valid as long as p. Returns false if
   the caller must fetch it: others wait until it calls page_cache_store(). p NULL: no cache. */
bool page_cache_find(struct page_cache *p, const char *path, int *status, struct str *body);

/* Stores the server's response if it is 200 or 404. Others, and none (status 0), may be temporary: the others fetch
   the page themselves. */
void page_cache_store(struct page_cache *p, const char *path, int status, struct str body);
