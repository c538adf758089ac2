/* A progress line on standard error: see progress.h. */
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
	pthread_mutex_t lock; /* held while other output is written */
	bool shown;
	struct buf line;
};

static void say(struct str s)
{
	/* a write error on stderr cannot be reported */
	ssize_t ignored = write(STDERR_FILENO, s.p, s.n);

	(void)ignored;
}

static void make_room(void *ctx, bool begins)
{
	if (begins)
		progress_give_way(ctx);
	else
		progress_go_on(ctx);
}

struct progress *progress_new(const struct context *c)
{
	struct progress *p;

	if (!c->stderr_columns || c->quiet)
		return NULL;
	p = mem_new(sizeof(*p));
	p->columns = c->stderr_columns;
	p->line = BUF(BUF_MAX_SMALL);
	pthread_mutex_init(&p->lock, NULL);
	log_set_guard(make_room, p);
	return p;
}

void progress_free(struct progress *p)
{
	if (!p)
		return;
	log_set_guard(NULL, NULL);
	progress_give_way(p);
	progress_go_on(p);
	pthread_mutex_destroy(&p->lock);
	buf_release(&p->line);
	free(p);
}

void progress_show(struct progress *p, struct str text)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	buf_clear(&p->line);
	buf_text(&p->line, ERASE);
	/* some terminals wrap after the last column */
	text_escape_cut(&p->line, text, p->columns - 1);
	say(buf_view(&p->line));
	p->shown = true;
	pthread_mutex_unlock(&p->lock);
}

void progress_of_batch(struct progress *p, const struct batch_count *now, int64_t steps,
                       uint64_t took_ms, const char *suffix)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	buf_printf(&text, "%zu of %zu done · %zu running · %zu failed · %lld steps/s", now->done,
	           now->total, now->running,
	           now->refused + now->unreachable + now->lost + now->failed,
	           (long long)((uint64_t)steps * 1000 / (took_ms + 1)));
	if (now->done) {
		uint64_t open = now->total - now->done - now->interrupted;
		uint64_t left = took_ms * open / now->done / 1000; /* seconds */

		buf_printf(&text, " · %llu:%02llu left", (unsigned long long)(left / 60),
		           (unsigned long long)(left % 60));
	}
	buf_text(&text, suffix ? suffix : "");
	progress_show(p, buf_view(&text));
}

void progress_say_environments(const struct batch_count *count, struct buf *out)
{
	const struct {
		size_t n;
		const char *what;
	} others[] = {{count->refused, "refused"},
	              {count->unreachable, end_status_name(END_UNREACHABLE)},
	              {count->lost, "lost the connection"}};

	if (!count->refused && !count->unreachable && !count->lost)
		return;
	buf_printf(out, "%zu of %zu rollouts got an environment", count->opened,
	           count->done + count->interrupted);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (others[i].n)
			buf_printf(out, " · %zu %s", others[i].n, others[i].what);
	buf_char(out, '\n');
}

void progress_give_way(struct progress *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	if (p->shown) {
		say(STR(ERASE));
		p->shown = false;
	}
}

void progress_go_on(struct progress *p)
{
	if (p)
		pthread_mutex_unlock(&p->lock);
}
