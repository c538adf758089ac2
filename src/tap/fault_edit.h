/* The text of a reply as a fault leaves it. */
#ifndef ROLLDBG_TAP_FAULT_EDIT_H
#define ROLLDBG_TAP_FAULT_EDIT_H

#include "tap/fault.h"

/* Appends the changed text. reply: a JSON object of any of the protocols; other: the reply that takes its place, for
   faults that repeat one. *status: set if the HTTP status has to change as well. False: there is nothing in
   it that the fault could change. */
bool tap_fault_edit(enum tap_fault_id fault, struct str reply, struct str other, struct buf *out,
                    int *status);

#endif
