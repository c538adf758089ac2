/* The formats of maps.def. */
#include "convert/map.h"

#include "recording/foreign.h"

#define P(pointer) STR_INIT(pointer)
#define PATHS(...) {__VA_ARGS__}
#define MAP(id, called, about, holds, places, ...)                                                 \
	static const struct mapping map_##id = {.paths = places, .conditions = {__VA_ARGS__}};     \
	static bool is_##id(struct str value)                                                      \
	{                                                                                          \
		return map_is(&map_##id, value);                                                   \
	}                                                                                          \
	const struct format format_##id = {.name = called,                                         \
	                                   .what = about,                                          \
	                                   .facts = holds,                                         \
	                                   .map = &map_##id,                                       \
	                                   .is = is_##id,                                          \
	                                   .take = map_take,                                       \
	                                   .take_list_end = map_list_end,                          \
	                                   .finish = map_finish};
#include "convert/maps.def"
