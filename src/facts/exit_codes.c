/* Counts exit codes: see exit_codes.h. */
#include "facts/exit_codes.h"

#include "json/scan.h"

void exit_codes_add(struct exit_codes *e, struct str reply)
{
	static const struct str keys[] = {STR_INIT("exit_code"), STR_INIT("exitCode"),
	                                  STR_INIT("return_code"), STR_INIT("returncode")};
	struct str values[ARRAY_LEN(keys)] = {0};
	int64_t code = 0;

	json_pick(reply, keys, ARRAY_LEN(keys), values);
	for (size_t i = 0; i < ARRAY_LEN(keys) && code == 0; i++) {
		json_i64(values[i], &code);
	}
	e->replies++;
	e->failed += code != 0;
	e->not_run += code == 126 || code == 127;
}

bool exit_codes_all_failed(const struct exit_codes *e)
{
	return e->replies >= EXIT_CODES_MIN && e->failed == e->replies;
}

bool exit_codes_none_ran(const struct exit_codes *e)
{
	return e->replies >= EXIT_CODES_MIN && e->not_run == e->replies;
}
