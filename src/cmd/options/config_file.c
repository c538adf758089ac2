/* Files of settings: see config_file.h. */
#include "cmd/options/config_file.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/options/config_values.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_NAME "/.rolldbg.json"
#define CONFIG_MAX  ((size_t)4 << 20)
#define PATH_BYTES  4096
#define WRITABLE    "can be written by other users"

const char *config_file_upwards(struct arena *arena)
{
	char path[PATH_BYTES + sizeof(CONFIG_NAME)];
	struct stat st;

	if (!getcwd(path, PATH_BYTES)) {
		return NULL;
	}
	for (size_t n = strlen(path);; n = (size_t)(strrchr(path, '/') - path)) {
		path[n] = '\0';
		n -= n == 1; /* root directory: CONFIG_NAME begins with the slash */
		memcpy(path + n, CONFIG_NAME, sizeof(CONFIG_NAME));
		if (lstat(path, &st) == 0) { /* a link to nothing as well: it is judged later */
			return arena_str(arena, str_from(path)).p;
		}
		path[n] = '\0';
		if (n == 0) {
			return NULL;
		}
	}
}

static const char *flaw_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		return "is no regular file";
	}
	if (st.st_uid != geteuid() && st.st_uid != 0) {
		return "belongs to another user";
	}
	return st.st_mode & (S_IWGRP | S_IWOTH) ? WRITABLE : NULL;
}

/* Opens a file that was not named. Returns what is wrong with it, or NULL with its descriptor: a
   check of the path could be passed by another file than the one that is read. */
static const char *open_found(const char *path, int *fd)
{
	const char *flaw;

	/* not blocking: a pipe has no writer */
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (*fd < 0) {
		return errno == ELOOP    ? "is a symbolic link"
		       : errno == ENOENT ? "does not exist"
		                         : "cannot be opened";
	}
	flaw = flaw_of(*fd);
	if (flaw) {
		close(*fd);
	}
	return flaw;
}

/* fd: of a file that was found. */
static int read_text(const char *path, int fd, struct arena *arena, struct config_file *f,
                     struct error *err)
{
	struct buf content = BUF(CONFIG_MAX);
	const char *slash = strrchr(path, '/');
	int failed = f->named ? file_read("configuration", path, &content, err)
	                      : file_read_fd("configuration", path, fd, &content, err);

	if (!failed) {
		f->path = path;
		f->text = text_trim(arena_str(arena, buf_view(&content)));
		f->directory =
			slash ? arena_str(arena, (struct str){path, (size_t)(slash - path)}).p
			      : ".";
	}
	buf_release(&content);
	return failed;
}

int config_file_read(const char *path, struct arena *arena, struct config_file *f,
                     struct error *err)
{
	int fd = -1;
	const char *flaw = f->named ? NULL : open_found(path, &fd);

	if (flaw) {
		return error_set(err, FAIL_INPUT, "configuration %s %s%s", path, flaw,
		                 strcmp(flaw, WRITABLE) ? "" : " (chmod go-w)");
	}
	int failed = read_text(path, fd, arena, f, err);
	if (fd >= 0) {
		close(fd);
	}
	return failed;
}

/* Other settings than the user's are none: the command stops, and says what to do. */
static int refuse_found(const char *path, const char *flaw, struct error *err)
{
	struct buf cure = BUF(BUF_MAX_SMALL), word = BUF(BUF_MAX_SMALL);

	config_shell_word(&word, path);
	if (!strcmp(flaw, WRITABLE)) {
		buf_printf(&cure, "chmod go-w %s, ", buf_cstr(&word));
	}
	error_set(err, FAIL_USAGE,
	          "%s may not be used: it %s: %sname it with --config %s, or use none with "
	          "ROLLDBG_CONFIG=",
	          path, flaw, buf_cstr(&cure), buf_cstr(&word));
	buf_release(&word);
	buf_release(&cure);
	return -1;
}

int config_file_find(const struct context *c, struct arena *arena, struct config_file *f,
                     struct error *err)
{
	const char *path = c->config ? c->config : c->variable("ROLLDBG_CONFIG"), *flaw;
	int fd;

	f->named = path != NULL;
	if (f->named) {
		return *path ? config_file_read(path, arena, f, err) : 0;
	}
	path = config_file_upwards(arena);
	if (!path) {
		return 0;
	}
	flaw = open_found(path, &fd);
	if (flaw) {
		return refuse_found(path, flaw, err);
	}
	int failed = read_text(path, fd, arena, f, err);
	close(fd);
	return failed;
}
