/* Parts of the state that are no change: see ignored.h. */
#include "env/ignored.h"

#include "json/write.h"

/* Renderings for people change with the last action even when nothing moved (a bump into
   a wall): next to the fact they draw they are left out. */
struct rendering {
	const char *drawing, *fact;
};

static const struct rendering renderings[] = {
	{"/grid", "/position"},
	{"/grid_layout", "/state"},
	{"/image_url", "/position"},
};

static const char *const bookkeeping[] = {"/step_count", "/episode_id"};

static int ignore(struct ignored *e, struct json_writer *w, const char *pointer,
                  struct error *err)
{
	if (json_paths_add(e->paths, str_from(pointer), err)) {
		return error_wrap(err, "--ignore");
	}
	jw_text(w, pointer);
	return 0;
}

static bool in_state(struct str state, const char *pointer)
{
	struct buf scratch = BUF(BUF_MAX_MESSAGE);
	bool there = json_point(state, str_from(pointer), &scratch).p != NULL;

	buf_release(&scratch);
	return there;
}

static int ignore_by_default(struct ignored *e, struct json_writer *w, struct str state,
                             struct error *err)
{
	if (e->aside && ignore(e, w, e->aside, err)) {
		return -1;
	}
	for (size_t i = 0; i < ARRAY_LEN(bookkeeping); i++) {
		if ((!state.p || in_state(state, bookkeeping[i])) &&
		    ignore(e, w, bookkeeping[i], err)) {
			return -1;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(renderings); i++) {
		if (in_state(state, renderings[i].drawing) &&
		    in_state(state, renderings[i].fact) &&
		    ignore(e, w, renderings[i].drawing, err)) {
			return -1;
		}
	}
	return 0;
}

int ignored_settle(struct ignored *e, const struct opt_list *given, struct str state,
                   struct error *err)
{
	struct json_writer w;

	jw_init(&w, &e->json);
	jw_array(&w);
	e->paths = json_paths_new(false);
	for (size_t i = 0; given && i < given->count; i++) {
		if (ignore(e, &w, given->item[i], err)) {
			err->kind = FAIL_USAGE;
			return -1;
		}
	}
	if ((!given || !given->count) && ignore_by_default(e, &w, state, err)) {
		return -1;
	}
	jw_end(&w);
	return 0;
}

void ignored_release(struct ignored *e)
{
	json_paths_free(e->paths);
	buf_release(&e->json);
}
