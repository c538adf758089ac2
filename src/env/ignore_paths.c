/* Parts of the state that are ignored in comparisons: see ignore_paths.h. */
#include "env/ignore_paths.h"

#include "json/write.h"

/* Renderings for people change with the last action even if nothing moved (a bump into a wall):
   they are ignored if the member they render is present. */
struct rendering {
	const char *drawing, *fact;
};

static const struct rendering renderings[] = {
	{"/grid", "/position"},
	{"/grid_layout", "/state"},
	{"/image_url", "/position"},
};

static const char *const bookkeeping[] = {"/step_count", "/episode_id"};

/* The list is quoted pointers, and no quotation mark within a pointer is without a backslash. */
static bool is_listed(const struct ignore_paths *e, const char *pointer)
{
	AUTO_BUF quoted = BUF(BUF_MAX_MESSAGE);

	json_quote(&quoted, str_from(pointer));
	return strstr(e->json.p, quoted.p) != NULL;
}

/* A golden names the defaults of its recording, too: once is enough. */
static int ignore(struct ignore_paths *e, struct json_writer *w, const char *pointer,
                  struct error *err)
{
	if (is_listed(e, pointer))
		return 0;
	if (json_paths_add(e->paths, str_from(pointer), err))
		return error_wrap(err, "\1ignore\2");
	jw_text(w, pointer);
	return 0;
}

static bool in_state(struct str state, const char *pointer)
{
	AUTO_BUF scratch = BUF(BUF_MAX_MESSAGE);
	bool there = json_point(state, str_from(pointer), &scratch).p != NULL;

	return there;
}

static int ignore_by_default(struct ignore_paths *e, struct json_writer *w, struct str state,
                             struct error *err)
{
	if (e->aside && ignore(e, w, e->aside, err))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(bookkeeping); i++) {
		if ((!state.p || in_state(state, bookkeeping[i])) &&
		    ignore(e, w, bookkeeping[i], err)) {
			return -1;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(renderings); i++) {
		if (in_state(state, renderings[i].drawing) && in_state(state, renderings[i].fact) &&
		    ignore(e, w, renderings[i].drawing, err)) {
			return -1;
		}
	}
	return 0;
}

bool ignore_paths_all_count(const struct env_conf *conf)
{
	size_t i = 0;

	while (i < conf->ignore_count && strcmp(conf->ignore[i], "none") != 0)
		i++;
	return i < conf->ignore_count;
}

int ignore_paths_check(const struct env_conf *conf, struct error *err)
{
	struct ignore_paths e = {.aside = NULL};
	int failed = ignore_paths_choose(&e, conf, STR_NONE, err);

	ignore_paths_release(&e);
	if (failed)
		err->kind = FAIL_USAGE;
	return failed;
}

int ignore_paths_choose(struct ignore_paths *e, const struct env_conf *conf, struct str state,
                        struct error *err)
{

	ignore_paths_release(e);
	e->json = BUF(BUF_MAX_MESSAGE);
	struct json_writer w = jw_form(&e->json, "[");
	e->paths = json_paths_new(false);
	if (!ignore_paths_all_count(conf) && ignore_by_default(e, &w, state, err))
		return -1;
	for (size_t i = 0; i < conf->ignore_count; i++)
		if (strcmp(conf->ignore[i], "none") != 0 && ignore(e, &w, conf->ignore[i], err))
			return -1;
	jw_end(&w);
	return 0;
}

int ignore_paths_of_session(struct ignore_paths *e, struct env *env, const struct env_conf *conf,
                            struct str first, struct error *err)
{
	if (ignore_paths_choose(e, conf, first, err))
		return -1;
	env->facts.state_ignore = buf_view(&e->json);
	env->facts.ignore_paths = e->paths;
	return 0;
}

void ignore_paths_release(struct ignore_paths *e)
{
	json_paths_free(e->paths);
	e->paths = NULL;
	buf_release(&e->json);
}
