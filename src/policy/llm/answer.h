/* What a tool returned, as text for a model: of content parts the text, and in place of
   images, sounds and files what they are, for their bytes in base64 are no text. */
#ifndef ROLLDBG_POLICY_LLM_ANSWER_H
#define ROLLDBG_POLICY_LLM_ANSWER_H

#include "json/scan.h"

/* Appends it. observation: raw JSON; absent or null: nothing. */
void answer_text(struct str observation, struct buf *out);

#endif
