/* rolldbg list: the recordings of the state directory. */
#define _XOPEN_SOURCE 700 /* strptime */
#include "base/base.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "check/judge.h"
#include "cmd/cmd.h"
#include "cmd/options/output.h"
#include "cmd/store/manifest.h"
#include "cmd/store/store.h"
#include "json/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the row of a recording: its origin and its verdict ---- */

enum stored_verdict {
	STORED_SILENT, /* no finding, and some step could be judged */
	STORED_WARNING,
	STORED_ERROR,    /* a finding, or a rollout that was refused or failed */
	STORED_UNKNOWN,  /* no finding, and no step could be judged */
	STORED_UNUSABLE, /* not readable as a recording */
	STORED_VERDICTS
};

struct stored_summary {
	enum stored_verdict verdict;
	struct judge_summary sums;
	/* Of the first rollout, in the arena; absent if not recorded. */
	struct str task, env, protocol, url, status;
	/* runs of consecutive rollouts with the same task; at least 1 */
	int64_t tasks;
	const char *rules[CHECKS_MAX]; /* rules with findings, in order of their first finding */
	size_t rule_count;
	char why[200]; /* why it is unusable */
};

struct summarizing {
	struct arena *arena;
	struct stored_summary *out;
	bool broken;
	struct str last_task;
};

static const char *const stored_verdicts[STORED_VERDICTS] = {
	[STORED_SILENT] = "no findings", [STORED_WARNING] = "warning",   [STORED_ERROR] = "error",
	[STORED_UNKNOWN] = "unknown",    [STORED_UNUSABLE] = "unusable",
};

static bool stored_summary_found(const struct stored_summary *s, const char *rule)
{
	for (size_t i = 0; i < s->rule_count; i++)
		if (!strcmp(s->rules[i], rule))
			return true;
	return false;
}

static void take_header(struct summarizing *s, const struct line *l)
{
	struct stored_summary *o = s->out;

	if (o->protocol.p)
		return;
	o->env = json_text(s->arena, JSON_GET(l->value[KEY_ENV], "name"));
	o->protocol = json_text(s->arena, JSON_GET(l->value[KEY_ENV], "protocol"));
	o->url = json_text(s->arena, JSON_GET(l->value[KEY_META], "url"));
}

static void take_line(void *ctx, const struct evidence_update *u)
{
	if (u->derived.line && u->derived.line->type == LINE_HEADER)
		take_header(ctx, u->derived.line);
}

static void take_rules(struct stored_summary *o, const struct rollout_verdict *v)
{
	for (size_t i = 0; i < v->finding_count; i++) {
		const char *rule = v->findings[i].rule;

		if (!stored_summary_found(o, rule) && o->rule_count < ARRAY_LEN(o->rules))
			o->rules[o->rule_count++] = rule;
	}
}

static void take_verdict(void *ctx, const struct rollout_verdict *v)
{
	struct summarizing *s = ctx;

	take_rules(s->out, v);
	if (!v->rollout.p)
		return;
	s->broken = s->broken || v->status == END_REFUSED || v->status == END_UNREACHABLE ||
	            v->status == END_FAILED;
	if (!s->out->status.p) {
		s->out->status = str_from(end_status_name(v->status));
		s->out->task = arena_str(s->arena, v->task);
	}
	if (s->out->tasks == 0 || !str_eq(v->task, s->last_task)) {
		s->last_task = arena_str(s->arena, v->task);
		s->out->tasks++;
	}
}

static enum stored_verdict verdict_of(const struct judge_summary *sums, bool broken)
{
	if (sums->errors || broken)
		return STORED_ERROR;
	if (sums->warnings)
		return STORED_WARNING;
	return sums->steps && sums->effective < 0 ? STORED_UNKNOWN : STORED_SILENT;
}

