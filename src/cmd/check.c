/* rolldbg check: applies the rules to recordings. */
#include "base/in_order.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "check/judge.h"
#include "cmd/check_partial.h"
#include "cmd/options/import_options.h"
#include "cmd/options/setting_options.h"
#include "cmd/store/store.h"
#include "cmd/verdicts.h"
#include "json/write.h"
#include "recording/reader.h"
#include "recording/trained.h"

#include <stdlib.h>
#include <sys/stat.h>

/* ---- many files, optionally in several threads ---- */

/* Each thread judges its file in isolation; the output equals that of one thread. Earlier files can
   change its verdicts (a reused session id, a group that continues); this is detected when its turn
   comes, and the file is judged again in sequence. So is a file that cannot be read to its end, and
   one whose verdicts take much memory. */

#define VERDICTS_MAX ((size_t)4 << 20) /* bytes of a file's verdicts, until its turn */

struct file_checking {
	const struct file_list *files;
	const struct judge_conf *conf; /* conf of `judge` */
	struct judge *judge;
	struct verdicts *verdicts;       /* used as ctx of conf */
	struct check_partials *partials; /* instead of the files; NULL: none */
	size_t unusable;                 /* files that were skipped */
};

struct judged_file {
	struct judge *judge;
	struct rollout_verdict *verdicts; /* in the arena, as is what they point to */
	size_t count;
	struct arena arena;
};

static void drop(void *ctx, void *result)
{
	struct judged_file *f = result;

	if (f) {
		judge_free(f->judge);
		arena_release(&f->arena);
		free(f);
	}
}

/* ---- in a thread ---- */

static void keep_verdict(void *ctx, const struct rollout_verdict *v)
{
	struct judged_file *f = ctx;
	struct rollout_verdict kept = *v;

	kept.rollout = arena_str(&f->arena, v->rollout);
	kept.task = arena_str(&f->arena, v->task);
	kept.reason = arena_str(&f->arena, v->reason);
	if (v->finding_count) {
		size_t bytes = v->finding_count * sizeof(*v->findings);

		kept.findings = memcpy(arena_new(&f->arena, bytes), v->findings, bytes);
	}
	f->verdicts = arena_grow(&f->arena, f->verdicts, f->count, sizeof(*f->verdicts));
	f->verdicts[f->count++] = kept;
}

static int stop_at_much(void *ctx, struct error *err)
{
	const struct judged_file *f = ctx;

	return f->arena.bytes > VERDICTS_MAX ? error_set(err, FAIL_NONE, "too many verdicts") : 0;
}

