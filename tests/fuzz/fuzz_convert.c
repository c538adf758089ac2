/* Any bytes as a file of another program, in each format: the importer's output consists of
   valid recording lines, and can be written in every format. The first byte selects the
   format. */
#include "convert/export.h"
#include "json/scan.h"
#include "recording/foreign.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Feeds the importer one value after the other; returns whether it accepted all of them. */
static bool import_all(const struct format *format, struct str text, struct buf *lines)
{
	struct foreign *f = foreign_formats.open(format, "input");
	struct json_fault fault;
	struct error err;
	bool good = true;
	size_t used;

	while (good && json_validate_first(text, &used, &fault) == 0) {
		struct str value = {text.p, used};

		while (value.n && strchr(" \t\r\n", value.p[0]))
			value = str_skip(value, 1);
		good = foreign_formats.take(f, value, lines, &err) == 0;
		text = str_skip(text, used);
	}
	good = good && foreign_formats.finish(f, lines, &err) == 0;
	foreign_formats.close(f);
	return good;
}

/* Keeps the lines of the first rollout. */
static void collect(struct export *x, struct str lines)
{
	struct buf scratch = BUF(1 << 20);
	struct error err;
	struct line l;
	size_t used;
	bool over = false;

	while (lines.n) {
		if (line_parse(lines, &scratch, &l, &used, &err) != 0 || l.type == LINE_UNKNOWN)
			abort(); /* the importer's lines are valid */
		if (!over && (!x->r.id.p || str_eq(x->r.id, l.rollout)) && export_add(x, &l, &err))
			abort();
		over = over || (l.type == LINE_END && x->r.id.p && str_eq(x->r.id, l.rollout));
		lines = str_skip(lines, used + 1);
	}
	buf_release(&scratch);
}

static void write_in(const struct format *format, struct str lines)
{
	struct export x = {.format = format};
	struct buf text = BUF(1 << 26);
	struct json_fault fault;
	struct error err;
	size_t used;

	collect(&x, lines);
	if (x.r.header.text.p && export_rollout(&x, &text, &err) == 0) {
		for (struct str rest = buf_view(&text); rest.n; rest = str_skip(rest, used + 1))
			if (json_validate_first(rest, &used, &fault) != 0)
				abort();
	}
	buf_release(&text);
	rollout_copy_release(&x.r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct buf lines = BUF(1 << 26);

	if (!size)
		return 0;
	const struct format *format = formats[data[0] % formats_count];
	if (import_all(format, str_skip(text, 1), &lines) && !lines.full) {
		for (size_t i = 0; i < formats_count; i++)
			if (formats[i]->writer)
				write_in(formats[i], buf_view(&lines));
	}
	buf_release(&lines);
	return 0;
}
