/* Zip archives: see archive.h. libarchive is loaded when an archive is opened, because few users
   have one and it brings libxml2 and ICU. The ELF note below declares it to packagers. */
#include "convert/archive.h"

#include "base/mem.h"
#include "base/text.h"

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK ((size_t)256 << 10)

struct archive_library {
	void *handle;
	__typeof__(archive_read_new) *read_new;
	__typeof__(archive_read_support_format_zip_seekable) *support_zip;
	__typeof__(archive_read_open_fd) *open_fd;
	__typeof__(archive_read_next_header) *next_header;
	__typeof__(archive_read_data) *read_data;
	__typeof__(archive_read_free) *read_free;
	__typeof__(archive_error_string) *error_string;
	__typeof__(archive_entry_pathname_utf8) *entry_name;
	__typeof__(archive_entry_is_encrypted) *is_encrypted;
};

/* Metadata in the format of https://systemd.io/ELF_DLOPEN_METADATA/ */
#define SONAME "libarchive.so.13"
#define NOTE_JSON                                                                                  \
	"[{\"feature\":\"zip\",\"description\":\"Reading zip archives\","                          \
	"\"priority\":\"suggested\",\"soname\":[\"" SONAME "\"]}]"

static const struct {
	uint32_t owner_bytes, text_bytes, type;
	char owner[4];
	char text[sizeof(NOTE_JSON)];
} note __attribute__((used, section(".note.dlopen"), aligned(4))) = {
	4, sizeof(NOTE_JSON), 0x407c0c0a, "FDO", NOTE_JSON,
};

#define FUNCTION(member, name) {offsetof(struct archive_library, member), name}
static const struct {
	size_t member;
	const char *name;
} functions[] = {
	FUNCTION(read_new, "archive_read_new"),
	FUNCTION(support_zip, "archive_read_support_format_zip_seekable"),
	FUNCTION(open_fd, "archive_read_open_fd"),
	FUNCTION(next_header, "archive_read_next_header"),
	FUNCTION(read_data, "archive_read_data"),
	FUNCTION(read_free, "archive_read_free"),
	FUNCTION(error_string, "archive_error_string"),
	FUNCTION(entry_name, "archive_entry_pathname_utf8"),
	FUNCTION(is_encrypted, "archive_entry_is_encrypted"),
};

struct archive_file {
	struct archive_library library;
	struct archive *archive;
	struct archive_entry *entry;
	struct buf name;
	/* names are converted to the thread's locale; 0: no UTF-8 locale available */
	locale_t utf8;
};

/* libarchive's reason, which does not name the entry; callers add the name. */
static const char *reason(const struct archive_file *a)
{
	const char *text = a->library.error_string(a->archive);

	return text ? text : "damaged";
}

static int load(struct archive_library *l, struct error *err)
{
	/* RTLD_NOW would take a tenth longer, as it binds what the library never calls. */
	l->handle = dlopen(SONAME, RTLD_LAZY | RTLD_LOCAL);
	bool loaded = l->handle != NULL;

	for (size_t i = 0; i < ARRAY_LEN(functions) && loaded; i++) {
		void *function = dlsym(l->handle, functions[i].name);

		loaded = function != NULL;
		memcpy((char *)l + functions[i].member, &function, sizeof(function));
	}
	return loaded ? 0
	              : error_set(err, FAIL_SYSTEM, SONAME " is needed to read zip archives: %s",
	                          dlerror());
}

int archive_file_open(int fd, struct archive_file **out, struct error *err)
{
	struct archive_file *a = mem_new(sizeof(*a));
	const struct archive_library *l = &a->library;

	a->name = BUF(BUF_MAX_SMALL);
	if (load(&a->library, err)) {
		archive_file_close(a);
		return -1;
	}
	a->archive = l->read_new();
	a->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!a->archive || lseek(fd, 0, SEEK_SET) != 0 ||
	    l->support_zip(a->archive) != ARCHIVE_OK ||
	    l->open_fd(a->archive, fd, BLOCK) != ARCHIVE_OK) {
		archive_file_close(a);
		return error_set(err, FAIL_INPUT,
		                 "the zip archive is truncated or damaged: the list of entries at "
		                 "its end is missing");
	}
	*out = a;
	return 0;
}

void archive_file_close(struct archive_file *a)
{
	if (a) {
		if (a->archive) {
			a->library.read_free(a->archive);
		}
		if (a->library.handle) {
			dlclose(a->library.handle);
		}
		if (a->utf8) {
			freelocale(a->utf8);
		}
		buf_release(&a->name);
		free(a);
	}
}

static int next_entry(struct archive_file *a)
{
	locale_t before = a->utf8 ? uselocale(a->utf8) : (locale_t)0;
	int got = a->library.next_header(a->archive, &a->entry);
	const char *name =
		got == ARCHIVE_OK || got == ARCHIVE_WARN ? a->library.entry_name(a->entry) : NULL;

	buf_clear(&a->name);
	buf_text(&a->name, name ? name : "");
	if (a->utf8) {
		uselocale(before);
	}
	return got;
}

int archive_file_next(struct archive_file *a, struct str *name, struct error *err)
{
	int got = next_entry(a);

	if (got == ARCHIVE_EOF) {
		return 0;
	}
	/* a warning means that the name is not valid text */
	if (got != ARCHIVE_OK && got != ARCHIVE_WARN) {
		return error_set(err, FAIL_INPUT, "the zip archive is damaged: %s", reason(a));
	}
	*name = buf_view(&a->name);
	return 1;
}

static int bad_entry(const struct archive_file *a, const char *why, struct error *err)
{
	struct buf name = BUF(BUF_MAX_SMALL);

	text_escape(&name, buf_view(&a->name));
	error_set(err, FAIL_INPUT, "%s in the zip archive %s", buf_cstr(&name), why);
	buf_release(&name);
	return -1;
}

int archive_file_read(struct archive_file *a, struct buf *out, struct error *err)
{
	char *block = mem_array(BLOCK, 1);
	la_ssize_t n = 1;
	int failed = 0;

	buf_clear(out);
	if (a->library.is_encrypted(a->entry)) {
		failed = bad_entry(a, "is encrypted", err);
	}
	while (!failed && n > 0) {
		n = a->library.read_data(a->archive, block, BLOCK);
		if (n < 0) {
			struct buf why = BUF(BUF_MAX_SMALL);

			buf_printf(&why, "cannot be read: %s", reason(a));
			failed = bad_entry(a, buf_cstr(&why), err);
			buf_release(&why);
		} else {
			buf_add(out, block, (size_t)n);
		}
		if (out->full) {
			char why[64];

			snprintf(why, sizeof(why), "is longer than %zu MiB", out->max >> 20);
			failed = bad_entry(a, why, err);
		}
	}
	free(block);
	return failed;
}
