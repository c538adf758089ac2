/* Samples that are split into several entries of Inspect's .eval log. sample.json has everything but
   the conversation: that is message_refs in it, ranges [start,end) of the sequence of all messages
   in messages/START.json; in these a text may be a reference to an attachment,
   "attachment://INDEX", which is an item of the sequence in attachments/START.json. An entry
   is named by the index of its first item. */
#ifndef ROLLDBG_CONVERT_INSPECT_CHUNKS_H
#define ROLLDBG_CONVERT_INSPECT_CHUNKS_H

#include "base/buf.h"
#include "base/error.h"
#include "convert/inspect_names.h"

/* The entries of one sequence. */
struct inspect_sequence {
	struct inspect_chunk *list;
	size_t count, room;
};

/* Zero it before use; inspect_chunks_release releases it. */
struct inspect_chunks {
	struct buf shell; /* content of sample.json */
	struct inspect_sequence messages, attachments;
	size_t bytes; /* of all contents */
};

/* Adds a valid JSON text; takes the content's memory and leaves it empty. FAIL_INPUT if it is no
   object or, for messages and attachments, no array. */
MUST_USE int inspect_chunks_add(struct inspect_chunks *c, const struct inspect_name *name,
                                struct buf *content, struct error *err);

/* Appends the conversation as a JSON array; all entries must have been added. FAIL_INPUT if one is
   missing. */
MUST_USE int inspect_chunks_messages(struct inspect_chunks *c, struct buf *out, struct error *err);
void inspect_chunks_release(struct inspect_chunks *c);

#endif
