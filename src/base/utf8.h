/* UTF-8, one character at a time. */
#ifndef ROLLDBG_BASE_UTF8_H
#define ROLLDBG_BASE_UTF8_H

#include "base/base.h"

/* Decodes the code point at the start of s, which must not be empty. Returns its length in
   bytes; 0 if it is not valid UTF-8. */
size_t utf8_decode(struct str s, uint32_t *code);

#endif
