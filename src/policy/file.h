/* Policy files: JSON that runs as it is (policies/ holds ready ones). Its "kind" says which policy
   reads the other keys: see the files of script, random and llm/conf.h. */
#ifndef ROLLDBG_POLICY_FILE_H
#define ROLLDBG_POLICY_FILE_H

#include "json/keyed.h"
#include "policy/policy.h"

/* FAIL_INPUT with file, line and column, or the key; unknown keys are refused with the
 * nearest name. */
MUST_USE int policy_file_open(const struct policy_conf *conf, struct policy **out,
                              struct error *err);

/* Appends the whole file. FAIL_INPUT, also for a name that was perhaps to be a kind. */
MUST_USE int policy_file_read(const char *path, struct buf *out, struct error *err);

/* The same from the text of such a file; conf->spec is its name, for messages. */
MUST_USE int policy_text_open(const struct policy_conf *conf, struct str text, struct policy **out,
                              struct error *err);

/* ---- for policies that read a file: see from_file of struct policy_ops ---- */

/* What a file of any kind says: the first member of what a policy reads its file into, and the
   first rows of its table. */
struct policy_file {
	const char *name;      /* NULL: the file's own */
	struct str error_text; /* for policy_error_texts */
};

#define POLICY_FILE_ROWS                                                                           \
	{"kind", .type = KEYED_IGNORED}, {"$schema", .type = KEYED_IGNORED},                       \
		{"description", .type = KEYED_IGNORED},                                            \
		{"name", KEYED_WORDS, .at = offsetof(struct policy_file, name)},                   \
	{                                                                                          \
		"error_text", KEYED_ANY, .at = offsetof(struct policy_file, error_text)            \
	}

/* The name that a file gives itself, else the file's own. */
struct str policy_file_title(const struct policy_conf *conf, const struct policy_file *f);

/* -1, for a policy whose keys are right, but that cannot be: names the file. */
int policy_file_unfit(struct keyed *k);

#endif
