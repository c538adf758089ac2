/* Makes struct NAME_options of the table cmd/tables/NAME.def, where MEMBERS is NAME: a member of the right type for
   each option. Declares NAME_group, for a table of which other tables have a row: their structs embed this one.
   Included once for each table. */
#include "cmd/options/options.h"

#ifdef MEMBERS

#define OPTION(kind, letter, name, class, arg, member, ...) OPTION_TYPE_##kind member;
#define OPTION_IN(...)
#define GROUP(type, member, group) struct type member;
#define GROUP_IN(member, group)
#define MEMBER(type, member) type member;
struct OPTIONS_NAMED(MEMBERS, _options) {
#include OPTIONS_TABLE(MEMBERS)
};
#ifndef OPTIONS
extern const struct option_group OPTIONS_NAMED(MEMBERS, _group);
#endif
#undef OPTION
#undef OPTION_IN
#undef GROUP
#undef GROUP_IN
#undef MEMBER
#undef MEMBERS
#endif
