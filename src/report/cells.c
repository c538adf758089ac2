/* Cells of a table line: see cells.h. */
#include "report/cells.h"

#include "base/text.h"

size_t cells_left(const struct cells *c)
{
	return c->used < c->columns ? c->columns - c->used : 0;
}

void cells_add(struct cells *c, struct str text, size_t width, const char *color)
{
	size_t left = cells_left(c);

	if (c->color && color)
		buf_printf(c->out, "\x1b[%sm", color);
	c->used += text_escape_cut(c->out, text, at_most(width, left));
	if (c->color && color)
		buf_text(c->out, "\x1b[0m");
}

void cells_pad(struct cells *c, size_t column)
{
	column = at_most(column, c->columns);
	if (column > c->used) {
		buf_printf(c->out, "%*s", (int)(column - c->used), "");
		c->used = column;
	}
}

void cells_right(struct cells *c, struct str text, size_t column)
{
	size_t width = text_cells(text);

	if (column > c->used + width)
		cells_pad(c, column - width);
	cells_add(c, text, column > c->used ? column - c->used : 0, NULL);
}

void cells_end(struct cells *c)
{
	while (c->out->n && c->out->p[c->out->n - 1] == ' ')
		buf_cut(c->out, c->out->n - 1);
	buf_char(c->out, '\n');
	c->used = 0;
}
