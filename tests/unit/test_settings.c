/* Settings in messages: as options, as keys of a file, and in a recording. */
#include "base/settings.h"
#include "cmd/options/setting_options.h"
#include "tap.h"

static const struct {
	const char *text, *option, *key, *plain;
} rows[] = {
	{"", "", "", ""},
	{"no setting: a_b", "no setting: a_b", "no setting: a_b", "no setting: a_b"},
	{"\1seed\2", "--seed", "\"seed\"", "seed"},
	{"\1max_turns\2: a_b", "--max-turns: a_b", "\"max_turns\": a_b", "max_turns: a_b"},
	{"give \1key_env\2 or \1state\2 x", "give --key-env or --state x",
         "give \"key_env\" or \"state\" x", "give key_env or state x"},
	{"cut \1max_tu", "cut --max-t", "cut \"max_tu", "cut max_tu"},
	{"\1\2", "--", "\"\"", ""},
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf put = BUF(BUF_MAX_SMALL);
		char text[64];

		snprintf(text, sizeof(text), "%s", rows[i].text);
		settings_as_keys(text);
		is_str(text, rows[i].key, "as a key");
		snprintf(text, sizeof(text), "%s", rows[i].text);
		settings_unmark(text);
		is_str(text, rows[i].plain, "without marks");
		buf_text(&put, "> ");
		settings_put(&put, rows[i].text);
		is_str(buf_cstr(&put) + 2, rows[i].option, "as an option");
		buf_release(&put);
	}
	return done();
}
