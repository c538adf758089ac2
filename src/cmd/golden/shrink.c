/* rolldbg shrink: the shortest sequence of a recording's calls that still causes a finding, or a
   divergence from the recording. */
#include "base/log.h"

#include "base/new_file.h"
#include "base/text.h"
#include "check/check.h"
#include "cmd/golden/driver.h"
#include "cmd/golden/goldens.h"
#include "cmd/golden/symptom.h"
#include "cmd/options/output.h"
#include "cmd/plan.h"
#include "cmd/progress.h"
#include "compare/minimize.h"
#include "json/write.h"
#include "recording/recorder.h"
#include "report/brief.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEFAULT_MAX_RUNS 1000
#define TRIES            3  /* with all calls, to see whether the symptom is reproducible */
#define LAST_TRIES       10 /* with the remaining calls, until the symptom is recorded */

#define OPTIONS shrink
#include "cmd/options/table.h"

/* The output: a recording and a policy with the same calls. */
struct shrink_files {
	struct buf recording, policy; /* their paths */
	bool replace;
};

struct shrinking {
	const struct context *context;
	const struct shrink_options *opts;
	struct goldens goldens;
	struct golden *golden;
	struct symptom symptom;
	struct driver driver;
	struct progress *progress;
	struct str *calls; /* raw JSON, one item per call */
	size_t count;
	size_t jobs, max_runs, runs;
	size_t tries;                    /* per list: several if the symptom is intermittent */
	struct shrink_attempt *attempts; /* that are being played */
	struct output out;
	struct shrink_files files;
};

/* One rollout to play, and what came of it. */
struct shrink_attempt {
	const struct sublist *list;
	struct recorder *recorder;
	bool seen;
	int64_t last_step;
	char message[320];
};

/* ---- the files ---- */

static struct str without_suffix(const char *path)
{
	struct str s = str_from(path);

	if (str_ends(s, STR(".jsonl")))
		s.n -= strlen(".jsonl");
	return s;
}

static int check_new(const struct buf *path, struct error *err)
{
	return access(buf_cstr(path), F_OK) == 0
	               ? error_set(err, FAIL_USAGE, "%s exists; use --force to overwrite it",
	                           buf_cstr(path))
	               : 0;
}

/* `out`: --out or NULL. */
static int choose_files(struct shrink_files *f, const char *from, const char *out, bool replace,
                        struct error *err)
{
	struct str stem = without_suffix(out ? out : from);

	*f = (struct shrink_files){BUF(BUF_MAX_SMALL), BUF(BUF_MAX_SMALL), replace};
	if (!out && strcmp(from, "-") == 0) {
		return error_set(
			err, FAIL_USAGE,
			"the recording is read from standard input: name the file to write "
			"with --out");
	}
	if (out)
		buf_text(&f->recording, out);
	else
		buf_printf(&f->recording, "%.*s.shrunk.jsonl", STR_ARG(stem));
	buf_printf(&f->policy, out ? "%.*s.policy.json" : "%.*s.shrunk.policy.json", STR_ARG(stem));
	return !replace && (check_new(&f->recording, err) || check_new(&f->policy, err)) ? -1 : 0;
}

static void write_policy(struct str calls, const struct golden *g, struct buf *out)
{
	struct str call;
	const char *between = "\n";

	buf_text(out, "{\n\t\"kind\": \"script\",\n\t\"name\": \"shrunk\",\n\t\"description\": ");
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	buf_printf(
		&text,
		"The calls of rollout %.*s that are needed to reproduce the finding or difference.",
		STR_ARG(g->want.id));
	json_quote(out, buf_view(&text));
	buf_text(out, ",\n\t\"calls\": [");
	for (size_t cursor = 0; json_next(calls, &cursor, &call); between = ",\n")
		buf_printf(out, "%s\t\t%.*s", between, STR_ARG(call));
	buf_text(out, "\n\t]\n}\n");
}

static int write_policy_file(const struct shrink_files *f, struct str calls, const struct golden *g,
                             struct error *err)
{
	AUTO_BUF text = BUF(SIZE_MAX / 2);

	write_policy(calls, g, &text);
	struct new_file_conf conf = {buf_cstr(&f->policy), .replace = f->replace};
	return new_file_put(&conf, buf_view(&text), err);
}

/* ---- playing ---- */

