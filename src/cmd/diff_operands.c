/* What `diff` compares: see diff_operands.h. */
#include "cmd/diff_operands.h"

#include "cmd/store/store.h"

#define GIT_OPERANDS 7
#define GIT_OLD      1
#define GIT_NEW      4

bool diff_is_from_git(int argc)
{
	return argc == GIT_OPERANDS || argc == DIFF_OPERANDS_MAX;
}

int diff_operands(const struct context *c, int argc, char **argv, struct file_list *first,
                  struct file_list *second, struct error *err)
{
	struct buf paths[2] = {BUF(BUF_MAX_SMALL), BUF(BUF_MAX_SMALL)};
	struct file_list *lists[] = {first, second};
	bool git = diff_is_from_git(argc);
	int failed = 0;

	if (argc == 1 || (argc > 2 && !git)) {
		return error_set(err, FAIL_USAGE,
		                 "needs two recordings, or none to compare the last two runs");
	}
	if (argc == 2 && !strcmp(argv[0], "-") && !strcmp(argv[1], "-"))
		return error_set(err, FAIL_USAGE, "standard input can be only one of the two");
	if (!argc)
		failed = store_last_two(c, &paths[0], &paths[1], err);
	for (int i = 0; i < 2 && !failed; i++) {
		char *path = git ? argv[i ? GIT_NEW : GIT_OLD] : argc ? argv[i] : paths[i].p;

		failed = file_list_new(&path, 1, lists[i], err);
	}
	buf_release(&paths[0]);
	buf_release(&paths[1]);
	return failed;
}
