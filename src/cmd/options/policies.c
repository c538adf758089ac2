/* Finds ready-made policies: see policies.h. */
#include "cmd/options/policies.h"

#include "base/file.h"
#include "base/text.h"
#include "policy/policy.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#define SUFFIX ".json"

static void add_share(struct names *out, struct str share)
{
	AUTO_BUF directory = BUF(BUF_MAX_SMALL);

	buf_str(&directory, share);
	buf_text(&directory, "/rolldbg/policies");
	if (share.n)
		names_add(out, buf_view(&directory));
}

/* PREFIX/share for the program PREFIX/bin/rolldbg, independent of where it is installed. */
static void add_own_share(struct names *out)
{
	AUTO_BUF share = BUF(BUF_MAX_SMALL);
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n > 0) {
		path[n] = '\0';
		*strrchr(path, '/') = '\0';
		buf_printf(&share, "%s/../share", path);
	}
	add_share(out, buf_view(&share));
}

/* In order of precedence. */
static void directories(environment *variable, struct names *out)
{
	const char *home = variable("HOME"), *own = variable("XDG_DATA_HOME");
	const char *shared = variable("XDG_DATA_DIRS");
	AUTO_BUF share = BUF(BUF_MAX_SMALL);
	struct str rest = str_from(shared && *shared ? shared : "/usr/local/share:/usr/share");

	names_add(out, STR("policies"));
	if (own && *own)
		buf_text(&share, own);
	else if (home && *home)
		buf_printf(&share, "%s/.local/share", home);
	add_share(out, buf_view(&share));
	add_own_share(out);
	while (rest.n)
		add_share(out, str_cut(&rest, ':'));
}

/* ---- one of them ---- */

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
	AUTO_NAMES kinds = {.count = 0}, all = {.count = 0};

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
	AUTO_NAMES all = {.count = 0};
	bool found = false;

	*out = spec;
	if (!spec || is_plain(spec))
		return spec ? check_readable_again(spec, err) : 0;
	directories(variable, &all);
	for (size_t i = 0; !found && i < all.count; i++) {
		buf_clear(path);
		buf_printf(path, "%s/%s" SUFFIX, all.text[i], spec);
		found = access(buf_cstr(path), R_OK) == 0;
	}
	if (!found)
		return no_such_policy(variable, spec, err);
	*out = buf_cstr(path);
	return check_readable_again(*out, err);
}

/* ---- all of them ---- */

static void add_names(struct names *all, const char *directory)
{
	struct dirent **entries;
	int n = scandir(directory, &entries, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		struct str name = str_from(entries[i]->d_name);

		if (str_ends(name, STR(SUFFIX))) {
			name.n -= strlen(SUFFIX);
			names_note(all, name);
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

void policies_names(environment *variable, struct names *out)
{
	AUTO_NAMES all = {.count = 0};

	directories(variable, &all);
	for (size_t i = 0; i < all.count; i++)
		add_names(out, all.text[i]);
}
