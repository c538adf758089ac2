/* The files that the user trusts: see trusted.h. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "cmd/options/trusted.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/new_file.h"
#include "base/text.h"
#include "cmd/store/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define FOLDER    "/trusted"
#define HEX       ((size_t)2 * HASH_SHA256_BYTES)
#define ENTRY_MAX ((size_t)64 << 10)

void trusted_path(const char *path, struct buf *out)
{
	char *real = realpath(path, NULL);

	buf_text(out, real ? real : path);
	free(real);
}

static void put_hash(struct str text, struct buf *out)
{
	unsigned char hash[HASH_SHA256_BYTES];

	hash_sha256(text, hash);
	for (size_t i = 0; i < sizeof(hash); i++) {
		buf_printf(out, "%02x", hash[i]);
	}
}

/* An entry is named by the hash of the path, and contains "HASH PATH\n" with that of the text. */
static int entry_of(environment *variable, const char *path, struct buf *entry, struct error *err)
{
	struct buf real = BUF(BUF_MAX_SMALL);
	int failed = store_directory(variable, entry, err);

	trusted_path(path, &real);
	buf_text(entry, FOLDER "/");
	put_hash(buf_view(&real), entry);
	buf_release(&real);
	return failed;
}

static void put_content(const char *path, struct str text, struct buf *out)
{
	put_hash(text, out);
	buf_char(out, ' ');
	trusted_path(path, out);
	buf_char(out, '\n');
}

enum trusted trusted_look(environment *variable, const char *path, struct str text)
{
	struct buf entry = BUF(BUF_MAX_SMALL), is = BUF(ENTRY_MAX), wanted = BUF(ENTRY_MAX);
	enum trusted trusted = TRUSTED_NOT;
	struct error unused;

	put_content(path, text, &wanted);
	if (!entry_of(variable, path, &entry, &unused) &&
	    !file_read("entry", buf_cstr(&entry), &is, &unused)) {
		trusted = str_eq(buf_view(&is), buf_view(&wanted)) ? TRUSTED_YES : TRUSTED_CHANGED;
	}
	buf_release(&entry);
	buf_release(&is);
	buf_release(&wanted);
	return trusted;
}

int trusted_add(environment *variable, const struct config_file *f, struct error *err)
{
	struct buf folder = BUF(BUF_MAX_SMALL), entry = BUF(BUF_MAX_SMALL), text = BUF(ENTRY_MAX);
	int failed = store_directory(variable, &folder, err);

	if (!failed) {
		buf_text(&folder, FOLDER);
		failed =
			store_make_directories(&folder, "set XDG_STATE_HOME to use another", err) ||
			entry_of(variable, f->path, &entry, err);
	}
	if (!failed) {
		put_content(f->path, f->text, &text);
		failed = new_file_put(
			&(struct new_file_conf){.path = buf_cstr(&entry), .replace = true},
			buf_view(&text), err);
	}
	buf_release(&folder);
	buf_release(&entry);
	buf_release(&text);
	return failed ? -1 : 0;
}

int trusted_remove(environment *variable, const char *path, struct error *err)
{
	struct buf entry = BUF(BUF_MAX_SMALL);
	int failed = entry_of(variable, path, &entry, err);

	if (!failed && unlink(buf_cstr(&entry))) {
		failed = errno == ENOENT ? error_set(err, FAIL_INPUT, "%s is not trusted", path)
		                         : error_errno(err, "cannot remove %s", buf_cstr(&entry));
	}
	buf_release(&entry);
	return failed;
}

/* "trusted  PATH", or why it is no longer. */
static void put_line(environment *variable, const char *entry, struct buf *out)
{
	struct buf content = BUF(ENTRY_MAX);
	struct arena arena = {.last = NULL};
	struct config_file f = {.named = false};
	struct error unused;

	if (!file_read("entry", entry, &content, &unused) && content.n > HEX + 2) {
		struct str path = {content.p + HEX + 1, content.n - HEX - 2};
		const char *name = arena_str(&arena, path).p;

		buf_text(out, config_file_read(name, &arena, &f, &unused)           ? "unusable"
		              : trusted_look(variable, name, f.text) == TRUSTED_YES ? "trusted "
		                                                                    : "changed ");
		buf_char(out, ' ');
		text_escape(out, path);
		buf_char(out, '\n');
	}
	arena_release(&arena);
	buf_release(&content);
}

int trusted_list(environment *variable, struct buf *out, struct error *err)
{
	struct buf path = BUF(BUF_MAX_SMALL);
	struct dirent **entries = NULL;
	int failed = store_directory(variable, &path, err);

	buf_text(&path, FOLDER);
	int count = failed ? 0 : scandir(buf_cstr(&path), &entries, NULL, alphasort);
	if (count < 0 && errno != ENOENT) {
		failed = error_errno(err, "cannot read the directory %s", buf_cstr(&path));
	}
	for (int i = 0; i < count; i++) {
		if (strlen(entries[i]->d_name) == HEX) {
			size_t folder = path.n;

			buf_printf(&path, "/%s", entries[i]->d_name);
			put_line(variable, buf_cstr(&path), out);
			buf_cut(&path, folder);
		}
		free(entries[i]);
	}
	free(entries);
	buf_release(&path);
	return failed;
}
