/* Output files of recordings: see recordings.h. */
#include "cmd/store/recordings.h"

#include "base/map.h"
#include "cmd/store/store.h"
#include "recording/recorder.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name has at most 255 bytes, also with endings such as .jsonl.masks or .jsonl.PID.partial. */
#define NAME_LONGEST 230
#define NAME_KEPT    200

#define ROWS recording
#include "cmd/options/rows.h"
const struct option_group recording_group = {recording_opts, ARRAY_LEN(recording_opts),
                                             "recording options"};

bool recordings_is_directory(const char *out)
{
	size_t n = out ? strlen(out) : 0;
	struct stat st;

	return n && (out[n - 1] == '/' || (stat(out, &st) == 0 && S_ISDIR(st.st_mode)));
}

static bool is_safe(unsigned char c, bool first)
{
	bool letter = (c | 32) >= 'a' && (c | 32) <= 'z';

	return c >= 0x80 || letter || (c >= '0' && c <= '9') || (c == '.' && !first) ||
	       (c && strchr("_-+=,@~", c));
}

/* Appends the name; returns how much of it is at most NAME_KEPT bytes of whole characters. */
static size_t put_name(struct str rollout, struct buf *out)
{
	size_t length = 0;

	for (size_t i = 0; i < rollout.n; i++) {
		unsigned char c = (unsigned char)rollout.p[i];

		if (out->n <= NAME_KEPT && (c & 0xc0) != 0x80)
			length = out->n;
		if (is_safe(c, i == 0))
			buf_char(out, (char)c);
		else
			buf_printf(out, "%%%02X", (unsigned)c);
	}
	return length;
}

void recordings_path(const struct recordings *r, struct str rollout, struct buf *out)
{
	AUTO_BUF name = BUF(SIZE_MAX / 2);
	size_t length = put_name(rollout, &name);

	buf_str(out, buf_view(&r->path));
	if (name.n <= NAME_LONGEST)
		buf_str(out, buf_view(&name));
	else
		buf_printf(out, "%.*s~%016" PRIx64, (int)length, name.p, map_hash(rollout));
	buf_text(out, ".jsonl");
}

static int make_directory(struct recordings *r, struct error *err)
{
	const char *path;
	struct stat st;

	buf_text(&r->path, r->options->out);
	while (r->path.n > 1 && r->path.p[r->path.n - 1] == '/')
		buf_cut(&r->path, r->path.n - 1);
	path = buf_cstr(&r->path);
	if (mkdir(path, 0777) && errno != EEXIST)
		return error_errno(err, "cannot create the directory %s", path);
	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
		return error_set(err, FAIL_USAGE, "--out %s: %s is not a directory",
		                 r->options->out, path);
	}
	if (access(path, W_OK | X_OK))
		return error_errno(err, "cannot write into the directory %s", path);
	if (strcmp(path, "/") != 0)
		buf_char(&r->path, '/');
	return 0;
}

/* Refuses existing files before anything is started, unless --force or --append is given. */
static int check_files(const struct recordings *r, const struct plan *plan, struct error *err)
{
	AUTO_BUF path = BUF(BUF_MAX_SMALL);
	struct planned one;

	for (size_t i = 0; i < plan->count; i++) {
		struct stat st;

		plan_nth(plan, i, &one);
		buf_clear(&path);
		recordings_path(r, str_from(one.id), &path);
		if (lstat(buf_cstr(&path), &st)) {
			if (errno != ENOENT)
				return error_errno(err, "cannot write %s", buf_cstr(&path));
		} else if (!r->options->force && !r->options->append) {
			return error_set(
				err, FAIL_USAGE,
				S_ISLNK(st.st_mode)
					? "%s is a symbolic link: use --force to replace it"
					: "%s exists; use --force to overwrite it",
				buf_cstr(&path));
		}
	}
	return 0;
}

int recordings_choose(struct recordings *r, const struct context *c,
                      const struct recording_options *o, const struct plan *plan,
                      const struct secrets *secrets, struct error *err)
{
	*r = (struct recordings){.context = c,
	                         .options = o,
	                         .secrets = secrets,
	                         .path = BUF(BUF_MAX_SMALL),
	                         .directory = recordings_is_directory(o->out)};
	if (r->directory)
		return make_directory(r, err) || check_files(r, plan, err);
	if (o->out) {
		buf_text(&r->path, o->out);
		return 0;
	}
	r->stored = true;
	return store_new_file(c, &r->path, err);
}

static int open_one(const struct recordings *r, const char *path, struct recorder **out,
                    bool *created, struct error *err)
{
	struct recorder_conf conf = {.path = path,
	                             .force = r->options->force,
	                             .append = r->options->append,
	                             .sync = r->options->sync,
	                             .private = r->stored,
	                             .secrets = r->secrets};

	*created = strcmp(path, "-") != 0 && access(path, F_OK) != 0;
	if (recorder_new(&conf, out, err)) {
		*created = false;
		return -1;
	}
	return 0;
}

bool recordings_remove_empty(const char *path)
{
	struct stat st;
	bool empty = stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;

	if (empty)
		unlink(path);
	return empty;
}

/* If the policy was refused before the first line, the file is empty and is removed. */
static int close_one(struct recorder *recorder, const char *path, bool created, struct error *err)
{
	int failed = recorder_close(recorder, err);

	if (created)
		recordings_remove_empty(path);
	return failed;
}

int recordings_open(struct recordings *r, struct error *err)
{
	return r->directory ? 0 : open_one(r, buf_cstr(&r->path), &r->recorder, &r->created, err);
}

int recordings_close(struct recordings *r, struct error *err)
{
	struct recorder *recorder = r->recorder;

	r->recorder = NULL;
	return close_one(recorder, buf_cstr(&r->path), r->created, err);
}

bool recordings_is_worth_keeping(const struct line *l)
{
	if (l->type == LINE_END)
		return l->status != END_UNREACHABLE && l->status != END_INTERRUPTED;
	return l->type == LINE_STEP ||
	       (l->type == LINE_RESET && l->outcome != OUTCOME_TRANSPORT_ERROR);
}

void recordings_release(struct recordings *r)
{
	buf_release(&r->path);
}

int recording_open(const struct recordings *r, const char *rollout, struct recording *out,
                   struct error *err)
{
	*out = (struct recording){.recorder = r->recorder, .path = BUF(BUF_MAX_SMALL)};
	if (!r->directory)
		return 0;
	recordings_path(r, str_from(rollout), &out->path);
	return open_one(r, buf_cstr(&out->path), &out->recorder, &out->created, err);
}

int recording_close(const struct recordings *r, struct recording *one, struct error *err)
{
	int failed = r->directory
	                     ? close_one(one->recorder, buf_cstr(&one->path), one->created, err)
	                     : 0;

	buf_release(&one->path);
	return failed;
}

int recordings_check_directory(const struct recordings *r, struct error *err)
{
	const struct recording_options *o = r->options;
	const char *path = buf_cstr(&r->path);
	DIR *d = r->directory && !o->force && !o->append ? opendir(path) : NULL;
	bool taken = false;

	for (struct dirent *e; d && (e = readdir(d));)
		taken |= str_ends(str_from(e->d_name), STR(".jsonl"));
	if (d)
		closedir(d);
	return taken ? error_set(err, FAIL_USAGE,
	                         "--out %s: there are recordings in it; use another directory, or "
	                         "--force to overwrite those of the same name",
	                         o->out)
	             : 0;
}
