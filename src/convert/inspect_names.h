/* What the name of an entry in Inspect's .eval log says about it. */
#ifndef ROLLDBG_CONVERT_INSPECT_NAMES_H
#define ROLLDBG_CONVERT_INSPECT_NAMES_H

#include "base/base.h"

enum inspect_kind {
	INSPECT_OTHER,
	INSPECT_HEADER,      /* header.json */
	INSPECT_START,       /* _journal/start.json */
	INSPECT_WHOLE,       /* samples/ID_epoch_N.json: a sample in one entry */
	INSPECT_SHELL,       /* samples/ID_epoch_N/sample.json: a chunked sample */
	INSPECT_MESSAGES,    /* samples/ID_epoch_N/messages/START.json */
	INSPECT_ATTACHMENTS, /* samples/ID_epoch_N/attachments/START.json */
};

struct inspect_name {
	enum inspect_kind kind;
	struct str sample; /* samples/ID_epoch_N */
	uint64_t start;    /* of messages and attachments: index of the first one in the entry */
};

struct inspect_name inspect_name(struct str entry);

#endif
