/* Runs rolldbg once for each fault of tests/faults at each moment where it can occur.

   fault_matrix [PART[/MOMENT]]: with PART, only rows whose names contain it. Every run must end
   with exit code 0, 1 or 4, in bounded time and memory; each line of the recording must be JSON,
   and each rollout must have an end; no control characters of the peer may be printed; a call may
   be executed at most once, and no other host may be contacted. Prints one line of TAP per row.
   $ROLLDBG is the program; $JOBS (4: half their time they wait) is the number of parallel runs.
   $SHARE, such as 1/3, selects a share of all pairs of row and moment: each share has every row,
   and three shares together have every moment. */
#include "hostile.h"
#include "tap.h"

#include "json/scan.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define SECONDS_MAX 30
#define BYTES_MAX   ((size_t)1 << 30) /* resident, including a sanitizer's overhead */
#define WHY_MAX     400

/* The moments of each table's faults. A table may occur twice, with different options. */
static const struct {
	const char *table, *moments[10], *scheme, *path;
	const char *options[20];
} tables[] = {
	{"tests/faults/http.tsv",
         {"open", "notification", "list", "call", "background", "close", "control", "control5",
          "resume"},
         "http",
         "mcp",
         {"--env", "@", "--actions", "A,B", "--timeout", "300ms", "--protocol", "mcp", "--tool",
          "act", "--argument", "move", "--force-call"}},
	{"tests/faults/http.tsv",
         {"modernopen", "modernlist", "moderncall"},
         "http",
         "mcp",
         {"--env", "@", "--actions", "A,B", "--timeout", "300ms", "--protocol", "mcp", "--tool",
          "act", "--argument", "move", "--force-call", "--era", "modern"}},
	{"tests/faults/http.tsv",
         {"orsnames", "orssession", "orsprompt", "orscall"},
         "http",
         "ors",
         {"--env", "@", "--actions", "A,B", "--timeout", "300ms", "--protocol", "ors", "--tool",
          "act", "--argument", "move", "--force-call"}},
	{"tests/faults/http.tsv",
         {"gympage", "gymseed", "gymcall", "gymverify"},
         "http",
         "gym",
         {"--env", "@", "--actions", "A,B", "--timeout", "300ms", "--protocol", "nemo-gym",
          "--tool", "act", "--argument", "move", "--force-call"}},
	{"tests/faults/http.tsv",
         {"stepspage", "stepsreset", "stepscall"},
         "http",
         "steps",
         {"--env", "@", "--actions", "A,B", "--timeout", "300ms", "--protocol", "nemo-gym",
          "--tool", "act", "--argument", "move", "--force-call"}},
	{"tests/faults/http.tsv",
         {"nativeseed", "nativecall", "nativeverify", "nativeclose"},
         "http",
         "native",
         {"--env", "@", "--actions", "A,B", "--timeout", "300ms", "--protocol", "nemo-gym",
          "--tool", "act", "--argument", "move", "--force-call"}},
	{"tests/faults/http.tsv",
         {"verifierscall"},
         "verifiers",
         NULL,
         {"--env", "verifiers:printf %s $PORT >$MCP_PORT_FILE; sleep 60", "--header", "@",
          "--actions", "A,B", "--timeout", "300ms", "--pass-env", "PORT", "--tool", "act",
          "--argument", "move", "--force-call", "--without", "no-history"}},
	{"tests/faults/websocket.tsv",
         {"page", "handshake", "state", "reset", "call", "close"},
         "ws",
         "ws",
         {"--env", "@", "--actions", "A,B", "--timeout", "300ms", "--tool", "step", "--argument",
          "move", "--force-call", "--without", "no-history"}},
	{"tests/faults/verifiers.tsv",
         {"start"},
         "verifiers",
         NULL, /* the row is a command */
         {"--env", "@", "--actions", "A,B", "--timeout", "300ms", "--open-timeout", "1s",
          "--pass-env", "PORT", "--tool", "act", "--argument", "move", "--force-call"}},
	{"tests/faults/model.tsv",
         {"model", "model2"},
         "http",
         "v1",
         {"--policy", "llm", "--model", "m", "--model-retries", "1", "--model-timeout", "300ms",
          "--max-turns", "3", "--base-url", "@"}},
};

static struct hostile server;
static char directory[] = "/tmp/fault_matrix.XXXXXX";

/* One run. */
struct trial {
	size_t table;
	const struct hostile_row *row;
	const char *moment;
};

