/* rolldbg tap: record what somebody else's client and environment say to each other. */
#include "tap/relay.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/options/credentials.h"
#include "cmd/options/target_options.h"
#include "cmd/progress.h"
#include "cmd/store/recordings.h"
#include "cmd/store/store.h"
#include "cmd/tap_faults.h"
#include "cmd/verdicts.h"
#include "env/state_source.h"
#include "net/listen.h"
#include "tap/episode.h"
#include "tap/job.h"
#include "tap/stdio.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TICK_MS      200
#define DRAIN_MS     2000 /* how long connections may last after the job has ended */
#define DEFAULT_PORT 9000
#define ADDRESS      "127.0.0.1"

#define OPTIONS tap
#include "cmd/options/table.h"

/* The recording of turns of a model that belong to no session. */
struct tap_apart {
	struct recordings recordings;
	struct recording_options options;
	char *path; /* NULL: not opened so far */
};

struct tapping {
	const struct context *context;
	const struct tap_options *opts;
	char **command; /* NULL: none */
	struct secrets *secrets;
	struct recordings recordings;
	struct tap_apart apart;
	struct tap_recording *recording;
	struct hints hints;
	struct verdicts verdicts;
	struct tap_engine *faults;
	struct state_source state; /* of --state */
	int64_t steps;             /* at the last tick */
	uint64_t last_ns;
	double rate;
	int signals;
	uint16_t port, model_port;
	pid_t job; /* 0: none, or it has ended */
	int job_code;
	uint64_t over_ns; /* when to stop, after the job; 0: not yet */
	bool interrupted;
};

/* ---- where the lines go besides the recording ---- */

static int take_line(void *ctx, const struct line *l, struct error *err)
{
	struct tapping *t = ctx;
	int failed = verdicts_feed(&t->verdicts, l, err);

	verdicts_print(&t->verdicts);
	return failed;
}

static int close_recording(void *ctx, void *own, struct error *err)
{
	struct tapping *t = ctx;
	int failed = recording_close(&t->recordings, own, err);

	free(own);
	return failed;
}

/* Opens it beside the recording of the rollouts, a file, once. */
static int open_apart_file(struct tap_apart *a, const struct recordings *rollouts,
                           struct recorder **out, struct error *err)
{
	static const struct plan no_plan = {.count = 0};
	struct str path = buf_view(&rollouts->path);
	AUTO_BUF name = BUF(BUF_MAX_SMALL);

	if (!a->path) {
		path.n -= str_ends(path, STR(".jsonl")) ? sizeof(".jsonl") - 1 : 0;
		buf_printf(&name, "%.*s.model.jsonl", STR_ARG(path));
		a->path = mem_text(buf_view(&name));
		a->options = *rollouts->options;
		a->options.out = a->path;
		if (recordings_choose(&a->recordings, rollouts->context, &a->options, &no_plan,
		                      rollouts->secrets, err) ||
		    recordings_open(&a->recordings, err)) {
			return -1;
		}
	}
	*out = a->recordings.recorder;
	return 0;
}

/* Turns without a session are beside the rollouts. */
static int open_recording(void *ctx, const char *rollout, bool apart, struct recorder **out,
                          void **own, struct error *err)
{
	struct tapping *t = ctx;

	if (apart && !t->recordings.directory && !str_is(buf_view(&t->recordings.path), "-"))
		return open_apart_file(&t->apart, &t->recordings, out, err);
	struct recording *r = mem_new(sizeof(*r));
	*own = r;
	int failed = recording_open(&t->recordings, rollout, r, err);
	*out = r->recorder;
	return failed;
}

/* ---- how far it is ---- */

static void put_counts(struct tapping *t, struct buf *out)
{
	const struct tap_counts *c = tap_recording_counts(t->recording);
	struct judge_summary s;
	int64_t failed = 0;

	judge_summary(t->verdicts.judge, &s);
	for (size_t i = FAILURE_NONE + 1; i < FAILURE_CAUSES; i++)
		failed += s.failures.of[i];
	buf_printf(out, "%llu open (%llu at most) · %llu episode%s · %llu step%s",
	           (unsigned long long)c->open, (unsigned long long)c->most_open,
	           (unsigned long long)c->episodes, c->episodes == 1 ? "" : "s",
	           (unsigned long long)c->steps, c->steps == 1 ? "" : "s");
	if (s.effective >= 0)
		buf_printf(out, " · %lld effective", (long long)s.effective);
	buf_printf(out, " · %llu refused · %llu replaced", (unsigned long long)c->refused,
	           (unsigned long long)c->replaced);
	if (failed > (int64_t)c->refused)
		buf_printf(out, " · %lld failed or void", (long long)failed);
}

