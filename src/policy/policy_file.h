/* Policy files: JSON (examples are in policies/). The "kind" selects the policy, which reads the
   other keys: see script.h, random.h and llm/conf.h. */
#pragma once

#include "json/keyed.h"
#include "policy/policy.h"

/* FAIL_INPUT with file, line and column, or the key; an unknown key is refused with the nearest
   name. out NULL: only checks what does not depend on the tools. */
MUST_USE int policy_file_open(const struct policy_conf *conf, struct policy **out,
                              struct error *err);

/* Appends the whole file; one that holds only calls, as an array or one in a line, as a script of
   these calls. FAIL_INPUT, with a hint if the name looks like a misspelt kind. */
MUST_USE int policy_file_read(const char *path, struct buf *out, struct error *err);

/* Opens a text; conf->spec is its name, used in messages. */
MUST_USE int policy_text_open(const struct policy_conf *conf, struct str text, struct policy **out,
                              struct error *err);

/* ---- for policies that read a file: see from_file of struct policy_ops ---- */

/* Keys common to all kinds: the first member of the struct into which a policy reads its file,
   and the first rows of its key table. */
struct policy_file {
	const char *name;      /* NULL: the file's name */
	struct str error_text; /* for policy_error_texts */
};

#define POLICY_FILE_ROWS                                                                           \
	{"kind", .type = KEYED_IGNORED}, {"$schema", .type = KEYED_IGNORED},                       \
		{"description", .type = KEYED_IGNORED},                                            \
		{"name", KEYED_WORDS, .at = offsetof(struct policy_file, name)},                   \
	{                                                                                          \
		"error_text", KEYED_ANY, .at = offsetof(struct policy_file, error_text)            \
	}

/* The name given in the file, else the name of the file. */
struct str policy_file_title(const struct policy_conf *conf, const struct policy_file *f);

/* Returns -1 with an error that names the file, for a file whose keys are valid but whose policy
   is not. */
int policy_file_invalid(struct keyed *k);
