/* The default place for recordings: see store.h. */
#include "cmd/store/store.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The XDG Base Directory Specification requires 0700. */
int store_make_directories(struct buf *path, const char *cure, struct error *err)
{
	for (size_t i = 1; i <= path->n; i++) {
		char kept = path->p[i];

		if (kept != '/' && kept != '\0')
			continue;
		path->p[i] = '\0';
		if (mkdir(path->p, 0700) && errno != EEXIST) {
			return error_errno(err, "cannot create the directory %s (%s)", path->p,
			                   cure);
		}
		path->p[i] = kept;
	}
	return 0;
}

int store_new_file(const struct context *c, struct buf *path, struct error *err)
{
	char stamp[32], unique[9];

	if (store_directory(c->variable, path, err) ||
	    store_make_directories(path, "use --out FILE to record elsewhere", err)) {
		return -1;
	}
	if (rng_unique_hex(unique, 8))
		return error_errno(err, "cannot get random bytes for a file name");
	clock_format(c->clock.unix_ms(c->clock.ctx), stamp);
	for (char *p = stamp; *p; p++)
		if (*p == ':' || *p == '.')
			*p = '-';
	/* with milliseconds: the order of the names is that of the runs */
	buf_printf(path, "/%.23s-%s.jsonl", stamp, unique);
	return 0;
}

int store_set_latest(const struct context *c, const char *path, struct error *err)
{
	AUTO_BUF link = BUF(BUF_MAX_SMALL), fresh = BUF(BUF_MAX_SMALL);
	const char *name = strrchr(path, '/');

	if (store_directory(c->variable, &link, err))
		return -1;
	buf_printf(&fresh, "%s/latest-%ld", buf_cstr(&link), (long)getpid());
	buf_text(&link, "/latest");
	if (symlink(name ? name + 1 : path, buf_cstr(&fresh)) == 0 &&
	    rename(buf_cstr(&fresh), buf_cstr(&link)) == 0)
		return 0;
	error_errno(err, "cannot move the link %s", buf_cstr(&link));
	unlink(buf_cstr(&fresh));
	return -1;
}

int store_latest(const struct context *c, struct buf *path, struct error *err)
{
	if (store_directory(c->variable, path, err))
		return -1;
	buf_text(path, "/latest");
	if (access(buf_cstr(path), R_OK)) {
		return error_set(
			err, FAIL_INPUT,
			"no recording given, and there is no latest one (%s): record one with "
			"rolldbg run",
			buf_cstr(path));
	}
	return file_may_block(buf_cstr(path))
	               ? error_set(err, FAIL_INPUT, "cannot read %s: not a regular file",
	                           buf_cstr(path))
	               : 0;
}

int store_last_two(const struct context *c, struct buf *older, struct buf *newer, struct error *err)
{
	struct stored all;
	int failed = store_list(c->variable, &all, err);

	if (!failed && all.count < 2) {
		failed = error_set(err, FAIL_INPUT, "fewer than two recordings in %s: name two",
		                   buf_cstr(&all.directory));
	}
	if (!failed) {
		stored_path(&all, 0, newer);
		stored_path(&all, 1, older);
	}
	stored_release(&all);
	return failed;
}

int store_operands(const struct context *c, int argc, char **argv, struct file_list *files,
                   struct error *err)
{
	AUTO_BUF latest = BUF(BUF_MAX_SMALL);

	if (argc)
		return file_list_new(argv, (size_t)argc, files, err);
	return store_latest(c, &latest, err) || file_list_new(&latest.p, 1, files, err) ? -1 : 0;
}

bool store_pass_over(const struct file_list *files, const struct error *err, size_t *unusable)
{
	if (!files->many || err->kind != FAIL_INPUT)
		return false;
	log_error("%s", err->text);
	(*unusable)++;
	return true;
}

/* ---- recordings by number ---- */

int store_directory(environment *variable, struct buf *path, struct error *err)
{
	const char *state = variable("XDG_STATE_HOME"), *home = variable("HOME");

	if (state && state[0] == '/') {
		buf_printf(path, "%s/rolldbg", state);
		return 0;
	}
	if (home && home[0]) {
		buf_printf(path, "%s/.local/state/rolldbg", home);
		return 0;
	}
	return error_set(err, FAIL_SYSTEM,
	                 "no directory for the recording: give --out FILE, or set HOME or "
	                 "XDG_STATE_HOME");
}

/* Names begin with the time: the last one is the newest. */
static int is_recording(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && str_ends(str_from(entry->d_name), STR(".jsonl"));
}

static int newest_first(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*b)->d_name, (*a)->d_name);
}

/* Folders and pipes are not ours, and reading a pipe could wait forever. A link without target is
   listed as unusable. */
static bool is_file(const char *folder, const char *name)
{
	AUTO_BUF path = BUF(BUF_MAX_SMALL);
	struct stat st;

	buf_printf(&path, "%s/%s", folder, name);
	return stat(buf_cstr(&path), &st) != 0 || S_ISREG(st.st_mode);
}

