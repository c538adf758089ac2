/* A fast hash, to compare values that are too long to store. Not for map keys, because a peer
   could choose colliding values: see base/map.h. */
#ifndef ROLLDBG_BASE_FINGERPRINT_H
#define ROLLDBG_BASE_FINGERPRINT_H

#include "base/base.h"

/* Equal for equal bytes; different values collide with probability 2^-64. Reads eight bytes at a
   time, because replies are long. */
uint64_t fingerprint(struct str s);

#endif
