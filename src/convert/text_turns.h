/* Decoded text of a whole conversation, as dumped by trainers: special tokens were removed, but the
   tags of tool calls and answers (<tool_call>, <tool_response>: Hermes, Qwen) are present. */
#ifndef ROLLDBG_CONVERT_TEXT_TURNS_H
#define ROLLDBG_CONVERT_TEXT_TURNS_H

#include "convert/dialog.h"

/* Adds the turns in a model's text (raw JSON string): text, calls, answers. A call that is not JSON
   is kept as text. */
void text_turns(struct import *m, struct dialog *d, struct str text);
/* Makes a user message from a prompt (raw JSON string). */
struct str text_turns_prompt(struct import *m, struct str prompt);
/* Makes a task id for lines without one: the training step (raw JSON; may be absent) and a hash of
   the prompt, which is the same for all samples of a group. */
struct str text_turns_task(struct import *m, struct str prompt, struct str step);

#endif
