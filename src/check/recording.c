/* Recordings on their way from a file to the judge: see recording.h. */
#include "check/recording.h"

struct judging {
	struct judge *judge;
	const char *path;
	after_line_fn *after;
	void *ctx;
	bool empty;
};

static int take(void *ctx, const struct line *l, const struct reader_note *note,
                struct error *err)
{
	struct judging *j = ctx;
	j->empty = false;
	if (judge_line(j->judge, l, note, err))
		return error_wrap(err, "%s:%llu", j->path,
		                  (unsigned long long)note->line);
	return j->after ? j->after(j->ctx, err) : 0;
}

int judge_recording(struct judge *j, const char *path, after_line_fn *after, void *ctx,
                    struct error *err)
{
	struct reader *r = NULL;
	if (reader_open(path, &r, err))
		return -1;
	struct judging judging = {j, path, after, ctx, true};
	judge_file(j, path);
	if (reader_each(r, take, &judging, err))
		return -1;
	if (judging.empty)
		return error_set(err, FAIL_INPUT, "%s: there is no recording in it",
		                 path);
	return 0;
}
