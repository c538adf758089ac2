/* --mask and --tolerance: see compare_options.h. */
#include "cmd/compare_options.h"

#include "json/scan.h"

#define FIELD(f) offsetof(struct compare_options, f)

static const struct opt rows[] = {
	OPT_LIST(0, "mask", "POINTER", FIELD(masks),
                 "do not compare what this JSON Pointer into a line reaches; * is any one token, "
                 "** any depth; those in the headers apply in any case"),
	OPT_LIST(0, "tolerance", "POINTER=EPS", FIELD(tolerances),
                 "numbers there that differ by at most EPS are equal; * is any one token"),
};
const struct option_group compare_group = {rows, ARRAY_LEN(rows)};

static int read_one(struct tolerances *t, const char *text, struct error *err)
{
	const char *equals = strrchr(text, '=');
	struct tolerance *one = &t->list[t->count];

	if (text[0] != '/' || !equals || json_type(str_from(equals + 1)) != JSON_NUMBER ||
	    !json_double(str_from(equals + 1), &one->most) || one->most < 0) {
		return error_set(
			err, FAIL_USAGE,
			"--tolerance: expected POINTER=NUMBER such as /reward=1e-6, got '%s'",
			text);
	}
	one->pointer = arena_str(&t->arena, (struct str){text, (size_t)(equals - text)}).p;
	t->count++;
	return 0;
}

int tolerances_read(struct tolerances *t, const struct compare_options *o, struct error *err)
{
	for (size_t i = 0; i < o->tolerances.count; i++) {
		if (read_one(t, o->tolerances.item[i], err)) {
			return -1;
		}
	}
	return 0;
}

void tolerances_release(struct tolerances *t)
{
	arena_release(&t->arena);
}
