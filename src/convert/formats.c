/* The table of formats, and functions common to all: see convert.h. */
#include "convert/convert.h"

#define FORMAT(id) extern const struct format format_##id;
#include "convert/formats.def"
#undef FORMAT

const struct format *const formats[] = {
#define FORMAT(id) &format_##id,
#include "convert/formats.def"
#undef FORMAT
};
const size_t formats_count = ARRAY_LEN(formats);

const struct format *format_find(struct str name)
{
	for (size_t i = 0; i < formats_count; i++)
		if (str_is(name, formats[i]->name))
			return formats[i];
	return NULL;
}

void formats_list(struct buf *out, bool written)
{
	const char *comma = "";

	for (size_t i = 0; i < formats_count; i++) {
		if (!written || formats[i]->write) {
			buf_printf(out, "%s%s", comma, formats[i]->name);
			comma = ", ";
		}
	}
}
