/* Parquet through the user's python3: see parquet.h. */
#include "convert/parquet.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/wake.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Exit codes of the scripts; the last line on stderr is the reason. */
#define EXIT_INPUT      3
#define EXIT_NO_PYARROW 4
#define EXIT_SYSTEM     5

#define STDERR_MAX ((size_t)64 << 10)

/* Runs main() and turns its failures into exit codes. */
#define SCRIPT_END                                                                                 \
	"def fail(code, why):\n"                                                                   \
	"  sys.stderr.write('\\n' + ' '.join(str(why).split()) + '\\n')\n"                         \
	"  sys.stderr.flush()\n"                                                                   \
	"  os._exit(code)\n"                                                                       \
	"try:\n"                                                                                   \
	"  main()\n"                                                                               \
	"  out.flush()\n"                                                                          \
	"except ImportError as e:\n"                                                               \
	"  fail(4, e)\n"                                                                           \
	"except (MemoryError, KeyboardInterrupt) as e:\n"                                          \
	"  fail(5, repr(e))\n"                                                                     \
	"except OSError as e:\n"                                                                   \
	"  fail(5 if e.errno in (12, 27, 28, 122) else 3, e)\n"                                    \
	"except Exception as e:\n"                                                                 \
	"  fail(3, e)\n"                                                                           \
	"os._exit(0)\n"

/* Without Python's collector of cycles, which rows have none of: with it, a row costs a third more. */
static const char read_script[] =
	"import gc, json, math, os, sys\n"
	"gc.disable()\n"
	"out = open(1, 'wb', 1 << 20, closefd=False)\n"
	"def other(v):\n"
	"  if isinstance(v, (bytes, bytearray)):\n"
	"    return bytes(v).decode('utf-8', 'replace')\n"
	"  return v.isoformat() if hasattr(v, 'isoformat') else str(v)\n"
	"def finite(v):\n"
	"  if isinstance(v, float):\n"
	"    return v if math.isfinite(v) else None\n"
	"  if isinstance(v, dict):\n"
	"    return {str(k): finite(x) for k, x in v.items()}\n"
	"  return [finite(x) for x in v] if isinstance(v, (list, tuple)) else v\n"
	"encode = json.JSONEncoder(default=other, allow_nan=False, check_circular=False, separators=(',', ':')).encode\n"
	"def put(row):\n"
	"  try:\n"
	"    text = encode(row)\n"
	"  except ValueError:\n"
	"    text = encode(finite(row))\n"
	"  out.write(text.encode() + b'\\n')\n"
	"def parquet():\n"
	"  import pyarrow.parquet\n"
	"  file = pyarrow.parquet.ParquetFile(os.fdopen(0, 'rb', closefd=False))\n"
	"  for batch in file.iter_batches(4096):\n"
	"    for row in batch.to_pylist():\n"
	"      put(row)\n"
	"def trackio():\n"
	"  import sqlite3\n"
	"  data = bytearray(open(0, 'rb', closefd=False).read())\n"
	"  data[18:20] = b'\\1\\1' # not WAL, which a database in memory cannot be\n"
	"  base = sqlite3.connect(':memory:')\n"
	"  base.deserialize(bytes(data))\n"
	"  last = None\n"
	"  for (text,) in base.execute('select metrics from metrics order by id'):\n"
	"    for v in json.loads(text).values():\n"
	"      if not isinstance(v, dict) or v.get('_type') != 'trackio.table':\n"
	"        continue\n"
	"      if v.get('_value') != last: # the last table is logged twice\n"
	"        last = v.get('_value')\n"
	"        for row in last or ():\n"
	"          put(row)\n"
	"  if last is None:\n"
	"    raise ValueError('an SQLite database, but not of trackio: it has no logged tables')\n"
	"def main():\n"
	"  (parquet if os.pread(0, 4, 0) == b'PAR1' else trackio)()\n" SCRIPT_END;

