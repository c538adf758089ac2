/* rolldbg probe: tests an environment server and a model before training. */
#include "probe/probe.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/golden/goldens.h"
#include "cmd/options/action_options.h"
#include "cmd/options/model_options.h"
#include "cmd/options/output.h"
#include "cmd/options/policies.h"
#include "cmd/options/setting_options.h"
#include "cmd/options/target_options.h"
#include "cmd/options/trainer_options.h"
#include "env/environments.h"
#include "json/write.h"
#include "policy/policy.h"

#include <inttypes.h>

/* ---- properties ---- */

#define STATUS_COLUMNS 7
#define NAME_COLUMNS   12
#define INDENT         (STATUS_COLUMNS + 2 + NAME_COLUMNS + 2)

static const char *color_of(enum property_status s)
{
	static const char *const colors[PROPERTY_STATUSES] = {[PROPERTY_OK] = COLOR_GREEN,
	                                                      [PROPERTY_FAIL] = COLOR_RED,
	                                                      [PROPERTY_UNKNOWN] = COLOR_YELLOW,
	                                                      [PROPERTY_SKIPPED] = COLOR_FAINT};

	return colors[s];
}

/* ---- for people ---- */

static void put_part(struct buf *out, const char *before, struct str part)
{
	if (part.n) {
		buf_text(out, before);
		text_escape_cut(out, part, 80);
	}
}

/* "http://.. · openenv · Lake · state from openenv" */
static void properties_title(const char *target, const struct env_facts *f, struct buf *out)
{
	text_escape_cut(out, str_from(target), 80);
	put_part(out, " · ", str_from(f->protocol));
	put_part(out, " · ", f->name);
	if (f->state_kind == STATE_NONE)
		buf_text(out, " · no state source");
	else
		put_part(out, " · state from ", str_from(state_kind_name(f->state_kind)));
	buf_char(out, '\n');
}

/* Indented below its first line, and wrapped on a terminal. */
static void put_text(struct str text, size_t indent, struct style style, struct buf *out)
{
	AUTO_BUF safe = BUF(BUF_MAX_MESSAGE);

	text_escape(&safe, text);
	style_wrap(out, style, buf_view(&safe), indent);
}

static void properties_line(const struct property *p, struct style style, struct buf *out)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	style_begin(out, style, color_of(p->status));
	buf_printf(out, "%-*s", STATUS_COLUMNS, property_status_name(p->status));
	style_end(out, style);
	buf_printf(out, "  %-*s  ", NAME_COLUMNS, p->name);
	buf_str(&text, buf_view(&p->value));
	buf_text(&text, p->evidence.n ? ": " : "");
	buf_str(&text, buf_view(&p->evidence));
	put_text(buf_view(&text), INDENT, style, out);
	if (p->fix.n) {
		buf_printf(out, "%*sfix: ", INDENT, "");
		put_text(buf_view(&p->fix), INDENT + 5, style, out);
	}
}

static const char *fitness_name(enum property_status fit)
{
	return fit == PROPERTY_FAIL ? "no" : fit == PROPERTY_UNKNOWN ? "unknown" : "yes";
}

/* "fit to train: no (capacity 3 of 8; seed only without other sessions)" */
static void put_fitness(const struct probe_summary *s, struct style style, struct buf *out)
{
	AUTO_BUF line = BUF(BUF_MAX_MESSAGE);

	buf_printf(&line, "fit to train: %s (", fitness_name(s->fit));
	buf_str(&line, buf_view(&s->fit_why));
	buf_char(&line, ')');
	put_text(buf_view(&line), 0, style, out);
}

/* The counts by status, and what the failed properties imply. */
static void properties_conclusion(const struct probe_summary *s, struct style style,
                                  struct buf *out)
{
	enum property_status worst = s->count[PROPERTY_FAIL]      ? PROPERTY_FAIL
	                             : s->count[PROPERTY_UNKNOWN] ? PROPERTY_UNKNOWN
	                                                          : PROPERTY_OK;
	const char *between = "";

	style_begin(out, style, color_of(worst));
	for (size_t i = 0; i < PROPERTY_STATUSES; i++) {
		if (s->count[i]) {
			buf_printf(out, "%s%zu %s", between, s->count[i],
			           property_status_name((enum property_status)i));
			between = ", ";
		}
	}
	style_end(out, style);
	if (s->model_requests) {
		buf_printf(out, " · %zu request%s to the model", s->model_requests,
		           plural(s->model_requests));
	}
	buf_char(out, '\n');
	put_fitness(s, style, out);
}

/* ---- for programs ---- */

/* {"type":"property",..} and {"type":"summary",..}; model: a model was tested. */
static void properties_json(const struct property *p, struct buf *out)
{
	json_line(out, "property", "name:%t,status:%t,value:%s,evidence:%s,fix:%s", p->name,
	          property_status_name(p->status), buf_given(&p->value), buf_given(&p->evidence),
	          buf_given(&p->fix));
}

