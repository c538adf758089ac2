/* Decoded text of a whole conversation, as trainers dump it: special tokens are gone, the marks of
   tool calls and answers (<tool_call>, <tool_response>: Hermes, Qwen) are not. */
#ifndef ROLLDBG_CONVERT_TEXT_TURNS_H
#define ROLLDBG_CONVERT_TEXT_TURNS_H

#include "convert/dialog.h"

/* Gives the turns in what a model wrote (raw JSON string): text, calls, answers. A call that is no
   JSON remains text. */
void text_turns(struct import *m, struct dialog *d, struct str text);
/* A prompt (raw JSON string) as a message of the user. */
struct str text_turns_prompt(struct import *m, struct str prompt);
/* A task id for lines that name none: the training step (raw JSON; may be absent) and a hash of the
   prompt, which the samples of one group share. */
struct str text_turns_task(struct import *m, struct str prompt, struct str step);

#endif
