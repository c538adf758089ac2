/* The file of --html: see html_file.h. */
#include "cmd/html_file.h"

#include "cmd/options/settings.h"

#define FLUSH_AT ((size_t)256 << 10)

/* As report/html/page.html begins. */
#define PAGE_BEGINS                                                                                \
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"                  \
	"<meta name=\"generator\" content=\"rolldbg\">"

static const struct file_kind page_kind = {"a page of rolldbg",
                                           (const char *const[]){PAGE_BEGINS, NULL}};

int html_file_open(struct html_file *h, const char *path, struct error *err)
{
	h->side = -1;
	h->text = BUF(SIZE_MAX / 2);
	h->conf.put_text = settings_put;
	if (new_file_open(&h->file, &(struct new_file_conf){path, .kind = &page_kind}, err))
		return -1;
	h->page = page_new(&h->conf, &h->text);
	return 0;
}

int html_file_check(const char *path, struct error *err)
{
	return path && strcmp(path, "-") == 0
	               ? error_set(err, FAIL_USAGE,
	                           "--html -: standard output is already used for the result; "
	                           "name a file")
	               : 0;
}

static void flush(struct html_file *h, size_t at)
{
	if (h->text.n >= at) {
		new_file_write(&h->file, buf_view(&h->text));
		buf_clear(&h->text);
	}
}

void html_file_line(struct html_file *h, const struct evidence_update *u)
{
	if (h->page) {
		page_line(h->page, u, &(struct page_source){h->recording, h->side}, &h->text);
		flush(h, FLUSH_AT);
	}
}

void html_file_verdict(struct html_file *h, const struct rollout_verdict *v)
{
	if (h->page) {
		page_verdict(h->page, v, &h->text);
		flush(h, FLUSH_AT);
	}
}

void html_file_note(struct html_file *h, const char *text)
{
	if (h->page)
		page_note(h->page, text, &h->text);
}

void html_file_results(struct html_file *h, struct str lines)
{
	if (h->page) {
		page_results(h->page, lines, &h->text);
		flush(h, FLUSH_AT);
	}
}

void html_file_summary(struct html_file *h, const struct judge *j, int64_t unfinished)
{
	if (h->page)
		page_summary(h->page, j, unfinished, &h->text);
}

int html_file_publish(struct html_file *h, struct error *err)
{
	page_end(h->page, &h->text);
	flush(h, 0);
	return new_file_publish(&h->file, STR(""), err);
}

void html_file_release(struct html_file *h)
{
	page_free(h->page);
	if (h->file.path)
		new_file_release(&h->file);
	buf_release(&h->text);
	h->page = NULL;
}