/* Reads and judges one file. */
static void stored_summarize(const char *path, struct arena *arena, struct stored_summary *out)
{
	struct summarizing s = {.arena = arena, .out = out};
	const struct judge_conf conf = {.line = take_line, .verdict = take_verdict, .ctx = &s};
	struct judge *j = NULL;
	struct error err;

	*out = (struct stored_summary){.verdict = STORED_UNUSABLE};
	if (judge_new(&conf, &j, &err) || judge_recording(j, path, NULL, NULL, &err)) {
		text_copy(out->why, sizeof(out->why), str_from(err.text));
		judge_free(j);
		return;
	}
	judge_finish(j);
	judge_summary(j, &out->sums);
	judge_free(j);
	out->verdict = verdict_of(&out->sums, s.broken);
}

/* ---- points in time: 2d (ago), 2026-11-22 ---- */

#define AGE_TEXT 32

/* Accepts only an age: 30d. */
static bool age_parse_ago(const char *text, uint64_t now_unix_ms, char out[AGE_TEXT])
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
	size_t n = strlen(text);
	uint64_t number;

	if (n < 2 || !text_u64((struct str){text, n - 1}, &number))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (text[n - 1] != units[i].unit)
			continue;
		uint64_t most = now_unix_ms / 1000 / units[i].seconds;
		uint64_t ago = (number < most ? number : most) * units[i].seconds * 1000;
		char stamp[32];

		clock_format(now_unix_ms - ago, stamp);
		snprintf(out, AGE_TEXT, "%.19s", stamp);
		return true;
	}
	return false;
}

/* Also accepts a day, 2026-11-22. Times compare as strings. */
static bool age_parse(const char *text, uint64_t now_unix_ms, char out[AGE_TEXT])
{
	struct tm tm = {.tm_mday = 1};
	const char *end = strptime(text, "%Y-%m-%d", &tm);

	/* strptime also takes 2026-1-2 */
	if (!end || *end || strlen(text) != strlen("2026-11-22"))
		return age_parse_ago(text, now_unix_ms, out);
	snprintf(out, AGE_TEXT, "%s", text);
	return true;
}

/* ---- recordings ---- */

#define NAME_COLUMNS    4
#define VERDICT_COLUMNS 30
#define TASK_COLUMNS    20
#define ENV_COLUMNS     24
#define FIXED_COLUMNS   ((size_t)39) /* the name, the time, "100 steps", and the gaps */
#define CELL_LEAST      ((size_t)8)

#define OPTIONS list
#include "cmd/options/table.h"

struct store_listing {
	const struct context *context;
	const struct list_options *opts;
	struct stored stored;
	char since[AGE_TEXT]; /* "": no limit */
	struct output out;
	size_t shown;
};

/* 2026-11-22T12:30:00: from the name of a file that `run` named, else the modification time. */
static void time_of(const struct store_listing *l, size_t index, char out[AGE_TEXT])
{
	const char *name = l->stored.names[index];
	struct stat st = {0};

	snprintf(out, AGE_TEXT, "%.19s", name);
	if (strlen(name) > 19 && name[10] == 'T' && name[13] == '-' && name[16] == '-') {
		out[13] = out[16] = ':';
		return;
	}
	AUTO_BUF path = BUF(BUF_MAX_SMALL);
	stored_path(&l->stored, index, &path);
	if (stat(buf_cstr(&path), &st) == 0 && st.st_mtime > 0) {
		char stamp[32];

		clock_format((uint64_t)st.st_mtime * 1000, stamp);
		snprintf(out, AGE_TEXT, "%.19s", stamp);
	}
}

/* ---- which ones ---- */

static bool is_wanted(const struct store_listing *l, const struct stored_summary *s)
{
	const struct str part = str_from(l->opts->env);

	if (l->opts->finding && !stored_summary_found(s, l->opts->finding))
		return false;
	return !part.p || find_in(s->env, part) || find_in(s->protocol, part) ||
	       find_in(s->url, part);
}

/* ---- printing ---- */

static void put_cell(struct buf *out, struct str text, size_t columns)
{
	size_t used = text_escape_cut(out, text.p ? text : STR("-"), columns);

	buf_printf(out, "%*s", (int)(columns - used) + 2, "");
}

struct list_columns {
	size_t verdict, task, env;
};

/* On a narrow terminal the task and the environment are cut first. */
static struct list_columns columns_of(const struct style *style)
{
	struct list_columns c = {VERDICT_COLUMNS, TASK_COLUMNS, ENV_COLUMNS};

