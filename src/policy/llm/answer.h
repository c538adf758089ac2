/* What a tool returned, as text for a model: of content parts the text, and in place of
   images, sounds and files what they are, for their bytes in base64 are no text. */
#ifndef ROLLDBG_POLICY_LLM_ANSWER_H
#define ROLLDBG_POLICY_LLM_ANSWER_H

#include "json/scan.h"

/* Appends it. observation: raw JSON; absent or null: nothing. Strings of base64 that are too long
   to be a name or a key become "[base64, 1234 bytes]". */
void answer_text(struct str observation, struct buf *out);
/* Appends the images and sounds in it as content parts of the chat completions API, comma
   separated, for a model that takes them. */
void answer_media(struct str observation, struct buf *parts);

#endif