static void write_calls(const struct shrinking *s, const struct sublist *list, struct buf *out)
{

	struct json_writer w = jw_form(out, "[");
	for (size_t i = 0; i < list->count; i++)
		jw_raw(&w, s->calls[list->index[i]]);
	jw_end(&w);
}

static int play_one(void *ctx, size_t index, struct io *io, struct rollout_result *result,
                    struct error *err)
{
	struct shrinking *s = ctx;
	struct shrink_attempt *attempt = &s->attempts[index];
	AUTO_BUF calls = BUF(SIZE_MAX / 2);
	struct symptom_watch watch = {0};
	struct line_sink sink = {symptom_watch_line, &watch};

	write_calls(s, attempt->list, &calls);
	struct trial trial = {.golden = s->golden,
	                      .policy = {.calls = buf_view(&calls), .force_call = true},
	                      .sink = &sink,
	                      .recorder = attempt->recorder};
	int failed = symptom_watch_start(&watch, &s->symptom, err) ||
	             trial_run(&s->driver, &trial, io, result, err);

	if (!failed) {
		symptom_watch_finish(&watch);
		attempt->seen = watch.seen;
		attempt->last_step = watch.last_step;
		memcpy(attempt->message, watch.message, sizeof(attempt->message));
	}
	symptom_watch_release(&watch);
	return failed ? -1 : 0;
}

static int play(struct shrinking *s, struct shrink_attempt *attempts, size_t count,
                struct error *err)
{
	struct batch_conf batch = {.count = count, .jobs = s->jobs, .rollout = play_one, .ctx = s};
	struct batch_count done;

	s->attempts = attempts;
	if (driver_batch(&s->driver, s->context, batch, &done, err))
		return -1;
	s->runs += count;
	if (done.interrupted || done.done < done.total)
		return error_set(err, FAIL_INTERRUPTED, "interrupted after %zu runs", s->runs);
	if (s->driver.unreached) {
		*err = s->driver.peer;
		return -1;
	}
	return 0;
}

/* ---- the search ---- */

static int test(void *ctx, const struct sublist *lists, size_t count, bool *passes,
                struct error *err)
{
	struct shrinking *s = ctx;
	struct shrink_attempt *attempts = mem_array(count, sizeof(*attempts));
	int failed = 0;

	for (size_t t = 0; t < s->tries && !failed; t++) {
		size_t open = 0;

		for (size_t i = 0; i < count; i++)
			if (!passes[i])
				attempts[open++] = (struct shrink_attempt){.list = &lists[i]};
		failed = open ? play(s, attempts, open, err) : 0;
		for (size_t i = 0; i < open && !failed; i++)
			passes[attempts[i].list - lists] |= attempts[i].seen;
	}
	free(attempts);
	return failed;
}

static void show_progress(void *ctx, size_t left, size_t tests)
{
	struct shrinking *s = ctx;
	char text[96];

	snprintf(text, sizeof(text), "%zu of %zu calls left · %zu runs", left, s->count, s->runs);
	progress_show(s->progress, str_from(text));
	log_info("%s", text);
}

static const char *what(const struct shrinking *s)
{
	return s->opts->rule ? s->opts->rule : "divergence";
}

static int not_reproduced(const struct shrinking *s, struct error *err)
{
	if (s->opts->rule) {
		return error_set(
			err, FAIL_INPUT,
			"not reproduced: the %zu calls of rollout %.*s gave no finding of rule "
			"%s in %d runs at %s; make sure that it is the environment that was "
			"recorded, with the same seed, reset arguments and state source",
			s->count, STR_ARG(s->golden->want.id), what(s), TRIES,
			s->driver.target.name);
	}
	return error_set(err, FAIL_INPUT,
	                 "not reproduced: the %zu calls of rollout %.*s got the golden's replies "
	                 "in %d runs at %s; replay shows whether they diverge at all",
	                 s->count, STR_ARG(s->golden->want.id), TRIES, s->driver.target.name);
}

/* Plays all calls several times. *length: the most calls it took to see the symptom. */
static int reproduce(struct shrinking *s, const struct sublist *all, size_t *length,
                     struct error *err)
{
	struct shrink_attempt attempts[TRIES];
	int64_t last = -1;
	size_t seen = 0;

