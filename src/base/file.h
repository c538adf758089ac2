/* Reads whole files into memory, compares names of files, and writes to descriptors. */
#pragma once

#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"

/* Appends the content of the file; "-" is standard input. Fails with FAIL_INPUT and "<what>
   <path>: ...", also if the content exceeds the cap of `out`. */
MUST_USE int file_read(const char *what, const char *path, struct buf *out, struct error *err);
/* The same from a descriptor; path is for the message. */
MUST_USE int file_read_fd(const char *what, const char *path, int fd, struct buf *out,
                          struct error *err);

/* The same for a file that was found or is read again: anything but a regular one, such as a pipe
   that nobody writes to, is refused, not waited for. */
MUST_USE int file_read_regular(const char *what, const char *path, struct buf *out,
                               struct error *err);

/* Are both the same file, also by links? False if one of them does not exist. */
bool file_is_same(const char *a, const char *b);

/* A path of the system, such as /dev/fd/3, whose links are followed: no one else can make them. */
bool file_is_of_system(const char *path);

/* A symbolic link, unless it is one of the system. */
bool file_is_link(const char *path);

/* A pipe, socket or device: opening or reading it may never end. */
bool file_may_block(const char *path);

/* Writes all of text: continues after a signal, and waits if the descriptor is non-blocking.
   Returns 0, or -1 with errno. Sets *done to the number of bytes written in either case. */
MUST_USE int fd_write(int fd, struct str text, size_t *done);
