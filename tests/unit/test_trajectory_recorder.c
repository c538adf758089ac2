/* The recorder: refusals, the lock, torn last lines, threads; a full disk, a closed pipe
   and kill -9 lose nothing that was written. */
#include "tap.h"

#include "base/log.h"
#include "base/mem.h"
#include "recording/reader.h"
#include "recording/recorder.h"
#include "recording/redact/redact.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/rolldbg-recorder-XXXXXX";

/* Borrowed until the next call. */
static const char *in_directory(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void remove_directory(void)
{
	DIR *d = opendir(directory);

	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.')
			unlink(in_directory(e->d_name));
	if (d)
		closedir(d);
	rmdir(directory);
}

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		ok(0, "%s is written", path);
}

static void get_file(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "r");
	char block[4096];

	buf_clear(out);
	for (size_t n; f && (n = fread(block, 1, sizeof(block), f)) > 0;)
		buf_add(out, block, n);
	if (f)
		fclose(f);
}

/* One step of a rollout; its observation has `bytes` characters. */
static int write_step(struct recorder *r, const char *rollout, int64_t n, size_t bytes,
                      struct error *err)
{
	struct buf observation = BUF(1 << 20), scratch = BUF(1 << 20);
	struct line l = {.type = LINE_STEP};
	size_t sizes[KEY_COUNT];
	char id[64], turn[32];

	snprintf(id, sizeof(id), "\"%s\"", rollout);
	snprintf(turn, sizeof(turn), "%" PRId64, n);
	buf_char(&observation, '"');
	for (size_t i = 0; i < bytes; i++)
		buf_char(&observation, (char)('a' + i % 26));
	buf_char(&observation, '"');
	l.value[KEY_ROLLOUT] = str_from(id);
	l.value[KEY_TURN] = str_from(turn);
	l.value[KEY_OBSERVATION] = buf_view(&observation);
	int result = recorder_write(r, &l, &scratch, sizes, err);
	if (result == 0 && !str_ends(buf_view(&scratch), STR("}\n")))
		result = -2;
	buf_release(&observation);
	buf_release(&scratch);
	return result;
}

static struct recorder *must_open(struct recorder_conf conf)
{
	struct recorder *r = NULL;
	struct error err = {0};

	if (recorder_new(&conf, &r, &err) != 0) {
		tap_note("cannot open", err.text);
		ok(0, "%s opens", conf.path);
		exit(done());
	}
	return r;
}

/* The number of complete lines, or -1; sets *torn if the last one is incomplete. */
static int64_t count_lines(const char *path, bool *torn)
{
	struct reader *r = NULL;
	struct line l;
	struct reader_note note;
	struct error err;
	int64_t n = 0;
	int got;

	*torn = false;
	if (reader_open(path, &r, &err) != 0)
		return -1;
	while ((got = reader_next(r, &l, &note, &err)) == 1) {
		*torn = note.torn;
		n += !note.torn;
	}
	reader_close(r);
	if (got < 0)
		tap_note("reading back", err.text);
	return got < 0 ? -1 : n;
}

static void refusals(void)
{
	const char *path = in_directory("refusals.jsonl");
	struct recorder *r = NULL, *second = NULL;
	struct error err = {0};
	struct buf text = BUF(1 << 16);
	bool torn;

	r = must_open((struct recorder_conf){.path = path});
	is_int(write_step(r, "a.0", 0, 10, &err), 0, "a line is written");
	is_int(recorder_new(&(struct recorder_conf){.path = path, .append = true}, &second, &err),
	       -1, "a second writer is refused");
	is_int(err.kind, FAIL_SYSTEM, "as a local failure");
	ok(strstr(err.text, "is being written by another process"), "with the reason");
	is_int(recorder_new(&(struct recorder_conf){.path = path, .force = true}, &second, &err),
	       -1, "even by force");
	is_int(recorder_close(r, &err), 0, "closes");
	is_int(count_lines(path, &torn), 1, "the line is there");
	is_int(recorder_new(&(struct recorder_conf){.path = path}, &second, &err), -1,
	       "an existing file is refused");
	is_int(err.kind, FAIL_USAGE, "as a matter of the command line");
	ok(strstr(err.text, "refusals.jsonl exists; use \1force\2 to overwrite it"),
	   "with the cure");
	get_file(path, &text);
	r = must_open((struct recorder_conf){.path = path, .append = true, .sync = true});
	is_int(write_step(r, "a.0", 1, 10, &err), 0, "append");
	is_int(recorder_close(r, &err), 0, "closes");
	is_int(count_lines(path, &torn), 2, "appends to the existing lines");
	r = must_open((struct recorder_conf){.path = path, .force = true});
	is_int(write_step(r, "b.0", 0, 10, &err), 0, "force");
	is_int(recorder_close(r, &err), 0, "closes");
	is_int(count_lines(path, &torn), 1, "replaces it");
	is_int(recorder_new(&(struct recorder_conf){.path = in_directory("no/such")}, &r, &err), -1,
	       "a directory that is not there");
	is_int(err.kind, FAIL_SYSTEM, "is a local failure");
	r = must_open((struct recorder_conf){.path = "/dev/null"});
	is_int(write_step(r, "a.0", 0, 10, &err), 0, "a line is written to /dev/null");
	is_int(recorder_close(r, &err), 0, "closes");
	is_int(recorder_close(NULL, &err), 0, "no recorder closes, too");
	buf_release(&text);
}

