/* Options about the logs of other programs: see import_options.h. */
#include "cmd/options/import_options.h"

#include "base/file.h"
#include "base/text.h"
#include "json/scan.h"
#include "recording/foreign.h"

#define ROWS import
#include "cmd/options/rows.h"
const struct option_group import_group = {import_opts, ARRAY_LEN(import_opts), NULL};

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
