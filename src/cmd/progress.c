/* The line that is written again and again: see progress.h. */
#include "cmd/progress.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define ERASE "\r\x1b[K"

struct progress {
	size_t columns;
	pthread_mutex_t lock; /* held while others write */
	bool shown;
	struct buf line;
};

static void say(struct str s)
{
	/* nobody is left to be told when stderr itself is gone */
	ssize_t ignored = write(STDERR_FILENO, s.p, s.n);

	(void)ignored;
}

static void make_room(void *ctx, bool begins)
{
	if (begins) {
		progress_give_way(ctx);
	} else {
		progress_go_on(ctx);
	}
}

struct progress *progress_new(const struct context *c)
{
	struct progress *p;

	if (!c->stderr_columns || c->quiet) {
		return NULL;
	}
	p = mem_new(sizeof(*p));
	p->columns = c->stderr_columns;
	p->line = BUF(BUF_MAX_SMALL);
	pthread_mutex_init(&p->lock, NULL);
	log_set_guard(make_room, p);
	return p;
}

void progress_free(struct progress *p)
{
	if (!p) {
		return;
	}
	log_set_guard(NULL, NULL);
	progress_give_way(p);
	progress_go_on(p);
	pthread_mutex_destroy(&p->lock);
	buf_release(&p->line);
	free(p);
}

void progress_show(struct progress *p, struct str text)
{
	if (!p) {
		return;
	}
	pthread_mutex_lock(&p->lock);
	buf_clear(&p->line);
	buf_text(&p->line, ERASE);
	/* in the last column some terminals go on to the next line */
	text_escape_cut(&p->line, text, p->columns - 1);
	say(buf_view(&p->line));
	p->shown = true;
	pthread_mutex_unlock(&p->lock);
}

void progress_give_way(struct progress *p)
{
	if (!p) {
		return;
	}
	pthread_mutex_lock(&p->lock);
	if (p->shown) {
		say(STR(ERASE));
		p->shown = false;
	}
}

void progress_go_on(struct progress *p)
{
	if (p) {
		pthread_mutex_unlock(&p->lock);
	}
}
