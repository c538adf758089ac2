/* What a server says about itself over HTTP, asked once for all sessions that one command
   opens on it. Safe to use from many threads. */
#ifndef ROLLDBG_ENV_PAGES_H
#define ROLLDBG_ENV_PAGES_H

#include "base/base.h"

struct pages;
struct page;

struct pages *pages_new(void);
void pages_free(struct pages *p); /* NULL is fine; no session may be left */

/* True: the page is known; *status and *body are what the server answered, and live as
   long as p. False: the caller asks the server itself; when *ours is set others wait for
   its answer, and pages_tell() must follow. p NULL: nothing is shared. */
bool pages_know(struct pages *p, const char *path, int *status, struct str *body,
                struct page **ours);

/* What came. Unless it was a 200 or a 404, it is nobody else's: all ask for themselves.
   page NULL is fine. */
void pages_tell(struct pages *p, struct page *page, int status, struct str body);

#endif
