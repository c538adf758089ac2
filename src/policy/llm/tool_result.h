/* A tool's result as text for a model: the text of content parts, and a description in place of
   images, sounds and files, whose base64 is of no use to it. */
#ifndef ROLLDBG_POLICY_LLM_TOOL_RESULT_H
#define ROLLDBG_POLICY_LLM_TOOL_RESULT_H

#include "json/scan.h"

/* Appends the text. observation: raw JSON; absent or null: nothing. Long base64 strings become
   "[base64, 1234 bytes]". */
void tool_result_text(struct str observation, struct buf *out);
#endif
