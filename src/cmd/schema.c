/* rolldbg schema: JSON Schemas of recordings and of the lines that --json prints. */
#include "base/names.h"
#include "cmd/cmd.h"
#include "cmd/options/output.h"
#include "json/tree.h"
#include "report/schemas.h"

#define RECORDING "recording"

/* Available: recording, and each command with JSON lines. */
static int unknown_name(const char *typed, struct error *err)
{
	const char *names[RESULTS + 1] = {RECORDING};
	size_t count = 1;

	for (size_t i = 0; i < commands_count && count < ARRAY_LEN(names); i++) {
		AUTO_BUF unused = BUF(SIZE_MAX / 2);

		if (schema_results(commands[i].name, &unused))
			names[count++] = commands[i].name;
	}
	error_set(err, FAIL_USAGE, "no schema for '%s'", typed);
	return names_suggest(err, str_from(typed), names, count);
}

static void put_indented(struct buf *out, const char *json)
{
	cJSON *tree = cJSON_Parse(json);
	char *text = cJSON_Print(tree);

	buf_printf(out, "%s\n", text ? text : json);
	cJSON_free(text);
	cJSON_Delete(tree);
}

static int schema_main(const struct context *c, const void *opts, int argc, char **argv,
                       struct error *err)
{
	const char *name = argc ? argv[0] : RECORDING;
	struct output out = output_to_stdout();
	AUTO_BUF schema = BUF(SIZE_MAX / 2);
	int failed = 0;

	if (!strcmp(name, RECORDING))
		schema_recording(&schema);
	else if (!schema_results(name, &schema))
		failed = unknown_name(name, err);
	if (!failed) {
		put_indented(&out.text, buf_cstr(&schema));
		failed = output_flush(&out, err);
	}
	output_release(&out);
	return failed;
}

CODE_ONLY(schema)
