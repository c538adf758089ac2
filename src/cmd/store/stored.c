/* The recordings of the state directory: see stored.h. */
#include "cmd/store/stored.h"

#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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
	struct buf path = BUF(BUF_MAX_SMALL);
	struct stat st;

	buf_printf(&path, "%s/%s", folder, name);
	bool file = stat(buf_cstr(&path), &st) != 0 || S_ISREG(st.st_mode);
	buf_release(&path);
	return file;
}

int store_list(environment *variable, struct stored *out, struct error *err)
{
	struct dirent **entries = NULL;

	*out = (struct stored){.directory = BUF(BUF_MAX_SMALL)};
	if (store_directory(variable, &out->directory, err)) {
		return -1;
	}
	int count = scandir(buf_cstr(&out->directory), &entries, is_recording, newest_first);
	if (count < 0 && errno != ENOENT) {
		error_errno(err, "cannot read the directory %s", buf_cstr(&out->directory));
		return -1;
	}
	out->names = mem_array((size_t)(count > 0 ? count : 0) + 1, sizeof(*out->names));
	out->count = 0;
	for (int i = 0; i < count; i++) {
		if (is_file(buf_cstr(&out->directory), entries[i]->d_name)) {
			out->names[out->count++] = mem_text(str_from(entries[i]->d_name));
		}
		free(entries[i]);
	}
	free(entries);
	return 0;
}

void stored_release(struct stored *s)
{
	for (size_t i = 0; s->names && i < s->count; i++) {
		free(s->names[i]);
	}
	free(s->names);
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

	if (fd >= 0) {
		close(fd);
	}
	return locked;
}

/* The recording that an entry of the directory depends on: the target of a link, or NAME.jsonl of
   NAME.jsonl.masks; absent: none. */
static struct str needed_by(const char *directory, const char *entry, struct buf *scratch)
{
	const char *extension = strstr(entry, ".jsonl.");
	char target[4096];

	if (extension) {
		return (struct str){entry, (size_t)(extension - entry) + strlen(".jsonl")};
	}
	buf_clear(scratch);
	buf_printf(scratch, "%s/%s", directory, entry);
	ssize_t length = readlink(buf_cstr(scratch), target, sizeof(target) - 1);
	if (length < 0) {
		return STR_NONE;
	}
	target[length] = '\0';
	const char *last = strrchr(target, '/');
	buf_clear(scratch);
	buf_text(scratch, last ? last + 1 : target);
	return buf_view(scratch);
}

static void mark(const struct stored *s, struct str name, bool *needed)
{
	for (size_t i = 0; name.p && i < s->count; i++) {
		needed[i] = needed[i] || str_is(name, s->names[i]);
	}
}

int store_needed(const struct stored *s, bool *needed, struct error *err)
{
	struct buf scratch = BUF(BUF_MAX_SMALL), directory = BUF(BUF_MAX_SMALL);
	int failed = 0;

	buf_str(&directory, buf_view(&s->directory));
	DIR *entries = opendir(buf_cstr(&directory));
	if (!entries && errno != ENOENT) {
		failed = error_errno(err, "cannot read the directory %s", buf_cstr(&directory));
	}
	for (struct dirent *e; entries && (e = readdir(entries)) != NULL;) {
		mark(s, needed_by(buf_cstr(&directory), e->d_name, &scratch), needed);
	}
	if (entries) {
		closedir(entries);
	}
	for (size_t i = 0; i < s->count && !failed; i++) {
		buf_clear(&scratch);
		stored_path(s, i, &scratch);
		needed[i] = needed[i] || is_being_written(buf_cstr(&scratch));
	}
	buf_release(&scratch);
	buf_release(&directory);
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

	if (!number) {
		return 0;
	}
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
		*name = arena_str(arena, buf_view(&path)).p;
		buf_release(&path);
	}
	stored_release(&all);
	return failed;
}

int store_name_operands(environment *variable, int argc, char **argv, struct arena *arena,
                        struct error *err)
{
	for (int i = 0; i < argc; i++) {
		const char *name = argv[i];

		if (store_name(variable, &name, arena, err)) {
			return -1;
		}
		if (name != argv[i]) { /* argv gets a copy that may be modified */
			argv[i] = arena_new(arena, strlen(name) + 1);
			memcpy(argv[i], name, strlen(name) + 1);
		}
	}
	return 0;
}