	if (style->terminal && style->columns < FIXED_COLUMNS + c.verdict + c.task + c.env) {
		size_t room =
			at_least(style->columns, FIXED_COLUMNS + 3 * CELL_LEAST) - FIXED_COLUMNS;

		c.verdict = at_most(c.verdict, room - 2 * CELL_LEAST);
		c.task = at_most(c.task, (room - c.verdict) / 2);
		c.env = at_most(c.env, room - c.verdict - c.task);
	}
	return c;
}

static void put_row(struct store_listing *l, size_t index, const char *time,
                    const struct stored_summary *s)
{
	static const char *const colors[STORED_VERDICTS] = {"32", "33", "31", "2", "31"};
	struct buf *out = &l->out.text, verdict = BUF(BUF_MAX_SMALL), task = BUF(BUF_MAX_SMALL);
	struct list_columns columns = columns_of(&l->context->style);

	buf_printf(out, "@%-*zu  ", NAME_COLUMNS - 1, index + 1);
	buf_printf(out, "%.10s %.5s  ", time, time + 11); /* without T and seconds */
	buf_text(&verdict, stored_verdicts[s->verdict]);
	if (s->rule_count)
		buf_printf(&verdict, ": %s", s->rules[0]);
	else if (s->verdict == STORED_ERROR)
		buf_printf(&verdict, ": %.*s", STR_ARG(s->status));
	style_begin(out, l->context->style, colors[s->verdict]);
	put_cell(out, buf_view(&verdict), columns.verdict);
	style_end(out, l->context->style);
	if (s->tasks > 1)
		buf_printf(&task, "%lld tasks", (long long)s->tasks);
	put_cell(out, task.n ? buf_view(&task) : s->task, columns.task);
	put_cell(out, s->env.p ? s->env : s->url, columns.env);
	if (s->verdict == STORED_UNUSABLE)
		text_escape(out, str_from(s->why));
	else
		buf_printf(out, "%lld step%s", (long long)s->sums.steps, plural(s->sums.steps));
	if (s->sums.rollouts > 1)
		buf_printf(out, " of %lld rollouts", (long long)s->sums.rollouts);
	buf_char(out, '\n');
	BUFS_RELEASE(&verdict, &task);
}

static void put_json(struct store_listing *l, size_t index, const char *time, const char *path,
                     const struct stored_summary *s)
{
	/* of an unusable one nothing is known: null */
	static const struct judge_summary unknown = {
		.rollouts = -1, .turns = -1, .steps = -1, .effective = -1, .failed = -1};
	const struct judge_summary *sums = s->verdict == STORED_UNUSABLE ? &unknown : &s->sums;
	struct json_writer w;
	char name[32];

	snprintf(name, sizeof(name), "@%zu", index + 1);
	jw_line(&w, &l->out.text, "recording");
	jw_pack(&w,
	        "name:%s,file:%s,time:%s,verdict:%s,task:%s,env:%s,protocol:%s,url:%s,status:%s",
	        str_from(name), str_from(path), str_from(time),
	        str_from(stored_verdicts[s->verdict]), s->task, s->env, s->protocol, s->url,
	        s->status);
	jw_pack(&w, "rollouts:%c,turns:%c,steps:%c,effective:%c,failed:%c,reward:%r,rules:[",
	        sums->rollouts, sums->turns, sums->steps, sums->effective, sums->failed,
	        sums->reward[0] ? str_from(sums->reward) : STR_NONE);
	for (size_t i = 0; i < s->rule_count; i++)
		jw_text(&w, s->rules[i]);
	jw_end(&w);
	jw_line_end(&w);
}

static int list_one(struct store_listing *l, size_t index, struct error *err)
{
	struct stored_summary s;
	AUTO_ARENA arena = {.last = NULL};
	AUTO_BUF path = BUF(BUF_MAX_SMALL);
	char time[AGE_TEXT];

	time_of(l, index, time);
	if (strcmp(time, l->since) < 0)
		return 0;
	stored_path(&l->stored, index, &path);
	stored_summarize(buf_cstr(&path), &arena, &s);
	if (is_wanted(l, &s)) {
		l->shown++;
		if (l->opts->json)
			put_json(l, index, time, buf_cstr(&path), &s);
		else
			put_row(l, index, time, &s);
	}
	return output_flush_some(&l->out, err);
}

