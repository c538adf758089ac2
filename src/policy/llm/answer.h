/* A tool's result as text for a model: the text of content parts and, for images, sounds and
   files, a description, because their bytes in base64 mean nothing to it. */
#ifndef ROLLDBG_POLICY_LLM_ANSWER_H
#define ROLLDBG_POLICY_LLM_ANSWER_H

#include "json/scan.h"

/* Appends it. observation: raw JSON; absent or null: nothing. Base64 strings that are too long
   to be a name or a key become "[base64, 1234 bytes]". */
void answer_text(struct str observation, struct buf *out);
/* Appends the images and sounds in it as content parts of the chat completions API, separated by
   commas, for a model that accepts them. */
void answer_media(struct str observation, struct buf *parts);

#endif