static void properties_json_summary(const struct probe_summary *s, size_t sessions, size_t need,
                                    bool model, struct buf *out)
{
	struct json_writer w;

	jw_line(&w, out, "summary");
	for (size_t i = 0; i < PROPERTY_STATUSES; i++)
		jw_put_u64(&w, property_status_name((enum property_status)i), s->count[i]);
	jw_pack(&w, "sessions:%i,need:%i,capacity:%i,fit:%t,fit_why:%s", (int64_t)sessions,
	        (int64_t)need, (int64_t)s->capacity, fitness_name(s->fit), buf_given(&s->fit_why));
	if (model)
		jw_put_u64(&w, "model_requests", s->model_requests);
	jw_line_end(&w);
}

/* ---- progress ---- */

#define DEFAULT_SESSIONS  4
#define SESSIONS_MAX      4096
#define DEFAULT_SETTLE_MS 5000

#define OPTIONS probe
#include "cmd/options/table.h"

struct probing {
	struct call_list calls;
	const struct context *context;
	const struct probe_options *opts;
	struct env_target target;
	struct output out;
	struct io *io;
	struct page_cache *pages;
	size_t sessions, need;
	struct trainer_plan trainer;
	struct goldens golden;   /* the recording of the solution */
	struct goldens compared; /* that of --golden */
	struct policy_conf solution;
	struct buf policy_path; /* path of a ready-made policy */
	const char *policy;     /* kind or path; NULL: none given */
	struct llm_conf *model; /* NULL: no model */
	struct tasks tasks;
	struct error mute; /* why printing stopped; sessions are still closed */
};

/* ---- messages ---- */

static void flush(struct probing *p)
{
	if (p->mute.kind == FAIL_NONE)
		(void)!output_flush(&p->out, &p->mute);
	else
		buf_clear(&p->out.text);
}

static void say_opened(void *ctx, const struct env_facts *f)
{
	struct probing *p = ctx;

	if (!p->opts->json && !p->context->quiet) {
		/* printed with the first property: a refused connection prints no table */
		properties_title(p->target.name, f, &p->out.text);
	}
}

/* Redacts secrets that a server may echo, and writes settings as options. */
static struct buf presentable(const struct probing *p, struct str text)
{
	AUTO_BUF spelled = BUF(BUF_MAX_SMALL);
	struct buf out = BUF(BUF_MAX_SMALL);

	settings_filter(NULL, text, &spelled);
	secrets_redact(p->target.secrets, buf_view(&spelled), &out);
	return out;
}

static void say_property(void *ctx, const struct property *found)
{
	struct probing *p = ctx;
	struct property safe = *found;
	struct buf *texts[] = {&safe.value, &safe.evidence, &safe.fix};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		*texts[i] = presentable(p, buf_view(texts[i]));
	if (p->opts->json)
		properties_json(&safe, &p->out.text);
	else if (!p->context->quiet || safe.status == PROPERTY_FAIL)
		properties_line(&safe, p->context->style, &p->out.text);
	flush(p);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		buf_release(texts[i]);
}

/* ---- setting up ---- */

/* --need, or what the trainer's settings require. */
static int choose_need(const struct probe_options *o, struct opt_u64 *need,
                       struct trainer_plan *plan, struct error *err)
{
	AUTO_BUF description = BUF(BUF_MAX_SMALL);

	*need = o->need;
	if (!trainer_given(&o->trainer))
		return 0;
	if (o->need.given) {
		return error_set(err, FAIL_USAGE,
		                 "--need and the trainer settings are mutually exclusive");
	}
	int failed = trainer_read(&o->trainer, plan, &description, err);
	if (!failed)
		log_info("%s", buf_cstr(&description));
	if (failed)
		return -1;
	*need = (struct opt_u64){.given = true, .value = plan->sessions};
	if (plan->sessions > SESSIONS_MAX) {
		return error_set(err, FAIL_USAGE,
		                 "the trainer settings need %" PRIu64 " sessions, more than %d",
		                 plan->sessions, SESSIONS_MAX);
	}
	return 0;
}

static int choose_numbers(struct probing *p, struct error *err)
{
	struct opt_u64 need;

	if (choose_need(p->opts, &need, &p->trainer, err))
		return -1;
	p->sessions = opt_number(p->opts->sessions, opt_number(need, DEFAULT_SESSIONS));
	p->need = opt_number(need, p->sessions);
	if (p->need > p->sessions) {
		return error_set(
			err, FAIL_USAGE,
			"%zu sessions are needed, but --sessions is %zu: raise it, or omit it",
			p->need, p->sessions);
	}
	return 0;
}

static struct policy_conf policy_of(const struct probing *p)
{
	const struct probe_options *o = p->opts;

	struct policy_conf conf = action_conf(&o->action, o->actions, &p->calls);

	conf.spec = p->model ? NULL : p->policy;
	return conf;
}