/* Standard input and pipes can be read once only. */
static bool is_regular(const char *path)
{
	struct stat st;

	return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Returns NULL if the file has to be judged again in sequence. */
static void *judge_alone(void *ctx, size_t index)
{
	const struct file_checking *c = ctx;
	const char *path = c->files->paths[index];
	struct judge_conf conf = *c->conf;
	struct judged_file *f = mem_new(sizeof(*f));

	conf.verdict = keep_verdict;
	conf.ctx = f;
	if (!is_regular(path) || judge_part_new(&conf, (int64_t)index, &f->judge, ERROR_IGNORED) ||
	    judge_recording(f->judge, path, stop_at_much, f, ERROR_IGNORED)) {
		drop(NULL, f);
		return NULL;
	}
	judge_part_finish(f->judge);
	return f;
}

/* ---- in the order of the files ---- */

/* Results are printed while reading, because a recording may be long. */
static int flush_some(void *ctx, struct error *err)
{
	struct verdicts *v = ctx;

	return output_flush_some(&v->out, err);
}

static int judge_in_turn(struct file_checking *c, size_t index, struct error *err)
{
	const char *path = c->files->paths[index];

	if (c->verdicts->html)
		c->verdicts->html->recording = path;
	if (!judge_recording(c->judge, path, flush_some, c->verdicts, err))
		return 0;
	if (store_pass_over(c->files, err, &c->unusable)) {
		reports_problem(c->verdicts->reports, path, err);
		if (c->verdicts->html)
			html_file_note(c->verdicts->html, err->text);
		return 0;
	}

	reports_give_up(c->verdicts->reports, path, c->judge, err);
	/* verdicts so far are still printed */
	(void)!output_flush(&c->verdicts->out, ERROR_IGNORED);
	return -1;
}

/* Reports a file's verdicts after those of the previous file. */
static int adopt(struct file_checking *c, size_t index, struct judged_file *f, struct error *err)
{
	judge_file(c->judge, c->files->paths[index]);
	for (size_t i = 0; i < f->count; i++)
		c->conf->verdict(c->conf->ctx, &f->verdicts[i]);
	judge_absorb(c->judge, f->judge);
	return flush_some(c->verdicts, err);
}

static int take(void *ctx, size_t index, void *result, struct error *err)
{
	struct file_checking *c = ctx;
	struct judged_file *f = result;
	int failed = f && judge_can_absorb(c->judge, f->judge) ? adopt(c, index, f, err)
	                                                       : judge_in_turn(c, index, err);

	drop(NULL, f);
	return failed;
}

/* The same from a partial result. */
static int take_partial(struct file_checking *c, size_t index, struct error *err)
{
	const char *path = c->files->paths[index];
	struct judge *part;
	int failed = check_partials_judge(c->partials, index, c->conf, &part, err);

	if (!failed && (!part || !judge_can_absorb(c->judge, part))) {
		failed = judge_in_turn(c, index, err);
	} else if (!failed) {
		judge_file(c->judge, path);
		failed = check_partials_verdicts(c->partials, index, path, c->conf, err);
		if (!failed) {
			judge_absorb(c->judge, part);
			failed = flush_some(c->verdicts, err);
		}
	}
	judge_free(part);
	return failed;
}

/* Judges all files and prints verdicts in file order; the caller prints the summary. */
static int check_each_file(struct file_checking *c, size_t jobs, struct error *err)
{
	const struct in_order order = {.count = c->files->count,
	                               .jobs = jobs,
	                               .work = judge_alone,
	                               .take = take,
	                               .drop = drop,
	                               .ctx = c};

	if (jobs > 1 && c->files->count > 1 && !c->partials)
		return in_order_run(&order, err);
	for (size_t i = 0; i < c->files->count; i++) {
		int failed = c->partials ? take_partial(c, i, err) : judge_in_turn(c, i, err);
		if (failed)
			return -1;
	}
	return 0;
}

/* ---- options ---- */

#define OPTIONS check
#include "cmd/options/table.h"

/* ---- lists of rules ---- */

#define EXPLAIN_WIDTH 78
#define RULE_COLUMN   24
#define TITLE_COLUMN  (RULE_COLUMN + 9)

/* A text that may name options. */
static void put_settings(struct json_writer *w, const char *key, const char *text)
{
	AUTO_BUF replaced = BUF(BUF_MAX_MESSAGE);

	settings_put(&replaced, text);
	jw_put_str(w, key, buf_view(&replaced));
}

static void put_rule(const struct check *c, struct buf *out)
{
	struct json_writer w;

	jw_line(&w, out, "rule");
	jw_pack(&w, "rule:%t,severity:%t,raised:%t,lowered:%t", c->id, severity_name(c->severity),
	        c->raised, c->lowered);
	jw_put_array(&w, "explains");
	for (size_t i = 0; i < EXPLAINS_MAX && c->explains[i]; i++)
		jw_text(&w, c->explains[i]->id);
	jw_end(&w);
	put_settings(&w, "title", c->title);
	put_settings(&w, "explanation", c->why);
	jw_line_end(&w);
}

/* Appends a rule's explanation: each line of `why` is a paragraph, or a list item if it begins
   with "- ". */
static void explain_paragraphs(struct str why, struct buf *out)
{
	while (why.n) {
		struct str paragraph = str_cut(&why, '\n');

		if (str_starts(paragraph, STR("- "))) {
			buf_text(out, "- ");
			text_wrap(out, str_skip(paragraph, 2), 2, EXPLAIN_WIDTH);
		} else {
			buf_char(out, '\n');
			text_wrap(out, paragraph, 0, EXPLAIN_WIDTH);
		}
	}
}

/* The rule's title, severity, the rules it explains, and its explanation. */
static void explain_rule(const struct check *c, struct buf *out)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	buf_printf(&text, "%s: ", c->id);
	settings_put(&text, c->title);
	buf_text(&text, "\nSeverity: ");
	check_describe_severity(c, &text);
	for (size_t i = 0; i < EXPLAINS_MAX && c->explains[i]; i++)
		buf_printf(&text, "%s%s", i ? ", " : "\nExplains: ", c->explains[i]->id);
	text_wrap(out, buf_view(&text), 0, EXPLAIN_WIDTH);
	buf_clear(&text);
	settings_put(&text, c->why);
	explain_paragraphs(buf_view(&text), out);
}

