/* Notes about how a reply was parsed: see notes.h. */
#include "policy/toolformats/notes.h"

#include <string.h>

bool call_noted(const struct call_notes *n, const char *word)
{
	for (size_t i = 0; i < n->count; i++) {
		if (strcmp(n->words[i], word) == 0) {
			return true;
		}
	}
	return false;
}

void call_note(struct call_notes *n, const char *word)
{
	if (!call_noted(n, word) && n->count < CALL_NOTES_MAX) {
		n->words[n->count++] = word;
	}
}

void call_notes_add(struct call_notes *n, const struct call_notes *more)
{
	for (size_t i = 0; i < more->count; i++) {
		call_note(n, more->words[i]);
	}
}
