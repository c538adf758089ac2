/* The default place for recordings: see store.h. */
#include "cmd/store/store.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The XDG Base Directory Specification requires 0700. */
int store_make_directories(struct buf *path, const char *cure, struct error *err)
{
	for (size_t i = 1; i <= path->n; i++) {
		char kept = path->p[i];

		if (kept != '/' && kept != '\0') {
			continue;
		}
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
	if (rng_unique_hex(unique, 8)) {
		return error_errno(err, "cannot get random bytes for a file name");
	}
	clock_format(c->clock.unix_ms(c->clock.ctx), stamp);
	for (char *p = stamp; *p; p++) {
		if (*p == ':' || *p == '.') {
			*p = '-';
		}
	}
	/* with milliseconds: the order of the names is that of the runs */
	buf_printf(path, "/%.23s-%s.jsonl", stamp, unique);
	return 0;
}

int store_set_latest(const struct context *c, const char *path, struct error *err)
{
	struct buf link = BUF(BUF_MAX_SMALL), fresh = BUF(BUF_MAX_SMALL);
	const char *name = strrchr(path, '/');
	int failed = store_directory(c->variable, &link, err);

	if (!failed) {
		buf_printf(&fresh, "%s/latest-%ld", buf_cstr(&link), (long)getpid());
		buf_text(&link, "/latest");
		if (symlink(name ? name + 1 : path, buf_cstr(&fresh)) ||
		    rename(buf_cstr(&fresh), buf_cstr(&link))) {
			failed = error_errno(err, "cannot move the link %s", buf_cstr(&link));
			unlink(buf_cstr(&fresh));
		}
	}
	buf_release(&link);
	buf_release(&fresh);
	return failed;
}

int store_latest(const struct context *c, struct buf *path, struct error *err)
{
	if (store_directory(c->variable, path, err)) {
		return -1;
	}
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
	struct buf latest = BUF(BUF_MAX_SMALL);
	int failed;

	if (argc) {
		return file_list_new(argv, (size_t)argc, files, err);
	}
	failed = store_latest(c, &latest, err);
	if (!failed) {
		failed = file_list_new(&latest.p, 1, files, err);
	}
	buf_release(&latest);
	return failed;
}

bool store_pass_over(const struct file_list *files, const struct error *err, size_t *unusable)
{
	if (!files->many || err->kind != FAIL_INPUT) {
		return false;
	}
	log_error("%s", err->text);
	(*unusable)++;
	return true;
}
