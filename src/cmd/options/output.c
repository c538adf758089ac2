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

int output_flush(struct output *o, struct error *err)
{
	AUTO_BUF shown = BUF(SIZE_MAX / 2);
	struct str text = buf_view(&o->text);
	size_t done;

	if (o->json) {
		text_escape_json(&shown, text);
		text = buf_view(&shown);
	}
	int failed = fd_write(o->fd, text, &done);
	if (failed) {
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