static int read_model(struct probing *p, struct error *err)
{
	const struct probe_options *o = p->opts;

	p->policy = o->policy;
	if (call_list_open(&o->action, &p->policy, &p->calls, err) ||
	    policies_find(p->context->variable, p->policy, &p->policy_path, &p->policy, err) ||
	    model_read(p->context, p->policy, &o->model, &p->target, &p->model, err)) {
		return -1;
	}
	if (o->tasks && !p->model) {
		return error_set(
			err, FAIL_USAGE,
			"--tasks needs a policy that asks a model: --policy llm, or a policy "
			"file of kind llm");
	}
	struct policy_conf policy = policy_of(p);

	return policy_check(&policy, err) ? -1
	       : o->tasks                 ? tasks_read(o->tasks, &p->tasks, err)
	                                  : 0;
}

static const char *solution_of(const struct probe_options *o)
{
	return o->solution ? o->solution : o->golden;
}

static int read_golden(struct probing *p, struct error *err)
{
	const char *file = p->opts->golden;

	if (goldens_read_policy(&p->compared, &file, NULL, err))
		return -1;
	return file ? error_set(err, FAIL_INPUT, "--golden %s: no recording", file) : 0;
}

/* A recording carries its seed. */
static int read_solution(struct probing *p, struct error *err)
{
	const char *file = solution_of(p->opts);

	if (goldens_read_policy(&p->golden, &file, NULL, err))
		return -1;
	p->solution = (struct policy_conf){.spec = file, .calls = goldens_policy(&p->golden)};
	return policy_check(&p->solution, err);
}

static int new_io(void *ctx, struct io **out, struct error *err)
{
	const struct probing *p = ctx;

	return env_target_new_io(&p->target, out, err);
}

static int set_up(struct probing *p, struct error *err)
{
	return choose_numbers(p, err) ||
	                       env_target_prepare(&p->target, p->context, &p->opts->target, err) ||
	                       read_model(p, err) || read_golden(p, err) || read_solution(p, err) ||
	                       env_target_start(&p->target, err) ||
	                       env_target_new_io(&p->target, &p->io, err)
	               ? -1
	               : 0;
}

static int conclude(struct probing *p, struct probe_summary *s, struct error *err)
{
	bool lost = s->lost.kind != FAIL_NONE;

	struct buf plain = s->fit_why;

	s->fit_why = presentable(p, buf_view(&plain));
	buf_release(&plain);
	if (p->opts->json)
		properties_json_summary(s, p->sessions, p->need, p->model != NULL, &p->out.text);
	else if (!p->context->quiet)
		properties_conclusion(s, p->context->style, &p->out.text);
	flush(p);
	if (p->mute.kind != FAIL_NONE) {
		*err = p->mute;
		return -1;
	}
	if (lost)
		target_say_lost(p->target.name, s->lost.text);
	return lost || s->model_lost ? 4 : s->count[PROPERTY_FAIL] > 0;
}

static int examine(struct probing *p, struct error *err)
{
	const struct probe_options *o = p->opts;
	struct probe_summary summary = {.capacity = 0};
	struct probe_conf conf = {.env = env_target_conf(&p->target),
	                          .policy = policy_of(p),
	                          .sessions = p->sessions,
	                          .need = p->need,
	                          .settle_ms =
	                                  o->settle.given ? o->settle.value : DEFAULT_SETTLE_MS,
	                          .call_read_only = o->call_read_only,
	                          .model = p->model,
	                          .tasks = o->tasks ? &p->tasks : NULL,
	                          .trainer = trainer_given(&o->trainer) ? &p->trainer : NULL,
	                          .solution = solution_of(o) ? &p->solution : NULL,
	                          .io = p->io,
	                          .new_io = new_io,
	                          .opened = say_opened,
	                          .judged = say_property,
	                          .ctx = p};

	conf.env.pages = p->pages;
	if (p->compared.count)
		conf.golden_tools = p->compared.items[0].want.header.value[KEY_TOOLS];
	if (p->golden.count && p->golden.items[0].has_seed && !conf.env.has_seed) {
		conf.env.has_seed = true;
		conf.env.seed = p->golden.items[0].seed;
	}
	conf.env_ops = env_find(&conf.env, conf.io, err);
	int code =
		!conf.env_ops || probe_run(&conf, &summary, err) ? -1 : conclude(p, &summary, err);
	buf_release(&summary.fit_why);
	return code;
}

static int probe_main(const struct context *c, const void *opts, int argc, char **argv,
                      struct error *err)
{
	const struct probe_options *o = opts;
	struct probing p = {.context = c,
	                    .opts = o,
	                    .pages = page_cache_new(),
	                    .out = output_of_results(o->json),
	                    .policy_path = BUF(BUF_MAX_SMALL)};

	int code = set_up(&p, err) ? -1 : examine(&p, err);
	if (code < 0)
		env_target_hide(&p.target, err);
	output_release(&p.out);
	io_free(p.io);
	page_cache_free(p.pages);
	tasks_release(&p.tasks);
	buf_release(&p.policy_path);
	call_list_release(&p.calls);
	goldens_release(&p.golden);
	goldens_release(&p.compared);
	llm_conf_free(p.model);
	env_target_release(&p.target);
	return code;
}

CODE(probe)
