/* results.def as arrays. */
#include "report/results.h"

static const char status_list[] =
#define STATUS_WORD(id, word) word ","
#include "recording/keys.def"
	"incomplete";
static const char failure_list[] =
#define FAILURE_CAUSE(id, word, whose, meaning) "," word
#include "evidence/attribution.def"
	;
#define FAILURES   (failure_list + 1)
#define STATUSES   status_list
#define SEVERITIES "error,warning,info"

const struct result_line result_lines[RESULTS] = {
#define RESULT(id, commands, type, metrics, meaning) {(commands), (type), (meaning), metrics},
#include "report/results.def"
};

const struct result_member result_members[] = {
#define MEMBER(result, name, types, words, inner, meaning)                                         \
	{RESULT_##result, (name), (types), (words), RESULT_##inner, (meaning)},
#include "report/results.def"
};
const size_t result_members_count = ARRAY_LEN(result_members);

bool result_is_of(const struct result_line *r, const char *command)
{
	for (struct str rest = str_from(r->commands); rest.n;)
		if (str_is(str_cut(&rest, ','), command))
			return true;
	return false;
}
