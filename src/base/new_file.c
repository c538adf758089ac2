/* Writing whole files: see new_file.h. A file has a temporary name while it is written. */
#include "base/new_file.h"

#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define START_MAX 160 /* bytes of a file that tell its kind */

const struct file_kind file_kind_any = {"a file", NULL};

/* ---- temporary names, which a signal's handler reads ---- */

/* Whoever takes a name out owns it. More files than this at a time stay behind. */
static char *_Atomic unpublished[16];

static void list_partial(struct new_file *f)
{
	for (size_t i = 0; i < ARRAY_LEN(unpublished) && !f->listed; i++) {
		char *none = NULL;

		f->listed = atomic_compare_exchange_strong(&unpublished[i], &none, f->partial);
	}
}

static void drop_partial(struct new_file *f)
{
	bool owned = !f->listed;

	for (size_t i = 0; i < ARRAY_LEN(unpublished) && !owned; i++) {
		char *name = f->partial;

		owned = atomic_compare_exchange_strong(&unpublished[i], &name, NULL);
	}
	if (owned)
		free(f->partial);
	f->partial = NULL;
}

void new_files_remove(void)
{
	for (size_t i = 0; i < ARRAY_LEN(unpublished); i++) {
		char *name = atomic_exchange(&unpublished[i], NULL);

		if (name)
			unlink(name);
	}
}

static int cannot_write(const struct new_file *f, struct error *err)
{
	return strcmp(f->path, "-") == 0 ? error_errno(err, "cannot write to standard output")
	                                 : error_errno(err, "cannot write %s", f->path);
}

/* ---- what is there already ---- */

static bool begins_as(const struct file_kind *kind, struct str start)
{
	bool found = !start.n;

	for (size_t i = 0; !found && kind->begins[i]; i++)
		found = str_starts_nocase(start, str_from(kind->begins[i]));
	return found;
}

bool file_is_of_kind(const char *path, const struct file_kind *kind)
{
	char start[START_MAX];
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool is = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);

	if (is && kind->begins) {
		ssize_t n = read(fd, start, sizeof(start));

		is = n >= 0 && begins_as(kind, (struct str){start, (size_t)n});
	}
	if (fd >= 0)
		close(fd);
	return is;
}

/* Standard output or standard error; -1: another file. */
static int standard_fd(const char *path)
{
	bool output = strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;

	return output ? STDOUT_FILENO : strcmp(path, "/dev/stderr") == 0 ? STDERR_FILENO : -1;
}

/* A file that is not regular (a pipe, a terminal, /dev/null) cannot be replaced. */
static bool must_be_in_place(const char *path)
{
	struct stat st;

	return standard_fd(path) >= 0 ||
	       ((file_is_of_system(path) ? stat(path, &st) : lstat(path, &st)) == 0 &&
	        !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode));
}

/* FAIL_USAGE: what is there must not be replaced. */
static int check_target(const struct new_file *f, struct error *err)
{
	const char *path = f->path;
	const char *other = "name another file, or remove it";
	struct stat st;

	if (f->in_place || f->conf.replace || lstat(path, &st))
		return 0;
	if (S_ISLNK(st.st_mode)) {
		return error_set(err, FAIL_USAGE, "%s is a symbolic link: %s", path,
		                 f->conf.kind ? other : "use \1force\2 to replace it");
	}
	if (!f->conf.kind)
		return error_set(err, FAIL_USAGE, "%s exists; use \1force\2 to overwrite it", path);
	return !S_ISREG(st.st_mode) || !f->conf.kind->begins || file_is_of_kind(path, f->conf.kind)
	               ? 0
	               : error_set(err, FAIL_USAGE, "%s exists and is not %s: %s", path,
	                           f->conf.kind->name, other);
}

/* ---- opening ---- */

static int open_in_place(const char *path)
{
	int standard = standard_fd(path);

	return standard >= 0 ? dup(standard)
	                     : open(path, O_WRONLY | O_CLOEXEC |
	                                          (file_is_of_system(path) ? 0 : O_NOFOLLOW));
}

/* A name that is not taken: another output of ours may have the same path, a killed process had our id. */
static int open_temporary(struct new_file *f)
{
	AUTO_BUF name = BUF(BUF_MAX_SMALL);
	int fd = -1;

	for (int n = 0; fd < 0; n++) {
		buf_clear(&name);
		buf_printf(&name, n ? "%s.%ld-%d.partial" : "%s.%ld.partial", f->path,
		           (long)getpid(), n);
		fd = open(buf_cstr(&name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	f->partial = mem_text(buf_view(&name));
	list_partial(f);
	return fd;
}

int new_file_open(struct new_file *f, const struct new_file_conf *conf, struct error *err)
{
	struct stat st;

	*f = (struct new_file){.conf = *conf, .path = mem_text(str_from(conf->path)), .fd = -1};
	f->conf.path = f->path;
	if (lstat(f->path, &st) == 0 && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return cannot_write(f, err);
	}
	f->in_place = must_be_in_place(f->path);
	if (check_target(f, err))
		return -1;
	f->fd = f->in_place ? open_in_place(f->path) : open_temporary(f);
	f->open = f->fd >= 0;
	return f->open ? 0 : cannot_write(f, err);
}

void new_file_write(struct new_file *f, struct str text)
{
	size_t done;

	if (f->failed.kind == FAIL_NONE && fd_write(f->fd, text, &done))
		cannot_write(f, &f->failed);
}

/* ---- publishing ---- */

int new_file_publish(struct new_file *f, struct error *err)
{
	/* closing may report that the text was not written */
	if (f->open && close(f->fd) && errno != EINTR && f->failed.kind == FAIL_NONE)
		cannot_write(f, &f->failed);
	f->open = false;
	/* rename() replaces a symbolic link itself */
	if (f->failed.kind == FAIL_NONE && f->partial && !check_target(f, &f->failed)) {
		if (rename(f->partial, f->path))
			return cannot_write(f, err);
		drop_partial(f);
	}
	if (f->failed.kind != FAIL_NONE) {
		*err = f->failed;
		return -1;
	}
	return 0;
}

void new_file_release(struct new_file *f)
{
	if (f->open)
		close(f->fd);
	if (f->partial)
		unlink(f->partial); /* does not exist if it could not be created */
	drop_partial(f);
	free(f->path);
	*f = (struct new_file){.fd = -1};
}

int new_file_put(const struct new_file_conf *conf, struct str text, struct error *err)
{
	struct new_file file;
	int failed = new_file_open(&file, conf, err);

	if (!failed) {
		new_file_write(&file, text);
		failed = new_file_publish(&file, err);
	}
	new_file_release(&file);
	return failed;
}