int store_list(environment *variable, struct stored *out, struct error *err)
{
	struct dirent **entries = NULL;

	*out = (struct stored){.directory = BUF(BUF_MAX_SMALL)};
	if (store_directory(variable, &out->directory, err))
		return -1;
	int count = scandir(buf_cstr(&out->directory), &entries, is_recording, newest_first);
	if (count < 0 && errno != ENOENT) {
		error_errno(err, "cannot read the directory %s", buf_cstr(&out->directory));
		return -1;
	}
	out->names = mem_array((size_t)(count > 0 ? count : 0) + 1, sizeof(*out->names));
	out->count = 0;
	for (int i = 0; i < count; i++) {
		if (is_file(buf_cstr(&out->directory), entries[i]->d_name))
			out->names[out->count++] = mem_text(str_from(entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	return 0;
}

void stored_release(struct stored *s)
{
	mem_free_all(s->names, s->count);
	buf_release(&s->directory);
	*s = (struct stored){.count = 0};
}

void stored_path(const struct stored *s, size_t index, struct buf *out)
{
	buf_str(out, buf_view(&s->directory));
	buf_printf(out, "/%s", s->names[index]);
}

/* A writer holds an exclusive lock. */
static bool is_being_written(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0;

	if (fd >= 0)
		close(fd);
	return locked;
}

/* The recording that an entry of the directory depends on: the target of a link, or NAME.jsonl of
   NAME.jsonl.masks; absent: none. */
static struct str needed_by(const char *directory, const char *entry, struct buf *scratch)
{
	const char *extension = strstr(entry, ".jsonl.");
	char target[4096];

	if (extension)
		return (struct str){entry, (size_t)(extension - entry) + strlen(".jsonl")};
	buf_clear(scratch);
	buf_printf(scratch, "%s/%s", directory, entry);
	ssize_t length = readlink(buf_cstr(scratch), target, sizeof(target) - 1);
	if (length < 0)
		return STR_NONE;
	target[length] = '\0';
	const char *last = strrchr(target, '/');
	buf_set(scratch, str_from(last ? last + 1 : target));
	return buf_view(scratch);
}

static void mark(const struct stored *s, struct str name, bool *needed)
{
	for (size_t i = 0; name.p && i < s->count; i++)
		needed[i] = needed[i] || str_is(name, s->names[i]);
}

int store_needed(const struct stored *s, bool *needed, struct error *err)
{
	AUTO_BUF scratch = BUF(BUF_MAX_SMALL), directory = BUF(BUF_MAX_SMALL);
	int failed = 0;

	buf_str(&directory, buf_view(&s->directory));
	DIR *entries = opendir(buf_cstr(&directory));
	if (!entries && errno != ENOENT)
		failed = error_errno(err, "cannot read the directory %s", buf_cstr(&directory));
	for (struct dirent *e; entries && (e = readdir(entries)) != NULL;)
		mark(s, needed_by(buf_cstr(&directory), e->d_name, &scratch), needed);
	if (entries)
		closedir(entries);
	for (size_t i = 0; i < s->count && !failed; i++) {
		buf_clear(&scratch);
		stored_path(s, i, &scratch);
		needed[i] = needed[i] || is_being_written(buf_cstr(&scratch));
	}
	return failed;
}

/* The N of @N, from 1; 0: not such a name. */
static uint64_t number_of(const char *name)
{
	uint64_t number;

	return name && name[0] == '@' && text_u64(str_from(name + 1), &number) ? number : 0;
}

int store_name(environment *variable, const char **name, struct arena *arena, struct error *err)
{
	struct stored all;
	uint64_t number = number_of(*name);

	if (!number)
		return 0;
	int failed = store_list(variable, &all, err);
	if (!failed && number > all.count) {
		failed = error_set(err, FAIL_INPUT,
		                   "no recording %s (%s has %zu; see rolldbg list). For a file of "
		                   "that name write ./%s",
		                   *name, buf_cstr(&all.directory), all.count, *name);
	}
	if (!failed) {
		struct buf path = BUF(BUF_MAX_SMALL);

		stored_path(&all, number - 1, &path);
		*name = buf_keep(&path, arena).p;
	}
	stored_release(&all);
	return failed;
}

int store_name_operands(environment *variable, int argc, char **argv, struct arena *arena,
                        struct error *err)
{
	for (int i = 0; i < argc; i++) {
		const char *name = argv[i];

		if (store_name(variable, &name, arena, err))
			return -1;
		if (name != argv[i]) { /* argv gets a copy that may be modified */
			argv[i] = arena_new(arena, strlen(name) + 1);
			memcpy(argv[i], name, strlen(name) + 1);
		}
	}
	return 0;
}

/* ---- a truncated last line ---- */

int torn_warn(void *ctx, const struct line *l, const struct reader_note *note, struct error *err)
{
	atomic_bool *torn = ctx;

	if (torn)
		atomic_store(torn, true);
	log_warn("%s:%llu: the last line is truncated and was skipped", note->file,
	         (unsigned long long)note->line);
	return 0;
}
