/* Zip archives: see archive.h. */
#include "convert/archive.h"

#include "base/mem.h"
#include "base/text.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK ((size_t)256 << 10)

struct archive_file {
	struct archive *archive;
	struct archive_entry *entry;
	struct buf name;
	locale_t
		utf8; /* the library spells names in the thread's locale; 0: there is none with UTF-8 */
};

/* What the library says has no place in it; ours names the entry. */
static const char *reason(const struct archive_file *a)
{
	const char *text = archive_error_string(a->archive);

	return text ? text : "damaged";
}

int archive_file_open(int fd, struct archive_file **out, struct error *err)
{
	struct archive_file *a = mem_new(sizeof(*a));

	*a = (struct archive_file){.archive = archive_read_new(),
	                           .name = BUF(BUF_MAX_SMALL),
	                           .utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0)};
	if (!a->archive || lseek(fd, 0, SEEK_SET) != 0 ||
	    archive_read_support_format_zip_seekable(a->archive) != ARCHIVE_OK ||
	    archive_read_open_fd(a->archive, fd, BLOCK) != ARCHIVE_OK) {
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
		archive_read_free(a->archive);
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
	int got = archive_read_next_header(a->archive, &a->entry);
	const char *name = got == ARCHIVE_OK || got == ARCHIVE_WARN
	                           ? archive_entry_pathname_utf8(a->entry)
	                           : NULL;

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
	/* a warning is about a name that is no text */
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
	if (archive_entry_is_encrypted(a->entry)) {
		failed = bad_entry(a, "is encrypted", err);
	}
	while (!failed && n > 0) {
		n = archive_read_data(a->archive, block, BLOCK);
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
