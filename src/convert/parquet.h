/* Parquet files and trackio's SQLite databases, through the user's own python3 and its pyarrow: a
   helper process turns them into JSON Lines, and JSON Lines into Parquet. It is started as
   `python3 -I -c SCRIPT` in the root directory, so that neither PYTHON variables nor files of the
   working directory take part, even if PATH contains it. */
#pragma once

#include "base/error.h"

#include <stdio.h>

extern const char parquet_script[]; /* parquet.py, embedded by the Makefile */

/* True for the first bytes of a file that parquet_unpack reads. */
bool parquet_is(struct str begin);

/* Writes the rows of the file to out as JSON Lines; fd must be seekable. Dates become text, bytes
   UTF-8 text, NaN and infinities null. Of trackio's database, the rows of its logged tables. Fails
   with FAIL_INPUT if the file is damaged, FAIL_SYSTEM without python3 or pyarrow (the message tells
   how to install it), FAIL_INTERRUPTED. */
MUST_USE int parquet_unpack(int fd, FILE *out, struct error *err);

/* Writes JSON Lines (read from the current offset of `rows` to its end) as a Parquet file to `out`,
   zstd-compressed. columns: a JSON array of [NAME, TYPE], TYPE being a type function of pyarrow
   without arguments: "string", "int64", "float64", "bool_". Missing members become null. Fails as
   above, FAIL_INPUT if a value has another type. */
MUST_USE int parquet_write(int rows, const char *columns, int out, struct error *err);
