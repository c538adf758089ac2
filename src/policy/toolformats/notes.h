/* Words that say how a reply was read, each once, in the order of their discovery. */
#ifndef ROLLDBG_POLICY_TOOLFORMATS_NOTES_H
#define ROLLDBG_POLICY_TOOLFORMATS_NOTES_H

#include <stdbool.h>
#include <stddef.h>

#define CALL_NOTES_MAX 32

struct call_notes {
	const char *words[CALL_NOTES_MAX]; /* constants, or in the arena of what was read */
	size_t count;
};

void call_note(struct call_notes *n, const char *word);
bool call_noted(const struct call_notes *n, const char *word);
void call_notes_add(struct call_notes *n, const struct call_notes *more);

#endif