static void torn_tails(void)
{
	static const struct {
		const char *before, *after, *kept, *what;
	} rows[] = {
		{"", "", NULL, "an empty file"},
		{"{\"type\":\"a\"}\n", "{\"type\":\"a\"}\n", NULL, "a whole line"},
		{"{\"type\":\"a\"}\n{\"type\":\"b\"}", "{\"type\":\"a\"}\n{\"type\":\"b\"}\n", NULL,
	         "a line without its feed"},
		{"{\"type\":\"a\"}\n{\"type\":", "{\"type\":\"a\"}\n", "{\"type\":", "a torn line"},
		{"{\"type\":", "", "{\"type\":", "nothing but a torn line"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char name[32], kept_name[40];
		struct buf text = BUF(1 << 16);
		struct error err = {0};

		snprintf(name, sizeof(name), "tail%zu.jsonl", i);
		snprintf(kept_name, sizeof(kept_name), "%s.bak", name);
		put_file(in_directory(name), rows[i].before);
		struct recorder *r = must_open(
			(struct recorder_conf){.path = in_directory(name), .append = true});
		get_file(in_directory(name), &text);
		is_str(buf_cstr(&text), rows[i].after, "%s: the recording", rows[i].what);
		is_int(write_step(r, "a.0", 0, 10, &err), 0, "%s: append", rows[i].what);
		is_int(recorder_close(r, &err), 0, "%s: close", rows[i].what);
		get_file(in_directory(kept_name), &text);
		is_str(buf_cstr(&text), rows[i].kept ? rows[i].kept : "", "%s: the copy",
		       rows[i].what);
		is_int(access(in_directory(kept_name), F_OK), rows[i].kept ? 0 : -1, "%s: the copy",
		       rows[i].what);
		buf_release(&text);
	}
	struct recorder *r;
	struct error err;
	put_file(in_directory("notes.json"), "{\n\t\"type\": \"module\"\n}");
	is_int(recorder_new(
		       &(struct recorder_conf){.path = in_directory("notes.json"), .append = true},
		       &r, &err),
	       -1, "a file of another kind is refused");
	is_int(err.kind, FAIL_USAGE, "as a wrong choice");
	is_int(access(in_directory("notes.json.bak"), F_OK), -1, "and stays whole");
	put_file(in_directory("tail3.jsonl"), "{\"type");
	r = must_open((struct recorder_conf){.path = in_directory("tail3.jsonl"), .append = true});
	is_int(recorder_close(r, &err), 0, "a second torn line");
	is_int(access(in_directory("tail3.jsonl.bak2"), F_OK), 0, "gets its own copy");
}

static void long_tail(void)
{
	struct buf text = BUF(1 << 20);
	struct error err;

	buf_text(&text, "{\"type\":\"a\"}\n{\"type\":\"");
	for (int i = 0; i < 20000; i++)
		buf_text(&text, "0123456789");
	put_file(in_directory("long.jsonl"), buf_cstr(&text));
	struct recorder *r = must_open(
		(struct recorder_conf){.path = in_directory("long.jsonl"), .append = true});
	is_int(recorder_close(r, &err), 0, "a torn line longer than a block");
	get_file(in_directory("long.jsonl"), &text);
	is_str(buf_cstr(&text), "{\"type\":\"a\"}\n", "is cut off");
	buf_release(&text);
}

struct writer {
	struct recorder *recorder;
	int id;
	int failures;
};

#define THREADS 8
#define LINES   200

static void *write_lines(void *arg)
{
	struct writer *w = arg;
	char rollout[16];

	snprintf(rollout, sizeof(rollout), "t.%d", w->id);
	for (int64_t i = 0; i < LINES; i++) {
		struct error err;

		w->failures +=
			write_step(w->recorder, rollout, i, (size_t)(i * 37 % 9001), &err) != 0;
	}
	return NULL;
}

static void threads(void)
{
	pthread_t ids[THREADS];
	struct writer writers[THREADS];
	struct error err;
	bool torn;
	int failures = 0;
	struct recorder *r =
		must_open((struct recorder_conf){.path = in_directory("threads.jsonl")});

	for (int i = 0; i < THREADS; i++) {
		writers[i] = (struct writer){r, i, 0};
		pthread_create(&ids[i], NULL, write_lines, &writers[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(ids[i], NULL);
		failures += writers[i].failures;
	}
	is_int(recorder_close(r, &err), 0, "closes");
	is_int(failures, 0, "every thread writes every line");
	is_int(count_lines(in_directory("threads.jsonl"), &torn), THREADS * LINES,
	       "and no lines are mixed");
}

static void ignore(int number)
{
	sigaction(number, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
}

/* In a child process: writes until it fails, and exits with the number of complete lines,
   or 255. */
static int fill_up(void (*prepare)(void), const char *path)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct recorder *r = NULL;
		struct error err = {0}, again = {0};
		int n = 0;

		ignore(SIGXFSZ);
		ignore(SIGPIPE);
		prepare();
		if (recorder_new(&(struct recorder_conf){.path = path}, &r, &err) != 0)
			_exit(254);
		while (n < 200 && write_step(r, "f.0", n, 1000, &err) == 0)
			n++;
		bool stays = write_step(r, "f.0", n, 1, &again) == -1 &&
		             strcmp(err.text, again.text) == 0;
		_exit(err.kind == FAIL_SYSTEM && stays && strstr(err.text, "complete lines") ? n
		                                                                             : 255);
	}
	int status = 0;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void limit_size(void)
{
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){10000, 10000});
}

static void use_full_output(void)
{
	dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
}

static void use_closed_pipe(void)
{
	int fd[2];

	if (pipe(fd) == 0) {
		close(fd[0]);
		dup2(fd[1], STDOUT_FILENO);
	}
}

static void no_room(void)
{
	bool torn;
	struct stat st;
	const char *path = in_directory("full.jsonl");
	int written = fill_up(limit_size, path);

	ok(written > 5 && written < 200, "a file that cannot grow: %d lines, then an error",
	   written);
	is_int(count_lines(path, &torn), written, "all of them are there");
	ok(!torn, "and no part of the next");
	ok(stat(path, &st) == 0 && st.st_size < 10000, "the part that was written is removed");
	is_int(fill_up(use_full_output, "-"), 0, "a full device fails at the first line");
	is_int(fill_up(use_closed_pipe, "-"), 0, "so does a pipe that is not read");
}

/* The child reports each line when recorder_write has returned. */
static void write_forever(const char *path, int report)
{
	struct recorder *r = NULL;
	struct error err;

	if (recorder_new(&(struct recorder_conf){.path = path}, &r, &err) != 0)
		_exit(1);
	for (int64_t i = 0; write_step(r, "k.0", i, (size_t)(i * 101 % 5000), &err) == 0; i++)
		if (write(report, "", 1) != 1)
			_exit(1);
	_exit(1);
}

static void killed(void)
{
	int fd[2];
	char block[64];
	int64_t reported = 0;
	bool torn;
	const char *path = in_directory("killed.jsonl");

	if (pipe(fd) != 0)
		abort();
	pid_t pid = fork();
	if (pid == 0) {
		close(fd[0]);
		write_forever(path, fd[1]);
	}
	close(fd[1]);
	while (reported < 500) {
		ssize_t n = read(fd[0], block, sizeof(block));

		if (n <= 0)
			break;
		reported += n;
	}
	kill(pid, SIGKILL);
	for (ssize_t n; (n = read(fd[0], block, sizeof(block))) > 0;)
		reported += n;
	close(fd[0]);
	waitpid(pid, NULL, 0);
	int64_t found = count_lines(path, &torn);
	ok(reported >= 500, "killed after %" PRId64 " lines", reported);
	ok(found == reported || found == reported + 1, "%" PRId64 " are in the file", found);
	/* The kernel may stop between two pages of the last write. */
	struct error err;
	struct recorder *r = must_open((struct recorder_conf){.path = path, .append = true});
	is_int(recorder_close(r, &err), 0, "the lock is free");
	is_int(count_lines(path, &torn), found, "appending keeps every complete line");
	ok(!torn, "and removes an incomplete one");
}

static void secret_lines(void)
{
	struct secrets *s = secrets_new();
	struct error err;
	struct buf text = BUF(1 << 16);

	secrets_add(s, STR("abcdefgh"));
	struct recorder *r = must_open(
		(struct recorder_conf){.path = in_directory("secret.jsonl"), .secrets = s});
	is_int(write_step(r, "s.0", 0, 20, &err), 0, "a line with a secret");
	is_int(recorder_close(r, &err), 0, "closes");
	get_file(in_directory("secret.jsonl"), &text);
	ok(!strstr(buf_cstr(&text), "abcdefgh") && strstr(buf_cstr(&text), "\"<redacted>ijkl"),
	   "is written without it");
	buf_release(&text);
	secrets_free(s);
}

int main(void)
{
	if (!mkdtemp(directory))
		abort();
	log_set_level(LOG_QUIET);
	refusals();
	torn_tails();
	long_tail();
	threads();
	no_room();
	killed();
	secret_lines();
	remove_directory();
	return done();
}
