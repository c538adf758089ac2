/* Masks from options and files: see masks.h. */
#include "cmd/options/masks.h"

#include "base/file.h"
#include "base/text.h"
#include "json/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MASK_FILE_MAX ((size_t)1 << 20)

static int new_strip(const char *const *masks, size_t count, struct strip **out, struct error *err)
{
	struct str *pointers = mem_array(count + 1, sizeof(*pointers));

	for (size_t i = 0; i < count; i++) {
		pointers[i] = str_from(masks[i]);
	}
	int failed = strip_new(pointers, count, out, err);
	free(pointers);
	return failed ? error_wrap(err, "--mask") : 0;
}

int masks_strip(const struct opt_list *masks, struct strip **out, struct error *err)
{
	return new_strip(masks->item, masks->count, out, err);
}

static void add(struct mask_list *l, const char *mask)
{
	if (l->count == l->room) {
		l->room = l->room ? 2 * l->room : 16;
		l->items = mem_resize(l->items, l->room, sizeof(*l->items));
	}
	l->items[l->count++] = mask;
}

void mask_list_options(struct mask_list *l, const struct opt_list *masks)
{
	for (size_t i = 0; i < masks->count; i++) {
		add(l, masks->item[i]);
	}
}

static const char *origin_of(struct mask_list *l, const char *path, size_t number)
{
	struct buf origin = BUF(BUF_MAX_SMALL);

	buf_printf(&origin, "%s:%zu", path, number);
	const char *copy = arena_str(&l->arena, buf_view(&origin)).p;
	buf_release(&origin);
	return copy;
}

static int add_line(struct mask_list *l, struct str line, const char *origin, struct patterns *uses,
                    struct error *err)
{
	struct json_paths *checked = json_paths_new(true);
	const char *mask = arena_str(&l->arena, line).p;
	int failed = json_paths_add(checked, line, err);

	json_paths_free(checked);
	if (failed) {
		return error_wrap(err, "%s", origin);
	}
	add(l, mask);
	if (uses) {
		patterns_add(uses, origin, mask);
	}
	return 0;
}

static int add_lines(struct mask_list *l, struct str text, const char *path, struct patterns *uses,
                     struct error *err)
{
	size_t number = 0;
	int failed = 0;

	while (text.n && !failed) {
		const char *feed = memchr(text.p, '\n', text.n);
		size_t n = feed ? (size_t)(feed - text.p) : text.n;
		struct str line = text_trim((struct str){text.p, n});

		number++;
		if (line.n && line.p[0] != '#') {
			failed = add_line(l, line, origin_of(l, path, number), uses, err);
		}
		text = str_skip(text, n + 1);
	}
	return failed;
}

int mask_list_file(struct mask_list *l, const char *golden, struct patterns *uses,
                   struct error *err)
{
	struct buf path = BUF(BUF_MAX_SMALL), text = BUF(MASK_FILE_MAX);
	int failed = 0;

	buf_printf(&path, "%s.masks", golden);
	if (strcmp(golden, "-") != 0 && (access(buf_cstr(&path), F_OK) == 0 || errno != ENOENT)) {
		failed = file_read_regular("mask file", buf_cstr(&path), &text, err) ||
		         add_lines(l, buf_view(&text), buf_cstr(&path), uses, err);
	}
	buf_release(&path);
	buf_release(&text);
	return failed ? -1 : 0;
}

int mask_list_strip(const struct mask_list *l, struct strip **out, struct error *err)
{
	return new_strip(l->items, l->count, out, err);
}

void mask_list_release(struct mask_list *l)
{
	free(l->items);
	arena_release(&l->arena);
	*l = (struct mask_list){.count = 0};
}