static const char write_script[] =
	"import json, os, sys\n"
	"out = open(1, 'wb', 1 << 20, closefd=False)\n"
	"def main():\n"
	"  import pyarrow as pa, pyarrow.parquet as pq\n"
	"  schema = pa.schema([(n, getattr(pa, t)()) for n, t in json.loads(sys.argv[1])])\n"
	"  rows = []\n"
	"  with pq.ParquetWriter(out, schema, compression='zstd') as writer:\n"
	"    def put():\n"
	"      writer.write_table(pa.Table.from_pylist(rows, schema=schema))\n"
	"      rows.clear()\n"
	"    for line in open(0, 'rb', closefd=False):\n"
	"      rows.append(json.loads(line))\n"
	"      if len(rows) == 16384:\n"
	"        put()\n"
	"    put()\n" SCRIPT_END;

bool parquet_is(struct str begin)
{
	return str_starts(begin, STR("PAR1")) || str_starts(begin, STR("SQLite format 3"));
}

struct job {
	const char *script, *argument;
	int in, out;
};

/* Returns an errno. */
static int start(const struct job *job, int errors, pid_t *pid)
{
	/* relative entries of PATH are resolved in / */
	const char *line[] = {"sh", "-c",        "cd / && exec python3 -I -c \"$1\" \"$2\"",
	                      "sh", job->script, job->argument};
	char *words[ARRAY_LEN(line) + 1] = {0};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none, usual;

	for (size_t i = 0; i < ARRAY_LEN(line); i++)
		words[i] = mem_text(str_from(line[i]));
	sigemptyset(&none);
	sigfillset(&usual);
	posix_spawnattr_init(&how);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &usual);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, job->in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, job->out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
	descriptors_keep();
	int rc = posix_spawn(pid, "/bin/sh", &files, &how, words, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	for (size_t i = 0; words[i]; i++)
		free(words[i]);
	return rc;
}

/* Signals that reach us and not the helper end it. */
static int wait_for(pid_t pid, bool *interrupted)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
		*interrupted = true;
		kill(pid, SIGTERM);
	}
	return status;
}

/* The last line of a file that is not empty. */
static void last_line(FILE *from, struct buf *out)
{
	char *text = mem_array(STDERR_MAX, 1);
	ssize_t n = pread(fileno(from), text, STDERR_MAX, 0);
	struct str rest = text_trim((struct str){text, n > 0 ? (size_t)n : 0});
	size_t at = rest.n;

	while (at && rest.p[at - 1] != '\n')
		at--;
	text_escape(out, str_skip(rest, at));
	free(text);
}

static int failed_with(int status, FILE *errors, struct error *err)
{
	struct buf why = BUF(BUF_MAX_SMALL);
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SYSTEM;

	last_line(errors, &why);
	if (code == EXIT_NO_PYARROW) {
		error_set(err, FAIL_SYSTEM,
		          "Parquet needs pyarrow in the python3 of PATH; to install it: python3 -m "
		          "pip install pyarrow (%s)",
		          buf_cstr(&why));
	} else {
		error_set(err, code == EXIT_INPUT ? FAIL_INPUT : FAIL_SYSTEM, "%s",
		          why.n ? buf_cstr(&why) : "python3 failed without a message");
	}
	buf_release(&why);
	return -1;
}

static int run(const struct job *job, struct error *err)
{
	FILE *errors = tmpfile();
	bool interrupted = false;
	pid_t pid = 0;

	if (!errors)
		return error_errno(err, "cannot create a temporary file");
	int rc = start(job, fileno(errors), &pid);
	int status = rc ? 0 : wait_for(pid, &interrupted), failed = 0;
	if (rc || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
		failed = error_set(err, FAIL_SYSTEM,
		                   "Parquet and SQLite are read by python3 with pyarrow, and there "
		                   "is no python3 in PATH; to install both on Debian: apt install "
		                   "python3-venv; python3 -m venv V; V/bin/pip install pyarrow; "
		                   "PATH=$PWD/V/bin:$PATH");
	} else if (interrupted) {
		failed = error_set(err, FAIL_INTERRUPTED, "interrupted");
	} else if (status) {
		failed = failed_with(status, errors, err);
	}
	fclose(errors);
	return failed;
}

int parquet_unpack(int fd, FILE *out, struct error *err)
{
	const struct job job = {read_script, "", fd, fileno(out)};

	if (lseek(fd, 0, SEEK_SET) != 0)
		return error_errno(err, "cannot read");
	return run(&job, err);
}

int parquet_write(int rows, const char *columns, int out, struct error *err)
{
	const struct job job = {write_script, columns, rows, out};

	return run(&job, err);
}