static const char *path_of(const struct trial *t, const char *what)
{
	static _Thread_local char path[300];

	snprintf(path, sizeof(path), "%s/%s.%s.%s", directory, t->row->name, t->moment, what);
	return path;
}

#define WORDS_MAX 32

/* The words of the program; NULL after the last one. */
static void words_of(const struct trial *t, char *argv[WORDS_MAX])
{
	const char *program = getenv("ROLLDBG");
	char url[300];
	int n = 0;

	argv[n++] = mem_text(str_from(program ? program : "./rolldbg"));
	argv[n++] = mem_text(STR("run"));
	if (tables[t->table].path) {
		snprintf(url, sizeof(url), "%s://127.0.0.1:%u/%s/%s/%s", tables[t->table].scheme,
		         (unsigned)server.port, t->row->name, t->moment, tables[t->table].path);
	} else if (!strcmp(tables[t->table].table, "tests/faults/verifiers.tsv")) {
		snprintf(url, sizeof(url), "%s:%s", tables[t->table].scheme, t->row->bytes);
	} else {
		snprintf(url, sizeof(url), "Fault: %s/%s", t->row->name, t->moment);
	}
	for (const char *const *o = tables[t->table].options; *o; o++)
		argv[n++] = mem_text(str_from(strcmp(*o, "@") != 0 ? *o : url));
	argv[n++] = mem_text(STR("--out"));
	argv[n++] = mem_text(str_from(path_of(t, "jsonl")));
	argv[n] = NULL;
}

/* Between fork and exec nothing is allocated: another thread may have held the allocator's lock. */
static pid_t start_program(const struct trial *t)
{
	char *argv[WORDS_MAX];
	int said = open(path_of(t, "said"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	words_of(t, argv);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(said, STDOUT_FILENO);
		dup2(said, STDERR_FILENO);
		execv(argv[0], argv);
		_exit(127);
	}
	close(said);
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
	return pid;
}

static void read_whole(const char *path, struct buf *out)
{
	char piece[65536];
	ssize_t n;
	int fd = open(path, O_RDONLY);

	while (fd >= 0 && (n = read(fd, piece, sizeof(piece))) > 0)
		buf_add(out, piece, (size_t)n);
	if (fd >= 0)
		close(fd);
}

/* The error in the recording; NULL: none. */
static const char *judge_recording(const struct trial *t)
{
	struct buf text = BUF(4 * BUF_MAX_MESSAGE);
	const char *wrong = NULL;
	int headers = 0, ends = 0;

	read_whole(path_of(t, "jsonl"), &text);
	for (struct str rest = buf_view(&text); rest.n && !wrong;) {
		const char *end = memchr(rest.p, '\n', rest.n);
		struct str line = {rest.p, end ? (size_t)(end - rest.p) : rest.n};
		struct json_fault fault;

		wrong = !end || json_validate(line, &fault) ? "a line that is not JSON" : NULL;
		headers += str_starts(line, STR("{\"type\":\"header\""));
		ends += str_starts(line, STR("{\"type\":\"end\""));
		rest = str_skip(rest, line.n + 1);
	}
	buf_release(&text);
	return wrong                       ? wrong
	       : headers != 1 || ends != 1 ? "not exactly one header and one end"
	                                   : NULL;
}

static const char *judge_output(const struct trial *t, char why[WHY_MAX])
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	const char *wrong = NULL;

	read_whole(path_of(t, "said"), &text);
	if (memchr(buf_cstr(&text), '\x1b', text.n) || memchr(buf_cstr(&text), '\a', text.n))
		wrong = "control characters were printed";
	else if (strstr(buf_cstr(&text), "Sanitizer") || strstr(buf_cstr(&text), "runtime error"))
		wrong = "a sanitizer report";
	if (text.n > WHY_MAX / 2)
		buf_cut(&text, WHY_MAX / 2);
	snprintf(why, WHY_MAX, "%s", buf_cstr(&text));
	buf_release(&text);
	return wrong;
}

static const char *judge_calls(const struct trial *t)
{
	static const char *const moves[] = {"A", "B"};
	const char *wrong = NULL;
	char line[300];

	pthread_mutex_lock(&server.lock);
	for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
		snprintf(line, sizeof(line), "%s/%s call %s", t->row->name, t->moment, moves[i]);
		wrong = hostile_count(&server.log, line) > 1 ? "a call was executed twice" : wrong;
	}
	if (strstr(buf_cstr(&server.log), "elsewhere was asked")) {
		wrong = "another host was contacted";
		buf_clear(&server.log);
	}
	pthread_mutex_unlock(&server.lock);
	return wrong;
}

