/* Names of entries: see inspect_names.h. An ID may contain anything, slashes too. */
#include "convert/inspect_names.h"

#include "base/text.h"

static size_t before_digits(struct str name)
{
	size_t at = name.n;

	while (at > 0 && name.p[at - 1] >= '0' && name.p[at - 1] <= '9') {
		at--;
	}
	return at;
}

/* True for samples/ID_epoch_N. */
static bool is_sample(struct str name)
{
	size_t at = before_digits(name);

	return str_starts(name, STR("samples/")) && at < name.n &&
	       str_ends((struct str){name.p, at}, STR("_epoch_"));
}

/* NAME without that end; absent if it has another one. */
static struct str without(struct str name, struct str end)
{
	return str_ends(name, end) ? (struct str){name.p, name.n - end.n} : STR_NONE;
}

/* A chunk, named by the index of its first item. */
static bool chunk(struct str name, struct inspect_name *out)
{
	static const struct {
		struct str folder;
		enum inspect_kind kind;
	} sequences[] = {
		{STR_INIT("/messages/"), INSPECT_MESSAGES},
		{STR_INIT("/attachments/"), INSPECT_ATTACHMENTS},
	};
	size_t at = before_digits(name);

	for (size_t i = 0; i < ARRAY_LEN(sequences); i++) {
		struct str sample = without((struct str){name.p, at}, sequences[i].folder);

		if (is_sample(sample) && text_u64(str_skip(name, at), &out->start)) {
			out->kind = sequences[i].kind;
			out->sample = sample;
			return true;
		}
	}
	return false;
}

struct inspect_name inspect_name(struct str entry)
{
	struct inspect_name name = {.kind = INSPECT_OTHER};
	struct str base = without(entry, STR(".json")), shell = without(base, STR("/sample"));

	if (str_is(entry, "header.json")) {
		name.kind = INSPECT_HEADER;
	} else if (str_is(entry, "_journal/start.json")) {
		name.kind = INSPECT_START;
	} else if (is_sample(shell)) {
		name.kind = INSPECT_SHELL;
		name.sample = shell;
	} else if (is_sample(base)) {
		name.kind = INSPECT_WHOLE;
		name.sample = base;
	} else {
		chunk(base, &name);
	}
	return name;
}
