/* Files of settings: see config_file.h. */
#include "cmd/options/config_file.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/options/credentials.h"

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

	if (!getcwd(path, PATH_BYTES))
		return NULL;
	for (size_t n = strlen(path);; n = (size_t)(strrchr(path, '/') - path)) {
		path[n] = '\0';
		n -= n == 1; /* root directory: CONFIG_NAME begins with the slash */
		memcpy(path + n, CONFIG_NAME, sizeof(CONFIG_NAME));
		if (lstat(path, &st) == 0) /* a link to nothing as well: it is judged later */
			return arena_str(arena, str_from(path)).p;
		path[n] = '\0';
		if (n == 0)
			return NULL;
	}
}

static const char *flaw_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return "is no regular file";
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return "belongs to another user";
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
	if (flaw)
		close(*fd);
	return flaw;
}

/* fd: of a file that was found. */
static int read_text(const char *path, int fd, struct arena *arena, struct config_file *f,
                     struct error *err)
{
	AUTO_BUF content = BUF(CONFIG_MAX);
	const char *slash = strrchr(path, '/');

	if (f->named ? file_read("configuration", path, &content, err)
	             : file_read_fd("configuration", path, fd, &content, err))
		return -1;
	f->path = path;
	f->text = text_trim(arena_str(arena, buf_view(&content)));
	f->directory = slash ? arena_str(arena, (struct str){path, (size_t)(slash - path)}).p : ".";
	return 0;
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
	if (fd >= 0)
		close(fd);
	return failed;
}

/* Other settings than the user's are none: the command stops, and says what to do. */
static int refuse_found(const char *path, const char *flaw, struct error *err)
{
	AUTO_BUF cure = BUF(BUF_MAX_SMALL), word = BUF(BUF_MAX_SMALL);

	config_shell_word(&word, path);
	if (!strcmp(flaw, WRITABLE))
		buf_printf(&cure, "chmod go-w %s, ", buf_cstr(&word));
	return error_set(err, FAIL_USAGE,
	                 "%s may not be used: it %s: %sname it with --config %s, or use none with "
	                 "ROLLDBG_CONFIG=",
	                 path, flaw, buf_cstr(&cure), buf_cstr(&word));
}

int config_file_find(const struct context *c, struct arena *arena, struct config_file *f,
                     struct error *err)
{
	const char *path = c->config ? c->config : c->variable("ROLLDBG_CONFIG"), *flaw;
	int fd;

	f->named = path != NULL;
	if (f->named)
		return *path ? config_file_read(path, arena, f, err) : 0;
	path = config_file_upwards(arena);
	if (!path)
		return 0;
	flaw = open_found(path, &fd);
	if (flaw)
		return refuse_found(path, flaw, err);
	int failed = read_text(path, fd, arena, f, err);
	close(fd);
	return failed;
}

/* ---- values: variables, and quoting for a shell ---- */

static void note(struct config_variables *used, const char *name, size_t at)
{
	if (used && used->count < ARRAY_LEN(used->name)) {
		used->at[used->count] = at;
		used->name[used->count++] = name;
	}
}

/* Expands the text between ${ and }. *used: the variable, if its value was. */
static int put_variable(struct keyed *k, environment *variable, struct str inner, struct buf *out,
                        const char **used)
{
	struct str name = str_starts(inner, STR("env:")) ? str_skip(inner, 4) : inner;
	const char *fallback = NULL;

	for (size_t i = 0; i + 1 < name.n && !fallback; i++) {
		if (name.p[i] == ':' && name.p[i + 1] == '-') {
			fallback = name.p + i + 2;
			name.n = i;
		}
	}
	const char *value = variable(arena_str(k->arena, name).p);
	if (value && (*value || !fallback)) {
		buf_text(out, value);
		*used = arena_str(k->arena, name).p;
		return 0;
	}
	if (fallback) {
		buf_str(out, (struct str){fallback, (size_t)(inner.p + inner.n - fallback)});
		return 0;
	}
	if (memchr(name.p, ':', name.n)) {
		return keyed_fail(k, "\"%s\": '${%.*s}' does not name a variable", k->key,
		                  STR_ARG(text_utf8_cut(inner, 60)));
	}
	return keyed_fail(k, "\"%s\": the variable %.*s is not set", k->key,
	                  STR_ARG(text_utf8_cut(name, 60)));
}

int config_expand(struct keyed *k, const cJSON *string, environment *variable, const char **out,
                  struct config_variables *used)
{
	const char *text = string->valuestring, *begin = text, *open, *name;
	AUTO_BUF result = BUF(BUF_MAX_MESSAGE);

	tree_at(k, string);
	if (!cJSON_IsString(string) || !*text)
		return keyed_expected(k, text ? "a non-empty string" : "a string");

	while ((open = strstr(text, "${")) && strchr(open, '}')) {
		struct str inner = {open + 2, strcspn(open + 2, "}")};

		buf_str(&result, (struct str){text, (size_t)(open - text)});
		name = NULL;
		int failed = put_variable(k, variable, inner, &result, &name);
		if (name)
			note(used, name, (size_t)(inner.p - begin));
		if (failed)
			return failed;
		text = inner.p + inner.n + 1;
	}
	buf_text(&result, text);
	*out = arena_str(k->arena, (struct str){buf_cstr(&result), result.n}).p;
	return 0;
}

int config_expand_target(struct keyed *k, const cJSON *string, environment *variable,
                         const char **out, struct config_variables *secret)
{
	struct config_variables used = {.count = 0};
	const char *text = string->valuestring, *host;

	if (config_expand(k, string, variable, out, &used))
		return -1;
	host = target_command(text) ? NULL : strstr(text, "://");
	for (size_t i = 0; i < used.count; i++) {
		bool behind = host && text + used.at[i] > host + 3 + strcspn(host + 3, "/?#");

		if (behind || credentials_named(str_from(used.name[i])))
			note(secret, used.name[i], used.at[i]);
	}
	return 0;
}

void config_shell_word(struct buf *out, const char *word)
{
	static const char safe[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=,./:@%";

	if (*word && strspn(word, safe) == strlen(word)) {
		buf_text(out, word);
		return;
	}
	buf_char(out, '\'');
	for (; *word; word++) {
		buf_text(out, *word == '\'' ? "'\\''" : "");
		if (*word != '\'')
			buf_char(out, *word);
	}
	buf_char(out, '\'');
}
