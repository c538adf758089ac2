/* Scenarios of fixtures/scenario: `rolldbg run` against a scripted server, with checks of
   its recording, verdicts and exit code. */
#include "json/canon.h"
#include "json/scan.h"
#include "scripted_server.h"
#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#define DIRECTORY "fixtures/scenario"

extern char **environ;

/* The results of a run. */
struct outcome_of_run {
	int exit_code;
	struct buf recording, out, err;
	int calls;
	struct buf complaints;
};

/* ---- running ---- */

static char dir[] = "/tmp/rolldbg-scenario-XXXXXX";

static void path_in_dir(char out[64], const char *name)
{
	snprintf(out, 64, "%s/%s", dir, name);
}

static void read_file(const char *name, struct buf *out)
{
	char path[64], piece[16384];
	size_t n;

	path_in_dir(path, name);
	FILE *f = fopen(path, "rb");
	*out = BUF((size_t)256 << 20);
	buf_text(out, "");
	while (f && (n = fread(piece, 1, sizeof(piece), f)) > 0)
		buf_add(out, piece, n);
	if (f)
		fclose(f);
}

static pid_t spawn(char *const *argv)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t reset;
	char out[64], err[64];
	pid_t pid;

	path_in_dir(out, "out");
	path_in_dir(err, "err");
	/* a test in the background ignores SIGINT; its children must not */
	sigemptyset(&reset);
	sigaddset(&reset, SIGINT);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &reset);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_addopen(&files, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (posix_spawn(&pid, argv[0], &files, &attributes, argv, environ) != 0) {
		perror(argv[0]);
		exit(1);
	}
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return pid;
}

