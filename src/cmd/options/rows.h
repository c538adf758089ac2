/* Makes NAME_opts of the table cmd/tables/NAME.def, where ROWS is NAME. Their values are in struct NAME_options, or in
   struct ROWS_IN_options if ROWS_IN is defined. Included once for each table. */
#include "cmd/options/options.h"

#ifdef ROWS
#ifndef ROWS_IN
#define ROWS_IN ROWS
#endif
#define OFFSET(member) offsetof(struct OPTIONS_NAMED(ROWS_IN, _options), member)
#define OPTION(kind, l, n, k, a, member, ...)                                                      \
	{.type = OPTION_##kind,                                                                    \
	 .letter = (l),                                                                            \
	 .name = (n),                                                                              \
	 .class = (k) % OPT_COMMON,                                                                \
	 .common = (k) >= OPT_COMMON,                                                              \
	 .arg = (a),                                                                               \
	 .offset = OFFSET(member),                                                                 \
	 .help = __VA_ARGS__},
#define OPTION_IN(...)          OPTION(__VA_ARGS__)
#define GROUP_IN(member, of)    {.type = OPTION_GROUP, .offset = OFFSET(member), .group = &(of)},
#define GROUP(type, member, of) GROUP_IN(member, of)
#define MEMBER(type, member)
static const struct opt OPTIONS_NAMED(ROWS, _opts)[] = {
#include OPTIONS_TABLE(ROWS)
};
#undef OFFSET
#undef OPTION
#undef OPTION_IN
#undef GROUP
#undef GROUP_IN
#undef MEMBER
#undef ROWS
#undef ROWS_IN
#endif
