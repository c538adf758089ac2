/* Prints a value in full, as text: one member per line, strings unescaped, drawings line by
   line. */
#pragma once

#include "report/report.h"

/* Appends "label value", or the label and the members of the value indented below it. Labels are
   bold if the style has colors. */
void outline_add(struct buf *out, const char *label, struct str value, struct style style);

/* A label, followed by text that needs no escaping. */
void outline_text(struct buf *out, const char *label, const char *text, struct style style);