static int await_exit(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static const char *program(void)
{
	const char *given = getenv("ROLLDBG");

	return given ? given : "./rolldbg";
}

/* With $port replaced; valid as long as the scenario. */
static char *filled(struct scenario *s, struct scripted *server, struct str text)
{
	struct scripted_link nobody = {.server = server};
	struct buf out = BUF(BUF_MAX_SMALL);

	scripted_fill(&nobody, text, &out);
	char *kept = arena_new(&s->arena, out.n + 1);
	memcpy(kept, buf_cstr(&out), out.n);
	buf_release(&out);
	return kept;
}

static void run_scenario(struct scenario *s, struct outcome_of_run *r)
{
	char recording[64], exe[512];
	char *argv[SCENARIO_MAX] = {
		exe,  (char[]){"run"},   (char[]){"--json"}, (char[]){"--env"},
		NULL, (char[]){"--out"}, recording,          (char[]){"--force"}};
	struct scripted server;
	struct buf url = BUF(BUF_MAX_SMALL);
	size_t n = 8;

	snprintf(exe, sizeof(exe), "%s", program());
	scripted_start(&server, s);
	buf_text(&url, "http://127.0.0.1:$port");
	buf_str(&url, s->path);
	argv[4] = filled(s, &server, s->env.p ? s->env : buf_view(&url));
	buf_release(&url);
	path_in_dir(recording, "run.jsonl");
	unlink(recording);
	for (size_t i = 0; i < s->options.count; i++) {
		struct str rest = s->options.item[i].rest;

		while (rest.n && n + 1 < SCENARIO_MAX) {
			struct saying word = scenario_split(rest);

			argv[n++] = filled(s, &server, word.word);
			rest = word.rest;
		}
	}
	pid_t pid = spawn(argv);
	scripted_client(&server, pid);
	r->exit_code = await_exit(pid);
	scripted_stop(&server);
	r->calls = server.calls;
	r->complaints = server.complaints;
	read_file("run.jsonl", &r->recording);
	read_file("out", &r->out);
	read_file("err", &r->err);
}

/* ---- the recording ---- */

static bool next_line(struct str *rest, struct str *line)
{
	const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;

	if (!rest->n)
		return false;
	*line = (struct str){rest->p, end ? (size_t)(end - rest->p) : rest->n};
	*rest = str_skip(*rest, line->n + 1);
	return true;
}

static bool is_kind(struct str line, struct str kind)
{
	return json_is(JSON_GET(line, "type"), kind) || json_is(JSON_GET(line, "event"), kind);
}

/* "step.2", "end", "notification.1": a line's type or event, and its number. */
static struct str find_line(const struct outcome_of_run *r, struct str selector)
{
	struct str rest = buf_view(&r->recording), line, kind = selector;
	uint64_t wanted = 0;

	for (size_t i = 0; i < selector.n; i++) {
		if (selector.p[i] == '.') {
			kind.n = i;
			text_u64(str_skip(selector, i + 1), &wanted);
		}
	}
	while (next_line(&rest, &line))
		if (is_kind(line, kind) && wanted-- == 0)
			return line;
	return STR_NONE;
}

static uint64_t count_lines(const struct outcome_of_run *r, struct str kind)
{
	struct str rest = buf_view(&r->recording), line;
	uint64_t n = 0;

	while (next_line(&rest, &line))
		n += is_kind(line, kind);
	return n;
}

static bool findings_have(const struct outcome_of_run *r, struct str rule)
{
	struct str rest = buf_view(&r->out), line;

	while (next_line(&rest, &line)) {
		if (json_is(JSON_GET(line, "type"), STR("finding")) &&
		    (!rule.n || json_is(JSON_GET(line, "rule"), rule))) {
			return true;
		}
	}
	return false;
}

/* ---- what is wanted ---- */

static bool contains(struct str text, struct str part)
{
	for (; text.n >= part.n; text = str_skip(text, 1)) {
		if (str_starts(text, part))
			return true;
		if (!text.n)
			break;
	}
	return false;
}

static bool value_is(struct str value, struct str wanted)
{
	struct buf canon[2] = {BUF(BUF_MAX_MESSAGE), BUF(BUF_MAX_MESSAGE)};

	if (str_is(wanted, "absent"))
		return !value.p;
	if (wanted.n && wanted.p[0] == '~')
		return contains(value, str_skip(wanted, 1));
	json_canon(value, NULL, JSON_EDIT_DROP, &canon[0]);
	json_canon(wanted, NULL, JSON_EDIT_DROP, &canon[1]);
	bool same = value.p && str_eq(buf_view(&canon[0]), buf_view(&canon[1]));
	buf_release(&canon[0]);
	buf_release(&canon[1]);
	return same;
}

static bool line_holds(const struct outcome_of_run *r, struct str what)
{
	struct saying line = scenario_split(what), value = scenario_split(line.rest);
	struct buf scratch = BUF(BUF_MAX_MESSAGE);
	struct str found = find_line(r, line.word);
	struct str got = json_point(found, value.word, &scratch);
	bool good = found.p && value_is(got, value.rest);

	if (!good) {
		fprintf(stderr, "# wanted %.*s\n#    got %.*s\n", STR_ARG(what),
		        (int)(got.n < 2000 ? got.n : 2000), got.p ? got.p : "");
	}
	buf_release(&scratch);
	return good;
}

static bool number_is(const char *what, struct str wanted, uint64_t got)
{
	uint64_t n = 0;

	if (text_u64(wanted, &n) && n == got)
		return true;
	fprintf(stderr, "# %s: wanted %.*s, got %llu\n", what, STR_ARG(wanted),
	        (unsigned long long)got);
	return false;
}

static bool has_expected(const struct outcome_of_run *r, struct saying w)
{
	struct saying rest = scenario_split(w.rest);

	if (str_is(w.word, "exit"))
		return number_is("exit", w.rest, (uint64_t)r->exit_code);
	if (str_is(w.word, "calls"))
		return number_is("calls", w.rest, (uint64_t)r->calls);
	if (str_is(w.word, "count"))
		return number_is("count", rest.rest, count_lines(r, rest.word));
	if (str_is(w.word, "before")) {
		struct str first = find_line(r, rest.word), then = find_line(r, rest.rest);

		return first.p && then.p && first.p < then.p;
	}
	if (str_is(w.word, "stderr"))
		return contains(buf_view(&r->err), w.rest);
	if (str_is(w.word, "finding"))
		return findings_have(r, w.rest);
	if (str_is(w.word, "clean"))
		return !findings_have(r, STR(""));
	return line_holds(r, w.rest);
}

/* check gives the same verdicts for the same bytes. */
static bool offline_agrees(const struct outcome_of_run *r)
{
	char exe[512], recording[64];
	char *argv[] = {exe, (char[]){"check"}, (char[]){"--json"}, recording, NULL};
	struct buf out;

	snprintf(exe, sizeof(exe), "%s", program());
	path_in_dir(recording, "run.jsonl");
	await_exit(spawn(argv));
	read_file("out", &out);
	bool same = str_eq(buf_view(&out), buf_view(&r->out));
	if (!same) {
		fprintf(stderr, "# run said:\n%s# check says:\n%s", buf_cstr(&r->out),
		        buf_cstr(&out));
	}
	buf_release(&out);
	return same;
}

static void try_scenario(const char *name)
{
	struct scenario s;
	struct outcome_of_run r;
	char file[512];
	bool good;

	snprintf(file, sizeof(file), DIRECTORY "/%s", name);
	scenario_read(&s, file);
	run_scenario(&s, &r);
	good = r.complaints.n == 0 && s.wants.count > 0;
	for (size_t i = 0; i < s.wants.count; i++) {
		struct saying w = s.wants.item[i];

		if (!has_expected(&r, w)) {
			fprintf(stderr, "# not so: %.*s %.*s\n", STR_ARG(w.word), STR_ARG(w.rest));
			good = false;
		}
	}
	good = (!r.recording.n || offline_agrees(&r)) && good;
	if (!good) {
		tap_note("server", buf_cstr(&r.complaints));
		fprintf(stderr, "%s\n%s\n", buf_cstr(&r.err), buf_cstr(&r.out));
		fprintf(stderr, "%.20000s\n", buf_cstr(&r.recording));
	}
	ok(good, "%s: %.*s", name, STR_ARG(s.title));
	buf_release(&r.recording);
	buf_release(&r.out);
	buf_release(&r.err);
	buf_release(&r.complaints);
	arena_release(&s.arena);
}

static int is_scenario(const struct dirent *d)
{
	return str_ends(str_from(d->d_name), STR(".scenario"));
}

/* Operands: run only these scenarios. */
int main(int argc, char **argv)
{
	struct dirent **found;

	if (!mkdtemp(dir)) {
		perror(dir);
		return 1;
	}
	for (int i = 1; i < argc; i++)
		try_scenario(argv[i]);
	int count = argc > 1 ? 0 : scandir(DIRECTORY, &found, is_scenario, alphasort);
	for (int i = 0; i < count; i++) {
		try_scenario(found[i]->d_name);
		free(found[i]);
	}
	if (argc == 1) {
		ok(count > 0, "there are scenarios");
		free(found);
	}
	static const char *const left[] = {"run.jsonl", "out", "err"};
	for (size_t i = 0; i < ARRAY_LEN(left); i++) {
		char path[64];

		path_in_dir(path, left[i]);
		unlink(path);
	}
	rmdir(dir);
	return done();
}