static void show_progress(struct tapping *t)
{
	const struct clock *clock = &t->context->clock;
	uint64_t now = clock->monotonic_ns(clock->ctx);
	int64_t steps = (int64_t)tap_recording_counts(t->recording)->steps;
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	if (t->last_ns) {
		double rate = (double)(steps - t->steps) * 1e9 / (double)(now - t->last_ns + 1);

		t->rate += (rate - t->rate) / 5;
	}
	t->steps = steps;
	t->last_ns = now;
	put_counts(t, &text);
	buf_printf(&text, " · %.0f steps/s", t->rate);
	progress_show(t->verdicts.progress, buf_view(&text));
}

static bool on_tick(void *ctx)
{
	struct tapping *t = ctx;
	const struct clock *clock = &t->context->clock;

	(void)tap_recording_tick(t->recording);
	if (t->verdicts.progress)
		show_progress(t);
	return !t->over_ns || (clock->monotonic_ns(clock->ctx) < t->over_ns &&
	                       tap_recording_counts(t->recording)->open);
}

/* ---- signals ---- */

static void print_summary(struct tapping *t)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	put_counts(t, &text);
	progress_give_way(t->verdicts.progress);
	fprintf(stderr, "rolldbg: %s\n", buf_cstr(&text));
	progress_go_on(t->verdicts.progress);
}

/* Connections that the job left are given a moment to end by themselves. */
static void follow_job(struct tapping *t)
{
	const struct clock *clock = &t->context->clock;

	if (t->job && tap_job_ended(t->job, &t->job_code)) {
		t->job = 0;
		t->over_ns = clock->monotonic_ns(clock->ctx) + DRAIN_MS * UINT64_C(1000000);
	}
}

static bool on_wake(void *ctx)
{
	struct tapping *t = ctx;

	for (enum tap_signal s; (s = tap_signals_next()) != TAP_SIGNAL_NONE;)
		if (s == TAP_SIGNAL_SUMMARY)
			print_summary(t);
		else
			follow_job(t);
	return true;
}

/* A job is asked to stop and followed to its end; asked again, we stop. (At a terminal, Ctrl-C
   reaches both.) */
static bool on_stop(void *ctx)
{
	struct tapping *t = ctx;
	bool again = t->interrupted;

	t->interrupted = true;
	if (!t->job)
		return false;
	int number = t->context->take_stop();
	if (number != SIGINT || again)
		kill(t->job, again ? SIGKILL : number);
	return !again;
}

/* ---- setting up ---- */

static int collect_secrets(struct tapping *t, struct error *err)
{
	t->secrets = secrets_new();
	credentials_add_target(t->secrets, t->opts->to ? t->opts->to : "");
	return target_add_secrets(t->secrets, &t->opts->secrets, &t->opts->secret_variables,
	                          t->context, err);
}

static int read_state_option(struct tapping *t, struct error *err)
{
	const char *state = t->opts->state;

	if (!state)
		return 0;
	if (strncmp(state, "resource:", 9) != 0 && strncmp(state, "tool:", 5) != 0) {
		return error_set(err, FAIL_USAGE,
		                 "--state %s: expected resource:URI or tool:NAME[:JSON]", state);
	}
	return state_source_parse(str_from(state), &t->state, err);
}

/* Standard output belongs to the command, if there is one. */
static const char *output_owner(const struct tapping *t)
{
	const char *o = t->opts->recording.out;

	return o && !strcmp(o, "-") ? "--out -" : t->command ? "the command" : NULL;
}

static int open_verdicts(struct tapping *t, struct error *err)
{
	t->verdicts =
		(struct verdicts){.context = t->context,
	                          .out = output_owner(t) ? output_to_stderr() : output_to_stdout(),
	                          .ends_count = true,
	                          .fresh_file = t->recordings.stored,
	                          .fold = !log_wants(LOG_INFO),
	                          .brief = true,
	                          .options = &t->opts->verdict,
	                          .recordings = &t->recordings,
	                          .many = true};
	return verdicts_open(&t->verdicts, &t->hints, &t->opts->report, output_owner(t), err);
}

