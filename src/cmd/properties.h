/* The output of `probe`: one line per property as text, or JSON lines. */
#ifndef ROLLDBG_CMD_PROPERTIES_H
#define ROLLDBG_CMD_PROPERTIES_H

#include "cmd/cmd.h"
#include "probe/probe.h"

/* "http://.. · openenv · Lake · state from openenv" */
void properties_title(const char *target, const struct env_facts *f, struct buf *out);
void properties_line(const struct property *p, struct style style, struct buf *out);
/* The counts by status, and what the failed properties imply. */
void properties_conclusion(const struct probe_summary *s, struct style style, struct buf *out);

/* {"type":"property",..} and {"type":"summary",..}; model: a model was tested. */
void properties_json(const struct property *p, struct buf *out);
void properties_json_summary(const struct probe_summary *s, size_t sessions, size_t need,
                             bool model, struct buf *out);

#endif
