/* A fast hash of bytes, for comparing what is too long to be kept. Not for keys that a peer could
   choose so that they collide: base/map.h. */
#ifndef ROLLDBG_FACTS_FINGERPRINT_H
#define ROLLDBG_FACTS_FINGERPRINT_H

#include "base/base.h"

/* Equal for equal bytes; other values collide with a chance of 2^-64. Reads eight bytes at a time,
   because answers are long. */
uint64_t fingerprint(struct str s);

#endif