static int set_up(struct tapping *t, struct error *err)
{
	static const struct plan no_plan = {.count = 0};
	const struct tap_options *o = t->opts;

	return faults_new(&o->faults, opt_number(o->delay, 1000), opt_number(o->max_envs, 1),
	                  &t->faults, err) ||
	       read_state_option(t, err) || collect_secrets(t, err) ||
	       verdict_hints(&o->verdict, t->context, &t->hints, err) ||
	       recordings_choose(&t->recordings, t->context, &o->recording, &no_plan, t->secrets,
	                         err) ||
	       recordings_check_directory(&t->recordings, err) || open_verdicts(t, err) ||
	       recordings_open(&t->recordings, err) || tap_signals_open(&t->signals, err);
}

/* ---- the relay ---- */

static int announce(struct tapping *t, struct error *err)
{
	struct output out = output_owner(t) ? output_to_stderr() : output_to_stdout();
	const char *at = t->opts->bind ? t->opts->bind : ADDRESS;

	buf_printf(&out.text, "listening on %s:%u\n", at, t->port);
	if (t->opts->model_port.given)
		buf_printf(&out.text, "model: listening on %s:%u\n", at, t->model_port);
	return output_close(&out, err);
}

static int start_job(struct tapping *t, struct error *err)
{
	char url[64];

	snprintf(url, sizeof(url), "http://%s:%u", ADDRESS, (unsigned)t->port);
	return t->command ? tap_job_start(t->command, "ROLLDBG_TAP_URL", url, NULL, &t->job, err)
	                  : 0;
}

static int relay(struct tapping *t, struct error *err)
{
	const struct tap_options *o = t->opts;
	struct stream_server_conf to = {
		.url = o->to, .ca_file = o->ca_file, .insecure = o->insecure};
	struct stream_server_conf model = {
		.url = o->model_to, .ca_file = o->ca_file, .insecure = o->insecure};
	struct tap_relay_conf conf = {.clock = t->context->clock,
	                              .model_listener = -1,
	                              .recording = t->recording,
	                              .faults = t->faults,
	                              .stop_fd = t->context->stop.fd,
	                              .wake_fd = t->signals,
	                              .on_wake = on_wake,
	                              .on_stop = on_stop,
	                              .on_tick = on_tick,
	                              .tick_ms = TICK_MS,
	                              .ctx = t};

	t->model_port = (uint16_t)o->model_port.value;
	t->port = o->port.given ? (uint16_t)o->port.value : DEFAULT_PORT;
	listen_allow_many();
	const char *at = o->bind ? o->bind : ADDRESS;
	int failed =
		stream_server_new(&to, &conf.server, err) ||
		(o->model_to && stream_server_new(&model, &conf.model, err)) ||
		listen_on(at, &t->port, &conf.listener, err) ||
		(o->model_port.given && listen_on(at, &t->model_port, &conf.model_listener, err));
	if (!failed) {
		t->verdicts.progress = progress_new(t->context);
		failed = announce(t, err) || start_job(t, err) || tap_relay(&conf, err);
		close(conf.listener);
		if (conf.model_listener >= 0)
			close(conf.model_listener);
	}
	stream_server_free(conf.model);
	stream_server_free(conf.server);
	return failed ? -1 : 0;
}

static int wrap(struct tapping *t, struct error *err)
{
	struct tap_stdio_conf conf = {.clock = t->context->clock,
	                              .command = t->command,
	                              .stop_fd = t->context->stop.fd,
	                              .child_fd = t->signals,
	                              .take_stop = t->context->take_stop,
	                              .recording = t->recording};

	return tap_stdio(&conf, &t->job_code, err);
}

static int tap(struct tapping *t, struct error *err)
{
	struct line_sink sink = {take_line, t};
	struct tap_recording_conf conf = {.clock = t->context->clock,
	                                  .version = ROLLDBG_VERSION,
	                                  .url = t->opts->to ? t->opts->to : t->command[0],
	                                  .sinks = &sink,
	                                  .sink_count = 1,
	                                  .open = open_recording,
	                                  .close = close_recording,
	                                  .ctx = t,
	                                  .model_url = t->opts->model_to,
	                                  .faults = t->faults,
	                                  .asks = t->opts->ask_state || t->opts->state,
	                                  .state = t->opts->state ? &t->state : NULL,
	                                  .idle_ns = t->opts->idle.value * UINT64_C(1000000)};

	t->recording = tap_recording_new(&conf);
	return t->opts->to ? relay(t, err) : wrap(t, err);
}

/* ---- the end ---- */

struct tap_total {
	uint64_t n;
	const char *what;
};

