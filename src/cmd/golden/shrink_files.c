/* Output files of `shrink`: see shrink_files.h. */
#include "cmd/golden/shrink_files.h"

#include "base/new_file.h"
#include "json/write.h"

#include <stdio.h>
#include <unistd.h>

static struct str without_suffix(const char *path)
{
	struct str s = str_from(path);

	if (str_ends(s, STR(".jsonl")))
		s.n -= strlen(".jsonl");
	return s;
}

static int check_new(const struct buf *path, struct error *err)
{
	return access(buf_cstr(path), F_OK) == 0
	               ? error_set(err, FAIL_USAGE, "%s exists; use --force to overwrite it",
	                           buf_cstr(path))
	               : 0;
}

int shrink_files_choose(struct shrink_files *f, const char *from, const char *out, bool replace,
                        struct error *err)
{
	struct str stem = without_suffix(out ? out : from);

	*f = (struct shrink_files){BUF(BUF_MAX_SMALL), BUF(BUF_MAX_SMALL), replace};
	if (!out && strcmp(from, "-") == 0) {
		return error_set(
			err, FAIL_USAGE,
			"the recording is read from standard input: name the file to write "
			"with --out");
	}
	if (out)
		buf_text(&f->recording, out);
	else
		buf_printf(&f->recording, "%.*s.shrunk.jsonl", STR_ARG(stem));
	buf_printf(&f->policy, out ? "%.*s.policy.json" : "%.*s.shrunk.policy.json", STR_ARG(stem));
	return !replace && (check_new(&f->recording, err) || check_new(&f->policy, err)) ? -1 : 0;
}

static void write_policy(struct str calls, const struct golden *g, struct buf *out)
{
	struct str call;
	const char *between = "\n";

	buf_text(out, "{\n\t\"kind\": \"script\",\n\t\"name\": \"shrunk\",\n\t\"description\": ");
	struct buf text = BUF(BUF_MAX_SMALL);

	buf_printf(
		&text,
		"The calls of rollout %.*s that are needed to reproduce the finding or difference.",
		STR_ARG(g->want.id));
	json_quote(out, buf_view(&text));
	buf_release(&text);
	buf_text(out, ",\n\t\"calls\": [");
	for (size_t cursor = 0; json_next(calls, &cursor, &call); between = ",\n")
		buf_printf(out, "%s\t\t%.*s", between, STR_ARG(call));
	buf_text(out, "\n\t]\n}\n");
}

int shrink_files_write_policy(const struct shrink_files *f, struct str calls,
                              const struct golden *g, struct error *err)
{
	struct buf text = BUF(SIZE_MAX / 2);

	write_policy(calls, g, &text);
	struct new_file_conf conf = {buf_cstr(&f->policy), .replace = f->replace};
	int failed = new_file_put(&conf, buf_view(&text), err);
	buf_release(&text);
	return failed;
}

void shrink_files_release(struct shrink_files *f)
{
	BUFS_RELEASE(&f->recording, &f->policy);
}
