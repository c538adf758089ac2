/* Expands operands to files: a directory is replaced by the recordings in it. */
#include "recording/reader.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static void add(struct file_list *l, char *path)
{
	l->paths = mem_resize(l->paths, l->count + 1, sizeof(*l->paths));
	l->paths[l->count++] = path;
}

static int is_recording(const struct dirent *e)
{
	static const struct str ends[] = {STR_INIT(".jsonl"), STR_INIT(".traj"),
	                                  STR_INIT(".traj.json"), STR_INIT(".eval"),
	                                  STR_INIT(".parquet")};
	struct str name = str_from(e->d_name);

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (e->d_name[0] != '.' && str_ends(name, ends[i]))
			return 1;
	return 0;
}

/* By bytes: the order must not depend on the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void put_path(struct buf *out, const char *directory, const char *name)
{
	bool slash = str_ends(str_from(directory), STR("/"));

	buf_printf(out, "%s%s%s", directory, slash ? "" : "/", name);
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Adds the recordings directly in a directory. */
static int add_files(struct file_list *l, const char *path, struct error *err)
{
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, is_recording, by_name);

	if (n < 0)
		return error_set(err, FAIL_INPUT, "cannot read %s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		AUTO_BUF name = BUF(BUF_MAX_SMALL);

		put_path(&name, path, entries[i]->d_name);
		if (file_may_block(buf_cstr(&name)))
			log_warn("%s is not a regular file and was skipped", buf_cstr(&name));
		else
			add(l, mem_text(buf_view(&name)));
		free(entries[i]);
	}
	free(entries);
	return 0;
}

/* Adds what Harbor leaves of a trial: its trajectory, or else its result. */
static void add_trial(struct file_list *l, const char *path)
{
	static const char *const places[] = {"agent/trajectory.json", "result.json"};
	AUTO_BUF trial = BUF(BUF_MAX_SMALL), file = BUF(BUF_MAX_SMALL);
	struct stat st;

	put_path(&trial, path, "agent");
	for (size_t i = 0; i < ARRAY_LEN(places) && stat(buf_cstr(&trial), &st) == 0; i++) {
		buf_clear(&file);
		put_path(&file, path, places[i]);
		if (is_file(buf_cstr(&file))) {
			add(l, mem_text(buf_view(&file)));
			break;
		}
	}
}

/* A directory of recordings, a trainer's output with completions/, a job of Harbor or one of its
   trials. */
static int add_directory(struct file_list *l, const char *path, struct error *err)
{
	struct dirent **entries = NULL;
	size_t before = l->count;
	AUTO_BUF inner = BUF(BUF_MAX_SMALL);
	struct stat st;
	int failed = add_files(l, path, err);

	put_path(&inner, path, "completions");
	if (!failed && stat(buf_cstr(&inner), &st) == 0 && S_ISDIR(st.st_mode))
		failed = add_files(l, buf_cstr(&inner), err);
	int n = failed ? 0 : scandir(path, &entries, is_visible, by_name);
	if (!failed)
		add_trial(l, path);
	for (int i = 0; i < n; i++) {
		buf_clear(&inner);
		put_path(&inner, path, entries[i]->d_name);
		add_trial(l, buf_cstr(&inner));
		free(entries[i]);
	}
	free(entries);
	if (failed || l->count > before || l->may_be_empty)
		return failed;
	return error_set(
		err, FAIL_INPUT,
		"no recording (*.jsonl, *.traj, *.eval, *.parquet) in directory %s; files with "
		"other names, and directories in it, are only read if named",
		path);
}

static int add_operand(struct file_list *l, const char *operand, struct error *err)
{
	struct stat st;

	if (strcmp(operand, "-") != 0) {
		if (stat(operand, &st) != 0) {
			return error_set(err, FAIL_INPUT, "cannot read %s: %s", operand,
			                 strerror(errno));
		}
		if (S_ISDIR(st.st_mode)) {
			l->many = true;
			return add_directory(l, operand, err);
		}
	}
	add(l, mem_text(str_from(operand)));
	return 0;
}

int file_list_new(char *const *operands, size_t count, struct file_list *out, struct error *err)
{
	*out = (struct file_list){0};
	return file_list_add(operands, count, out, err);
}

int file_list_add(char *const *operands, size_t count, struct file_list *out, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		if (add_operand(out, operands[i], err) != 0) {
			file_list_free(out);
			return -1;
		}
	}
	out->many = out->many || out->count > 1;
	return 0;
}

void file_list_free(struct file_list *l)
{
	mem_free_all(l->paths, l->count);
	*l = (struct file_list){0};
}
