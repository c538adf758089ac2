/* Log messages on stderr: see log.h. The log level is one of the program's two globals. */
#include "base/log.h"

#include "base/buf.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic int level_now = LOG_WARN;
static void (*filter_now)(void *ctx, struct str text, struct buf *out);
static void *filter_ctx;
static void (*guard_now)(void *ctx, bool begins);
static void *guard_ctx;

void log_set_level(enum log_level level)
{
	atomic_store(&level_now, (int)level);
}

void log_set_filter(void (*filter)(void *ctx, struct str text, struct buf *out), void *ctx)
{
	filter_now = filter;
	filter_ctx = ctx;
}

void log_set_guard(void (*guard)(void *ctx, bool begins), void *ctx)
{
	guard_now = guard;
	guard_ctx = ctx;
}

static void guard(bool begins)
{
	if (guard_now)
		guard_now(guard_ctx, begins);
}

bool log_wants(enum log_level level)
{
	return (int)level <= atomic_load(&level_now);
}

void log_say(enum log_level level, const char *fmt, ...)
{
	va_list args;
	AUTO_BUF text = BUF(BUF_MAX_SMALL), shown = BUF(2 * BUF_MAX_SMALL),
		 line = BUF(8 * BUF_MAX_SMALL);

	if (!log_wants(level))
		return;
	va_start(args, fmt);
	buf_vprintf(&text, fmt, args);
	va_end(args);
	if (filter_now)
		filter_now(filter_ctx, buf_view(&text), &shown);
	else
		buf_str(&shown, buf_view(&text));
	buf_text(&line, "rolldbg: ");
	text_escape(&line, buf_view(&shown));
	buf_char(&line, '\n');
	/* a failure to write to stderr cannot be reported */
	guard(true);
	ssize_t ignored = write(STDERR_FILENO, buf_cstr(&line), line.n);
	(void)ignored;
	guard(false);
}
