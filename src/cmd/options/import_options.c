/* Options about the logs of other programs: see import_options.h. */
#include "cmd/options/import_options.h"

#include "base/file.h"
#include "base/text.h"
#include "json/scan.h"
#include "recording/foreign.h"

#define FIELD(f) offsetof(struct import_options, f)

static const struct opt rows[] = {
	OPT_STRING(0, "tools", OPT_HARMLESS, "FILE", FIELD(tools),
                   "the tools that were offered, for logs of other programs without them: a JSON "
                   "list, or an object whose member tools is one"),
	OPT_STRING(0, "reward", OPT_HARMLESS, "COLUMN", FIELD(reward),
                   "the column of TRL's logs that holds the reward, if there are several"),
};
const struct option_group import_group = {rows, ARRAY_LEN(rows), NULL};

int import_options_apply(const struct import_options *o, struct buf *tools, struct error *err)
{
	struct foreign_options all = {.reward = o->reward};
	struct json_fault fault;

	*tools = BUF(BUF_MAX_MESSAGE);
	if (o->tools) {
		if (file_read("tools", o->tools, tools, err))
			return -1;
		if (json_validate(buf_view(tools), &fault)) {
			return error_set(err, FAIL_INPUT, "\1tools\2 %s: not valid JSON: %s",
			                 o->tools, fault.why);
		}
		all.tools = text_trim(buf_view(tools));
		if (json_type(all.tools) == JSON_OBJECT)
			all.tools = JSON_GET(all.tools, "tools");
		if (json_type(all.tools) != JSON_ARRAY || !json_count(all.tools)) {
			return error_set(err, FAIL_INPUT, "\1tools\2 %s: not a list of tools",
			                 o->tools);
		}
	}
	foreign_set_options(&all);
	return 0;
}
