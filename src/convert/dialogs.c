/* Conversations that are open at once: see dialog.h. */
#include "convert/dialog.h"
#include "convert/import.h"

#include <stdlib.h>

#define OPEN_MAX 4096

struct open_dialogs {
	struct map by_key;
	struct open_dialog *first, **last;
	size_t count;
};

static void free_all(void *own)
{
	struct open_dialogs *all = own;

	for (struct open_dialog *one = all->first, *next; one; one = next) {
		next = one->next;
		dialog_release(&one->dialog);
		buf_release(&one->last);
		free(one);
	}
	free(all);
}

struct open_dialog *dialogs_find(struct import *m, uint64_t key, struct error *err)
{
	struct open_dialogs *all = m->own;

	if (!all) {
		all = m->own = mem_new(sizeof(*all));
		all->last = &all->first;
		m->own_free = free_all;
	}
	struct open_dialog *one = map_find(&all->by_key, key, STR_NONE);
	if (!one && all->count == OPEN_MAX) {
		error_set(err, FAIL_INPUT, "more than %d rollouts, a part of one in each value",
		          OPEN_MAX);
	} else if (!one) {
		one = mem_new(sizeof(*one));
		one->last = BUF(BUF_MAX_MESSAGE);
		map_add(&all->by_key, &one->item, key);
		*all->last = one;
		all->last = &one->next;
		all->count++;
	}
	return one;
}

int dialogs_finish(struct import *m, struct error *err)
{
	struct open_dialogs *all = m->own;

	if (!all)
		return 0;
	for (struct open_dialog *one = all->first; one; one = one->next) {
		if (one->dialog.id) {
			dialog_end(m, &one->dialog,
			           &(struct import_end){.reason = buf_given(&one->last)});
		}
	}
	free_all(all);
	m->own = NULL;
	m->own_free = NULL;
	return 0;
}