	for (size_t i = 0; i < TRIES; i++)
		attempts[i] = (struct shrink_attempt){.list = all};
	if (play(s, attempts, TRIES, err))
		return -1;
	for (size_t i = 0; i < TRIES; i++) {
		seen += attempts[i].seen;
		last = attempts[i].last_step > last ? attempts[i].last_step : last;
	}
	if (seen == 0)
		return not_reproduced(s, err);
	if (seen < TRIES) {
		log_warn(
			"flaky: %s appeared in %zu of %d runs of the same calls; each candidate is "
			"tried %d times, and the result may not be minimal",
			what(s), seen, TRIES, TRIES);
		s->tries = TRIES;
	}
	*length = last >= 0 && (size_t)last < all->count ? (size_t)last + 1 : all->count;
	return 0;
}

/* Calls after the symptom are usually not needed. */
static int cut_tail(struct shrinking *s, struct sublist *all, size_t length, struct error *err)
{
	struct sublist head = {all->index, length};
	bool passes = false;

	if (length < all->count && test(s, &head, 1, &passes, err))
		return -1;
	all->count = passes ? length : all->count;
	show_progress(s, all->count, 1);
	return 0;
}

static int search(struct shrinking *s, struct minimized *out, struct error *err)
{
	size_t *indexes = mem_array(s->count + 1, sizeof(*indexes));
	struct sublist all = {indexes, s->count};
	size_t length = 0;

	for (size_t i = 0; i < s->count; i++)
		indexes[i] = i;
	int failed = reproduce(s, &all, &length, err) || cut_tail(s, &all, length, err);

	free(indexes);
	if (failed)
		return -1;
	size_t left = s->max_runs > s->runs ? (s->max_runs - s->runs) / s->tries : 0;
	struct minimize_conf conf = {.count = all.count,
	                             .at_once = s->jobs,
	                             .max_tests = left,
	                             .test = test,
	                             .progress = show_progress,
	                             .ctx = s};

	return minimize(&conf, out, err);
}

/* ---- the result ---- */

/* Plays the list once more and records it. *seen: the symptom occurred. */
static int record(struct shrinking *s, const struct sublist *list, struct shrink_attempt *attempt,
                  struct error *err)
{
	struct recorder_conf conf = {.path = buf_cstr(&s->files.recording),
	                             /* the name was checked; overwrites a failed attempt */
	                             .force = true,
	                             .secrets = s->driver.target.secrets};
	int failed = 0;

	for (size_t t = 0; t < LAST_TRIES && !failed && !attempt->seen; t++) {
		*attempt = (struct shrink_attempt){.list = list};
		failed = recorder_new(&conf, &attempt->recorder, err) || play(s, attempt, 1, err);
		if (recorder_close(attempt->recorder, failed ? ERROR_IGNORED : err))
			failed = -1;
	}
	if (!failed && !attempt->seen) {
		log_warn("flaky: %s did not appear again in %d runs of the remaining calls",
		         what(s), LAST_TRIES);
	}
	return failed;
}

static void put_result(struct shrinking *s, const struct minimized *m, const struct buf *calls,
                       bool seen)
{

	json_line(
		&s->out.text, "summary",
		"rollout:%s,rule:%t,from:%i,to:%i,minimal:%b,flaky:%b,runs:%i,calls:%r,recording:%t,policy:%t",
		s->golden->want.id, s->opts->rule, (int64_t)s->count, (int64_t)m->count,
		m->is_minimal, s->tries > 1 || !seen, (int64_t)s->runs, buf_view(calls),
		buf_cstr(&s->files.recording), buf_cstr(&s->files.policy));
}

static void say_result(struct shrinking *s, const struct minimized *m,
                       const struct shrink_attempt *last)
{
	struct buf *out = &s->out.text;

	buf_printf(out, "%zu of %zu calls are enough%s · %zu runs\n", m->count, s->count,
	           m->is_minimal ? ", and each is needed" : "", s->runs);
	for (size_t i = 0; i < m->count; i++) {
		buf_printf(out, "%4zu  ", m->index[i]);
		brief_call(out, &s->golden->want.steps[m->index[i]]);
		buf_char(out, '\n');
	}
	if (last->seen)
		buf_printf(out, "%s: %s\n", what(s), last->message);
	if (!s->context->quiet) {
		buf_text(out, "written: ");
		text_escape(out, buf_view(&s->files.recording));
		buf_text(out, ", ");
		text_escape_line(out, buf_view(&s->files.policy));
	}
}