static int list_all(struct store_listing *l, struct error *err)
{
	for (size_t i = 0; i < l->stored.count; i++)
		if (list_one(l, i, err))
			return -1;
	if (l->opts->json) {
		json_line(&l->out.text, "summary", "recordings:%i,listed:%i",
		          (int64_t)l->stored.count, (int64_t)l->shown);
	} else if (!l->stored.count) {
		log_warn("no recordings in %s: record one with rolldbg run",
		         buf_cstr(&l->stored.directory));
	}
	return output_flush(&l->out, err);
}

/* ---- pruning ---- */

static int prune_one(struct store_listing *l, size_t index, struct error *err)
{
	AUTO_BUF path = BUF(BUF_MAX_SMALL);

	stored_path(&l->stored, index, &path);
	if (!l->opts->dry_run && unlink(buf_cstr(&path)) && errno != ENOENT)
		return error_errno(err, "cannot delete %s", buf_cstr(&path));
	l->shown++;
	if (!l->context->quiet) {
		buf_printf(&l->out.text, "%s ", l->opts->dry_run ? "would delete" : "deleted");
		text_escape_line(&l->out.text, buf_view(&path));
	}
	return 0;
}

static int prune_all(struct store_listing *l, const char *before, struct error *err)
{
	bool *needed = mem_array(l->stored.count + 1, sizeof(*needed));
	int failed = store_needed(&l->stored, needed, err);

	for (size_t i = l->stored.count; i-- > 0 && !failed;) {
		char time[AGE_TEXT];

		time_of(l, i, time);
		if (!needed[i] && strcmp(time, before) < 0)
			failed = prune_one(l, i, err);
	}
	free(needed);
	if (!l->context->quiet) {
		buf_printf(&l->out.text, "%zu of %zu recording%s%s\n", l->shown, l->stored.count,
		           plural(l->stored.count),
		           l->opts->dry_run ? " would be deleted" : " deleted");
	}
	if (failed) {
		/* files deleted so far are still listed */
		(void)!output_flush(&l->out, ERROR_IGNORED);
		return -1;
	}
	return output_flush(&l->out, err);
}

/* ---- options ---- */

static int read_options(struct store_listing *l, char before[AGE_TEXT], struct error *err)
{
	const struct list_options *o = l->opts;
	uint64_t now = l->context->clock.unix_ms(l->context->clock.ctx);

	if (o->finding && !check_find(str_from(o->finding))) {
		check_unknown(str_from(o->finding), err);
		return error_wrap(err, "--finding");
	}
	if (o->since && !age_parse(o->since, now, l->since)) {
		return error_set(err, FAIL_USAGE,
		                 "--since: expected an age (90m, 2d, 1w) or a date (2026-11-22), "
		                 "got '%s'",
		                 o->since);
	}
	if (o->prune && !age_parse_ago(o->prune, now, before)) {
		return error_set(err, FAIL_USAGE,
		                 "--prune: expected an age (12h, 30d, 8w), got '%s'", o->prune);
	}
	return 0;
}

static int list_main(const struct context *c, const void *opts, int argc, char **argv,
                     struct error *err)
{
	const struct list_options *o = opts;
	struct store_listing l = {.context = c, .opts = o, .out = output_of_results(o->json)};
	char before[AGE_TEXT] = "";

	bool missing = false;
	int failed = read_options(&l, before, err);
	if (!failed && o->missing) {
		failed = missing_list(o->missing, o->json, &l.out, &missing, err);
	} else if (!failed) {
		failed = store_list(c->variable, &l.stored, err) ||
		         (l.opts->prune ? prune_all(&l, before, err) : list_all(&l, err));
	}

	stored_release(&l.stored);
	output_release(&l.out);
	return failed ? -1 : missing;
}

CODE(list)