/* Waits at most SECONDS_MAX for the process to end; the error, or NULL. */
static const char *wait_for_exit(pid_t pid)
{
	int status;
	time_t until = time(NULL) + SECONDS_MAX;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (time(NULL) > until) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return "it did not end";
		}
		poll(NULL, 0, 5);
	}
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return code == 0 || code == 1 || code == 4 ? NULL : "an exit code other than 0, 1 or 4";
}

/* Runs one trial; the error, or NULL. */
static const char *run_trial(const struct trial *t, char why[WHY_MAX])
{
	const char *wrong = wait_for_exit(start_program(t)), *said = judge_output(t, why);

	wrong = wrong ? wrong : said;
	wrong = wrong ? wrong : judge_recording(t);
	wrong = wrong ? wrong : judge_calls(t);
	unlink(path_of(t, "jsonl"));
	unlink(path_of(t, "said"));
	return wrong;
}

/* ---- all trials ---- */

static pthread_mutex_t next_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the variables below */
static size_t next_row;
static const char *only, *only_moment;
static size_t share, shares = 1;

/* Runs the moments of one table; *number counts the row's moments over all tables. */
static void run_moments(struct trial *t, size_t *number, char text[WHY_MAX + 200])
{
	char why[WHY_MAX];

	for (size_t i = 0; tables[t->table].moments[i]; i++) {
		t->moment = tables[t->table].moments[i];
		size_t pair = (size_t)(t->row - server.rows) + (*number)++;
		if (pair % shares != share || (only_moment && strcmp(t->moment, only_moment) != 0))
			continue;
		const char *wrong = run_trial(t, why);

		if (wrong)
			snprintf(text, WHY_MAX + 200, "at %s: %s: %s", t->moment, wrong, why);
	}
}

static void run_row(const struct hostile_row *row)
{
	struct trial t = {.row = row};
	char text[WHY_MAX + 200] = "";
	size_t number = 0;

	for (t.table = 0; t.table < ARRAY_LEN(tables); t.table++)
		if (strcmp(tables[t.table].table, row->table) == 0)
			run_moments(&t, &number, text);
	pthread_mutex_lock(&next_lock);
	if (!ok(!*text, "%s", row->name))
		tap_note(row->name, text);
	pthread_mutex_unlock(&next_lock);
}

static void *work(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&next_lock);
		while (only && next_row < server.count && !strstr(server.rows[next_row].name, only))
			next_row++;
		size_t mine = next_row++;
		pthread_mutex_unlock(&next_lock);
		if (mine >= server.count)
			return unused;
		run_row(&server.rows[mine]);
	}
}

static bool read_share(const char *said)
{
	char *end;

	if (!said)
		return true;
	share = strtoul(said, &end, 10);
	shares = *end == '/' ? strtoul(end + 1, NULL, 10) : 0;
	return share < shares;
}

int main(int argc, char **argv)
{
	const char *jobs_said = getenv("JOBS");
	int jobs = jobs_said ? (int)strtol(jobs_said, NULL, 10) : 4;
	pthread_t threads[64];
	char port[8];

	if (argc > 1) {
		const char *slash = strchr(argv[1], '/');

		only = mem_text((struct str){argv[1], strcspn(argv[1], "/")});
		only_moment = slash ? slash + 1 : NULL;
	}
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		if (i == 0 || strcmp(tables[i].table, tables[i - 1].table) != 0)
			hostile_load(&server, tables[i].table);
	if (!read_share(getenv("SHARE")) || jobs < 1 || jobs > (int)ARRAY_LEN(threads) ||
	    !mkdtemp(directory)) {
		return 2;
	}
	setenv("XDG_STATE_HOME", directory, 1);
	hostile_begin(&server);
	snprintf(port, sizeof(port), "%u", (unsigned)server.port);
	setenv("PORT", port, 1);
	for (int i = 0; i < jobs; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 2;
	for (int i = 0; i < jobs; i++)
		pthread_join(threads[i], NULL);
	struct rusage largest;
	getrusage(RUSAGE_CHILDREN, &largest);
	ok((size_t)largest.ru_maxrss < BYTES_MAX / 1024, "the largest run took %ld MiB",
	   largest.ru_maxrss / 1024);
	rmdir(directory);
	return done();
}
