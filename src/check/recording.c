/* Recordings on their way from a file to the judge: see recording.h. */
#include "check/recording.h"

static int judge_lines(struct judge *j, struct reader *r, after_line_fn *after, void *ctx,
                       struct error *err)
{
	const char *path = reader_path(r);
	struct reader_note note;
	struct line l;
	bool empty = true;
	int more;

	while ((more = reader_next(r, &l, &note, err)) > 0) {
		empty = false;
		if (judge_line(j, &l, &note, err))
			return error_wrap(err, "%s:%llu", path,
			                  (unsigned long long)note.line);
		if (after && after(ctx, err))
			return -1;
	}
	if (more == 0 && empty)
		return error_set(err, FAIL_INPUT, "%s: there is no recording in it",
		                 path);
	return more;
}

int judge_recording(struct judge *j, const char *path, after_line_fn *after, void *ctx,
                    struct error *err)
{
	struct reader *r = NULL;
	if (reader_open(path, &r, err))
		return -1;
	judge_file(j, path);
	int failed = judge_lines(j, r, after, ctx, err);
	reader_close(r);
	return failed;
}