static void list_rule(const struct check *c, struct style style, struct buf *out)
{
	AUTO_BUF title = BUF(BUF_MAX_SMALL);

	settings_put(&title, c->title);
	buf_printf(out, "%-*s%-*s", RULE_COLUMN, c->id, TITLE_COLUMN - RULE_COLUMN,
	           severity_name(c->severity));
	text_wrap(out, buf_view(&title), TITLE_COLUMN, style.terminal ? style.columns : SIZE_MAX);
}

/* --list: a line for each rule; --explain: one rule in full; or both as JSON lines, of which the last
   tells that the list is complete. */
static int list(const struct check_options *o, struct style style, int argc, char **argv,
                struct error *err)
{
	const struct check *one = o->list ? NULL : check_find(str_from(o->explain));
	bool json = reports_have_json(&o->report);
	struct output out = output_to_stdout();
	size_t listed = 0;

	if (argc) {
		return error_set(err, FAIL_USAGE, "%s reads no recording: unexpected operand '%s'",
		                 o->list ? "--list" : "--explain", argv[0]);
	}
	if (!o->list && !one) {
		check_unknown(str_from(o->explain), err);
		return error_wrap(err, "--explain");
	}
	for (size_t i = 0; i < checks_count; i++) {
		if (one && checks[i] != one)
			continue;
		listed++;
		if (json)
			put_rule(checks[i], &out.text);
		else if (one)
			explain_rule(one, &out.text);
		else
			list_rule(checks[i], style, &out.text);
	}
	if (json)
		json_line(&out.text, "listing", "listed:%i", (int64_t)listed);
	return output_close(&out, err);
}

/* ---- judging ---- */

static int check_files(const struct check_options *o, size_t jobs, struct file_checking *k,
                       struct error *err)
{
	if (k->files->many)
		judge_many(k->judge);
	if (k->files->count > 1)
		k->verdicts->origin = ORIGIN_FILE_AND_ROLLOUT;
	/* one thread: pairing with the trainer's file requires all recordings, and a page is
	   written in line order */
	if ((o->html && html_file_open(k->verdicts->html, o->html, err)) ||
	    check_each_file(k, o->trained || o->html ? 1 : jobs, err))
		return -1;
	judge_finish(k->judge);
	if (o->html) {
		html_file_summary(k->verdicts->html, k->judge, k->verdicts->unfinished);
		if (html_file_publish(k->verdicts->html, err))
			return -1;
	}
	verdicts_summary(k->verdicts, k->judge);
	return reports_close(k->verdicts->reports, k->judge, NULL, err) ||
	                       output_flush(&k->verdicts->out, err)
	               ? -1
	               : 0;
}

static int take_ignored(const struct check_options *o, struct hints *out, struct error *err)
{
	out->ignored = o->ignored.item;
	out->ignored_count = o->ignored.count;
	for (size_t i = 0; i < out->ignored_count; i++) {
		out->no_names |= strcmp(out->ignored[i], "none") == 0;
		if (out->ignored[i][0] != '/' && strcmp(out->ignored[i], "none") != 0) {
			return error_set(
				err, FAIL_USAGE,
				"\1ignore\2 %s: not a JSON Pointer, which begins with '/', "
				"and not \"none\"",
				out->ignored[i]);
		}
	}
	return 0;
}

/* ---- partial results ---- */

static uint64_t hash_list(uint64_t hash, const struct opt_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		hash = map_hash_with(hash, map_hash(str_from(l->item[i])));
	return map_hash_with(hash, l->count);
}

