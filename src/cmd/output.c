/* Writing results: see output.h. */
#include "cmd/output.h"

#include "base/fd.h"

#include <errno.h>
#include <unistd.h>

#define FLUSH_AT ((size_t)64 << 10)

struct output output_to_stdout(void)
{
	return (struct output){BUF(SIZE_MAX / 2), STDOUT_FILENO, false};
}

struct output output_to_stderr(void)
{
	return (struct output){BUF(SIZE_MAX / 2), STDERR_FILENO, false};
}

int output_flush(struct output *o, struct error *err)
{
	size_t done;

	if (fd_write(o->fd, buf_view(&o->text), &done)) {
		if (errno != EPIPE) {
			return error_errno(err, "cannot write to standard %s",
			                   o->fd == STDERR_FILENO ? "error" : "output");
		}
		o->closed = true;
	}
	buf_clear(&o->text);
	return 0;
}

int output_flush_some(struct output *o, struct error *err)
{
	return o->text.n < FLUSH_AT ? 0 : output_flush(o, err);
}

void output_release(struct output *o)
{
	buf_release(&o->text);
}

int output_close(struct output *o, struct error *err)
{
	int failed = output_flush(o, err);

	output_release(o);
	return failed;
}