/* Those that are not 0, and a line feed. */
static void put_totals(const struct tap_total *totals, size_t count, struct buf *out)
{
	for (size_t i = 0; i < count; i++)
		if (totals[i].n)
			buf_printf(out, ", %llu %s", (unsigned long long)totals[i].n,
			           totals[i].what);
	buf_char(out, '\n');
}

static void say_model(const struct tapping *t, struct buf *out)
{
	const struct tap_join_counts *c = &tap_recording_counts(t->recording)->model;
	const struct tap_total totals[] = {
		{c->apart, "recorded apart"},
		{c->ambiguous, "calls that several turns could have made"},
		{c->failed, "requests without a reply"},
		{c->unread, "requests that could not be read"}};

	buf_printf(out, "model: %llu turns, joined by name %llu, by content %llu, by time %llu",
	           (unsigned long long)c->turns, (unsigned long long)c->named,
	           (unsigned long long)c->content, (unsigned long long)c->time);
	put_totals(totals, ARRAY_LEN(totals), out);
	if (t->apart.path)
		text_put_path(out, "apart", t->apart.path);
}

static void say_summary(struct tapping *t)
{
	const struct tap_counts *c = tap_recording_counts(t->recording);
	struct buf *out = &t->verdicts.out.text;
	const struct tap_total totals[] = {
		{c->refused, "refused"},
		{c->replaced, "replaced without a reset"},
		{c->without_episode, "without an episode, not recorded"},
		{c->remarks, "connections with something else than the protocol"}};

	verdicts_summary(&t->verdicts, t->verdicts.judge);
	if (!reports_have_table(t->verdicts.reports) || t->context->quiet)
		return;
	buf_printf(out, "sessions: %llu, at most %llu at once", (unsigned long long)c->sessions,
	           (unsigned long long)c->most_open);
	put_totals(totals, ARRAY_LEN(totals), out);
	if (t->opts->model_to)
		say_model(t, out);
	if (!t->opts->recording.out)
		text_put_path(out, "recorded", buf_cstr(&t->recordings.path));
}

static int conclude(struct tapping *t, struct error *err)
{
	const struct error *broken = tap_recording_failure(t->recording);

	judge_finish(t->verdicts.judge);
	say_summary(t);
	int failed = reports_close(t->verdicts.reports, t->verdicts.judge, NULL, err);
	if (output_flush(&t->verdicts.out, failed ? ERROR_IGNORED : err) || failed)
		return -1;
	if (t->job_code || (!t->opts->to && !t->opts->verdict.fail_on))
		return t->job_code; /* the client of a stdio server sees the server's code */
	if (broken->kind != FAIL_NONE) {
		*err = *broken;
		return -1;
	}
	return t->verdicts.at_or_above > 0 || (t->verdicts.broken > 0 && !t->opts->verdict.only);
}

static void tear_down(struct tapping *t)
{
	tap_recording_free(t->recording);
	tap_engine_free(t->faults);
	state_source_release(&t->state);
	verdicts_release(&t->verdicts);
	verdict_hints_release(&t->hints);
	recordings_release(&t->recordings);
	recordings_release(&t->apart.recordings);
	free(t->apart.path);
	secrets_free(t->secrets);
	free(t->command);
}

/* The operands are not terminated: options that stood before them follow. */
static char **copy_command(int argc, char *const *argv)
{
	char **command = mem_array((size_t)argc + 1, sizeof(*command));

	memcpy(command, argv, (size_t)argc * sizeof(*command));
	return command;
}

static int tap_main(const struct context *c, const void *opts, int argc, char **argv,
                    struct error *err)
{
	struct tapping t = {.context = c,
	                    .opts = opts,
	                    .command = argc ? copy_command(argc, argv) : NULL,
	                    .signals = -1};

	if (!t.opts->to && !argc) {
		return error_set(err, FAIL_USAGE,
		                 "--to URL names the server; or -- COMMAND starts a server that "
		                 "speaks over its standard streams");
	}
	int code = set_up(&t, err) || tap(&t, err) ? -1 : 0;
	progress_free(t.verdicts.progress);
	t.verdicts.progress = NULL;
	code = code ? code : conclude(&t, err);
	if (recordings_close(&t.recordings, code < 0 ? ERROR_IGNORED : err))
		code = -1;
	if (recordings_close(&t.apart.recordings, code < 0 ? ERROR_IGNORED : err))
		code = -1;
	if (code < 0)
		reports_give_up(t.verdicts.reports, NULL, t.verdicts.judge, err);
	tear_down(&t);
	return code;
}

CODE(tap)
