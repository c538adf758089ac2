/* Writing results: see output.h. */
#include "cmd/options/output.h"

#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <unistd.h>

#define FLUSH_AT ((size_t)64 << 10)

struct output output_to_stdout(void)
{
	return (struct output){.text = BUF(SIZE_MAX / 2), .fd = STDOUT_FILENO};
}

struct output output_to_stderr(void)
{
	return (struct output){.text = BUF(SIZE_MAX / 2), .fd = STDERR_FILENO};
}

struct output output_of_results(bool json)
{
	struct output o = output_to_stdout();

	o.json = json;
	return o;
}

/* Writes the first n bytes; the others remain. */
static int flush_first(struct output *o, size_t n, struct error *err)
{
	struct buf shown = BUF(SIZE_MAX / 2);
	struct str text = {o->text.p, n};
	size_t done;

	if (o->json) {
		text_escape_json(&shown, text);
		text = buf_view(&shown);
	}
	int failed = fd_write(o->fd, text, &done);
	buf_release(&shown);
	if (failed) {
		if (errno != EPIPE) {
			return error_errno(err, "cannot write to standard %s",
			                   o->fd == STDERR_FILENO ? "error" : "output");
		}
		o->closed = true;
	}
	buf_drop(&o->text, n);
	return 0;
}

int output_flush(struct output *o, struct error *err)
{
	if (flush_first(o, o->text.n, err))
		return -1;
	buf_clear(&o->text);
	return 0;
}

int output_flush_blocks(struct output *o, struct error *err)
{
	size_t n = o->text.n - o->text.n % OUTPUT_BLOCK;

	return n ? flush_first(o, n, err) : 0;
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