/* Of the options that decide verdicts. */
static uint64_t options_fingerprint(const struct check_options *o)
{
	const struct verdict_options *v = &o->verdict;
	const char *texts[] = {v->only, v->without, v->read_only, v->noop, ROLLDBG_VERSION};
	uint64_t hash = v->min_effective.value;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		hash = map_hash_with(hash, texts[i] ? map_hash(str_from(texts[i])) : 0);
	hash = hash_list(hash, &v->expected);
	hash = hash_list(hash, &v->baselines);
	hash = hash_list(hash, &v->effects);
	return hash_list(hash, &o->ignored);
}

static int write_partial(const struct check_options *o, struct file_checking *k,
                         struct file_list *files, struct error *err)
{
	struct check_division d = {.options = options_fingerprint(o)};

	if (shard_read(o->shard, k->verdicts->context, &d.shard, err))
		return -1;
	shard_files(&d.shard, files, &d.numbers);
	int failed = check_partial_write(k->conf, files, &d, &k->verdicts->out, err);
	free(d.numbers);
	return failed;
}

static int read_partials(const struct check_options *o, struct file_checking *k,
                         struct file_list *files, struct error *err)
{
	struct file_list partials = *files;

	*files = (struct file_list){0};
	int failed =
		check_partials_read(&partials, options_fingerprint(o), &k->partials, files, err);
	file_list_free(&partials);
	return failed;
}

static int check_main(const struct context *c, const void *opts, int argc, char **argv,
                      struct error *err)
{
	const struct check_options *o = opts;
	struct html_file html = {.conf = {.command = "check"}};
	struct verdicts v = {.context = c,
	                     .html = o->html ? &html : NULL,
	                     .out = output_to_stdout(),
	                     .origin = ORIGIN_ROLLOUT,
	                     .ends_count = !o->verdict.only && !verdict_never_fails(&o->verdict),
	                     .fold = !log_wants(LOG_INFO),
	                     .options = &o->verdict};
	struct judge_conf conf = {.only = o->verdict.only,
	                          .without = o->verdict.without,
	                          .verify = o->verify,
	                          .settings = settings_as_options,
	                          .places = o->report.kinds.count > 0,
	                          .line = o->html ? verdicts_line : NULL,
	                          .verdict = verdicts_take,
	                          .ctx = &v};
	struct file_list files = {0};
	AUTO_BUF tools = BUF(0);
	struct file_checking k = {.files = &files, .conf = &conf, .verdicts = &v};

	if (o->explain || o->list)
		return list(o, c->style, argc, argv, err);
	size_t jobs = opt_number(o->jobs, 1);
	int failed =
		(o->merge && !argc &&
	         error_set(err, FAIL_USAGE, "--merge needs partial results to read")) ||
		html_file_check(o->html, err) || verdict_hints(&o->verdict, c, &conf.hints, err) ||
		take_ignored(o, &conf.hints, err) ||
		import_options_apply(&o->import, &tools, err) ||
		(o->trained && trained_read(o->trained, &conf.hints.trained, err)) ||
		judge_new(&conf, &k.judge, err) ||
		reports_open(&o->report, c, &v.out.text, NULL, &v.reports, err) ||
		store_operands(c, argc, argv, &files, err) ||
		(o->merge && read_partials(o, &k, &files, err)) ||
		(o->partial ? write_partial(o, &k, &files, err) : check_files(o, jobs, &k, err));
	if (failed)
		reports_give_up(v.reports, NULL, NULL, err);
	judge_free(k.judge);
	trained_free(conf.hints.trained);
	verdict_hints_release(&conf.hints);
	file_list_free(&files);
	reports_free(v.reports);
	html_file_release(&html);
	output_release(&v.out);
	check_partials_free(k.partials);
	if (!failed && k.unusable)
		return fail_exit_code(FAIL_INPUT);
	/* a rollout that never started is not clean, even without findings; --only is about its one
	   rule */
	return failed ? -1 : v.at_or_above > 0 || (v.broken > 0 && !o->verdict.only);
}

CODE(check)