/* Returns the exit code. */
static int finish(struct shrinking *s, const struct minimized *m, struct error *err)
{
	struct sublist list = {m->index, m->count};
	AUTO_BUF calls = BUF(SIZE_MAX / 2);
	struct shrink_attempt last = {0};

	write_calls(s, &list, &calls);
	int failed = record(s, &list, &last, err) ||
	             write_policy_file(&s->files, buf_view(&calls), s->golden, err);

	progress_give_way(s->progress);
	if (!failed && !m->is_minimal)
		log_warn("stopped by --max-runs: the result may not be minimal");
	if (!failed && s->opts->json)
		put_result(s, m, &calls, last.seen);
	else if (!failed)
		say_result(s, m, &last);
	return failed || output_flush(&s->out, err) ? -1 : !last.seen;
}

/* ---- setting up ---- */

static int check_usage(const struct shrink_options *o, int argc, struct error *err)
{
	if (!o->rule == !o->divergence)
		return error_set(err, FAIL_USAGE, "needs --rule RULE or --divergence GOLDEN");
	if (o->divergence && argc) {
		return error_set(
			err, FAIL_USAGE,
			"--divergence GOLDEN shrinks the golden's own calls: omit the file");
	}
	if (o->rule && argc != 1) {
		return error_set(err, FAIL_USAGE, "--rule needs a recording: shrink FILE --rule %s",
		                 o->rule);
	}
	bool named[CHECKS_MAX];

	return o->rule && checks_read_list(o->rule, named, err) ? error_wrap(err, "--rule") : 0;
}

static int settle_numbers(struct shrinking *s, struct error *err)
{
	const struct opt_u64 *runs = &s->opts->max_runs;

	s->max_runs = runs->given ? (size_t)runs->value : DEFAULT_MAX_RUNS;
	s->jobs = opt_number(s->opts->jobs, 1);
	if (runs->given && runs->value <= TRIES) {
		return error_set(err, FAIL_USAGE, "--max-runs: expected more than %d, got %" PRIu64,
		                 TRIES, runs->value);
	}
	return descriptors_allow(s->jobs, err);
}

static int take_calls(struct shrinking *s, struct error *err)
{
	struct str call;

	s->calls = mem_array(s->golden->want.count + 1, sizeof(*s->calls));
	for (size_t cursor = 0; json_next(s->golden->calls, &cursor, &call);)
		s->calls[s->count++] = call;
	return s->count ? 0
	                : error_set(err, FAIL_INPUT,
	                            "rollout %.*s sent no call: there is nothing to shrink",
	                            STR_ARG(s->golden->want.id));
}

static int set_up(struct shrinking *s, int argc, char **argv, struct error *err)
{
	const struct shrink_options *o = s->opts;

	if (check_usage(o, argc, err) || settle_numbers(s, err))
		return -1;
	char *file = mem_text(str_from(argc ? argv[0] : o->divergence));
	const struct file_list files = {.paths = &file, .count = 1};
	int failed = goldens_read(&s->goldens, &files, &o->masks, NULL, err) ||
	             goldens_check_environment(&s->goldens, &o->target, err) ||
	             goldens_choose(&s->goldens, o->rule, o->rollout, &s->golden, err) ||
	             take_calls(s, err) || choose_files(&s->files, file, o->out, o->force, err) ||
	             driver_start(&s->driver, s->context, &o->target, err);

	if (!failed)
		symptom_init(&s->symptom, o->rule, o->divergence ? s->golden : NULL);
	s->goldens.path = file; /* name of their file */
	return failed ? -1 : 0;
}

static void tear_down(struct shrinking *s)
{
	progress_free(s->progress);
	driver_release(&s->driver);
	symptom_release(&s->symptom);
	goldens_release(&s->goldens);
	BUFS_RELEASE(&s->files.recording, &s->files.policy);
	output_release(&s->out);
	free(s->calls);
}

static int shrink_main(const struct context *c, const void *opts, int argc, char **argv,
                       struct error *err)
{
	const struct shrink_options *o = opts;
	struct shrinking s = {.context = c,
	                      .opts = o,
	                      .tries = 1,
	                      .out = output_of_results(o->json),
	                      .progress = progress_new(c)};
	struct minimized m = {0};

	driver_init(&s.driver, c);
	int code = set_up(&s, argc, argv, err) || search(&s, &m, err) ? -1 : finish(&s, &m, err);

	progress_give_way(s.progress);
	if (code < 0)
		env_target_hide(&s.driver.target, err);
	free(m.index);
	tear_down(&s);
	return code;
}

CODE(shrink)
