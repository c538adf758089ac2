/* Loads libraries that only some commands need: linking them would slow down the start of every
   command. */
#ifndef ROLLDBG_BASE_LIBRARY_H
#define ROLLDBG_BASE_LIBRARY_H

#include "base/error.h"

/* A function, and the offset of its pointer in the caller's table. */
struct library_function {
	size_t member;
	const char *name;
};

/* Loads the library by the soname of its current ABI and sets all pointers of the table. NULL: it
   is missing or too old; the message says what it is needed for: "to `use`". Close it with
   dlclose(). */
void *library_load(const char *soname, const struct library_function *functions, size_t count,
                   void *table, const char *use, struct error *err);

#endif
