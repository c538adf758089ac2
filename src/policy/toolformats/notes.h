/* Notes about how a reply was parsed: words, each at most once, in order of occurrence. */
#ifndef ROLLDBG_POLICY_TOOLFORMATS_NOTES_H
#define ROLLDBG_POLICY_TOOLFORMATS_NOTES_H

#include <stdbool.h>
#include <stddef.h>

#define CALL_NOTES_MAX 32

struct call_notes {
	const char *words[CALL_NOTES_MAX]; /* constants, or allocated in the reader's arena */
	size_t count;
};

void call_note(struct call_notes *n, const char *word);
bool call_noted(const struct call_notes *n, const char *word);
void call_notes_add(struct call_notes *n, const struct call_notes *more);

#endif
