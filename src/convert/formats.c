/* The table of formats, and functions common to all: see convert.h. */
#include "convert/convert.h"

#include "convert/dialog.h"
#include "convert/map.h"
#include "recording/foreign.h"

/* ---- the formats of maps.def ---- */

#define P(pointer) STR_INIT(pointer)
#define PATHS(...) {__VA_ARGS__}
#define MAP(id, called, about, holds, places, ...)                                                 \
	static const struct mapping map_##id = {.paths = places, .conditions = {__VA_ARGS__}};     \
	static bool is_##id(struct str value)                                                      \
	{                                                                                          \
		return map_is(&map_##id, value);                                                   \
	}                                                                                          \
	static const struct format format_##id = {.name = called,                                  \
	                                          .what = about,                                   \
	                                          .facts = holds,                                  \
	                                          .map = &map_##id,                                \
	                                          .is = is_##id,                                   \
	                                          .take = map_take,                                \
	                                          .take_list_end = map_list_end,                   \
	                                          .finish = dialogs_finish};
#include "convert/maps.def"
#undef MAP
#undef PATHS
#undef P

/* ---- all formats ---- */

#define FORMAT(id) extern const struct format format_##id;
#include "convert/formats.def"
#undef FORMAT

const struct format *const formats[] = {
#define MAP(id, ...) &format_##id,
#include "convert/maps.def"
#undef MAP
#define FORMAT(id) &format_##id,
#include "convert/formats.def"
#undef FORMAT
};
const size_t formats_count = ARRAY_LEN(formats);

const struct format *format_find(struct str name)
{
	for (size_t i = 0; i < formats_count; i++) {
		if (str_is(name, formats[i]->name)) {
			return formats[i];
		}
	}
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
