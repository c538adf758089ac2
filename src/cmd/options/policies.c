/* Finds ready-made policies: see policies.h. */
#include "cmd/options/policies.h"

#include "base/file.h"
#include "base/text.h"
#include "policy/policy.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#define SUFFIX ".json"

typedef bool (*directory_visit)(void *ctx, const char *directory);

/* Calls visit for each directory in a colon-separated list, until it returns true. */
static bool each_of(const char *list, directory_visit visit, void *ctx)
{
	struct buf directory = BUF(BUF_MAX_SMALL);
	bool done = false;

	while (!done && *list) {
		size_t n = strcspn(list, ":");

		if (n) {
			buf_clear(&directory);
			buf_str(&directory, (struct str){list, n});
			buf_text(&directory, "/rolldbg/policies");
			done = visit(ctx, buf_cstr(&directory));
		}
		list += n + (list[n] == ':');
	}
	buf_release(&directory);
	return done;
}

/* PREFIX/share for the program PREFIX/bin/rolldbg, independent of where it is installed. */
static void put_own_share(struct buf *out)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n > 0) {
		path[n] = '\0';
		*strrchr(path, '/') = '\0';
		buf_printf(out, "%s/../share", path);
	}
}

/* Visits the directories in order of precedence. */
static bool each_directory(environment *variable, directory_visit visit, void *ctx)
{
	const char *home = variable("HOME"), *own = variable("XDG_DATA_HOME");
	const char *shared = variable("XDG_DATA_DIRS");
	struct buf places = BUF(BUF_MAX_MESSAGE);

	if (own && *own)
		buf_text(&places, own);
	else if (home && *home)
		buf_printf(&places, "%s/.local/share", home);
	buf_char(&places, ':');
	put_own_share(&places);
	buf_printf(&places, ":%s", shared && *shared ? shared : "/usr/local/share:/usr/share");
	bool done = visit(ctx, "policies") || each_of(buf_cstr(&places), visit, ctx);
	buf_release(&places);
	return done;
}

/* ---- one of them ---- */

struct wanted {
	const char *name;
	struct buf *path;
};

static bool has_it(void *ctx, const char *directory)
{
	struct wanted *w = ctx;

	buf_clear(w->path);
	buf_printf(w->path, "%s/%s" SUFFIX, directory, w->name);
	return access(buf_cstr(w->path), R_OK) == 0;
}

/* True for a kind (random:7) or a path, which is used as it is. */
static bool is_plain(const char *spec)
{
	for (size_t i = 0; i < policies_count; i++)
		if (!strcmp(spec, policy_kind_name(policies[i]->kind)))
			return true;
	return strpbrk(spec, "/:") || str_ends(str_from(spec), STR(SUFFIX)) ||
	       access(spec, F_OK) == 0;
}

/* Lists the forms that can be given: "random:SEED", and no script, which needs actions. A kind is
   near even without its argument. */
static int no_such_policy(environment *variable, const char *spec, struct error *err)
{
	struct names kinds = {.count = 0}, all = {.count = 0};

	for (size_t i = 0; i < policies_count; i++) {
		names_add(&kinds, str_from(policy_kind_name(policies[i]->kind)));
		if (policies[i]->spelled)
			names_add(&all, str_from(policies[i]->spelled));
	}
	policies_names(variable, &all);
	error_set(err, FAIL_INPUT, "policy '%s': no such file, kind or ready-made policy", spec);
	if (text_nearest(str_from(spec), kinds.text, kinds.count))
		names_suggest(err, str_from(spec), kinds.text, kinds.count);
	else
		names_suggest(err, str_from(spec), all.text, all.count);
	names_release(&kinds);
	names_release(&all);
	return -1;
}

/* A policy file is read several times: for its kind, its texts of errors, by each rollout. */
static int check_readable_again(const char *spec, struct error *err)
{
	return file_may_block(spec)
	               ? error_set(err, FAIL_INPUT,
	                           "policy %s: not a regular file, so it can be read only once: "
	                           "save the policy in a file",
	                           spec)
	               : 0;
}

int policies_find(environment *variable, const char *spec, struct buf *path, const char **out,
                  struct error *err)
{
	struct wanted w = {spec, path};

	*out = spec;
	if (!spec || is_plain(spec))
		return spec ? check_readable_again(spec, err) : 0;
	if (!each_directory(variable, has_it, &w))
		return no_such_policy(variable, spec, err);
	*out = buf_cstr(path);
	return check_readable_again(*out, err);
}

/* ---- all of them ---- */

static bool is_known(const struct names *all, struct str name)
{
	for (size_t i = 0; i < all->count; i++)
		if (str_is(name, all->text[i]))
			return true;
	return false;
}

static bool add_names(void *ctx, const char *directory)
{
	struct names *all = ctx;
	struct dirent **entries;
	int n = scandir(directory, &entries, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		struct str name = str_from(entries[i]->d_name);

		if (str_ends(name, STR(SUFFIX))) {
			name.n -= strlen(SUFFIX);
			if (!is_known(all, name))
				names_add(all, name);
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return false;
}

void policies_names(environment *variable, struct names *out)
{
	each_directory(variable, add_names, out);
}
