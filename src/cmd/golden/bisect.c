/* rolldbg bisect: sends the same calls to several targets, ordered from the environment outwards,
   and finds the first one that changes a reply. */
#include "base/log.h"
#include "base/text.h"
#include "cmd/golden/driver.h"
#include "cmd/options/compare_options.h"
#include "cmd/options/output.h"
#include "cmd/plan.h"
#include "cmd/store/store.h"
#include "json/write.h"
#include "report/brief.h"
#include "report/differences.h"

#include <stdlib.h>

#define TARGETS_MAX 26 /* named A to Z */
#define BRIEF_MAX   60 /* width of an observation column */

#define OPTIONS bisect
#include "cmd/options/table.h"

/* The replies of one target to the calls of one rollout. */
struct layer_rollout {
	struct rollout_copy got;
	bool whole;
};

struct layer {
	const char *name;
	struct target_options options;
	struct driver driver;
	struct layer_rollout *rollouts;
};

struct bisecting {
	const struct context *context;
	const struct bisect_options *opts;
	struct goldens goldens; /* whose calls are sent */
	struct compare_rules rules;
	struct file_list files;
	struct layer layers[TARGETS_MAX];
	size_t layer_count, opened;
	struct layer *driven; /* the layer whose rollouts are being played */
	struct output out;
	struct difference_printer printer;
	struct compare_count total;
	/* State of the pair being compared. */
	const struct line *first_line; /* first line that differs */
	size_t more;
	/* The first layer that changes a reply, over all rollouts. */
	const struct layer *changer;
	struct buf where;
};

/* ---- playing ---- */

static int play_one(void *ctx, size_t index, struct io *io, struct rollout_result *result,
                    struct error *err)
{
	struct bisecting *b = ctx;
	struct layer *layer = b->driven;
	struct layer_rollout *r = &layer->rollouts[index];
	const struct golden *g = &b->goldens.items[index];
	const struct trial trial = {.golden = g,
	                            .policy = {.calls = g->calls, .force_call = true},
	                            .copy = &r->got,
	                            .strip = g->strip};

	if (trial_run(&layer->driver, &trial, io, result, err))
		return -1;
	r->whole = trial_is_whole(result);
	return 0;
}

/* Targets are driven one after the other: they may lead to the same environment, and a golden's strip is for one
   rollout at a time. */
static int drive(struct bisecting *b, size_t jobs, struct batch_count *worst, struct error *err)
{
	struct batch_conf batch = {
		.count = b->goldens.count, .jobs = jobs, .rollout = play_one, .ctx = b};
	struct batch_count count;

	*worst = (struct batch_count){0};
	for (size_t i = 0; i < b->layer_count; i++) {
		b->driven = &b->layers[i];
		b->driven->rollouts = mem_array(b->goldens.count, sizeof(*b->driven->rollouts));
		if (driver_batch(&b->driven->driver, b->context, batch, &count, err))
			return -1;
		worst->interrupted += count.interrupted + (count.total - count.done);
		worst->unreachable += count.unreachable + count.lost;
		if (worst->interrupted)
			return 0;
	}
	return 0;
}

/* ---- comparing ---- */

static char letter(const struct bisecting *b, const struct layer *layer)
{
	return (char)('A' + (layer - b->layers));
}

/* In text output the first differing line is enough: later differences usually follow from it. */
static void take_difference(void *ctx, const struct difference *d)
{
	struct bisecting *b = ctx;

	if (!b->first_line)
		b->first_line = d->line;
	if (b->opts->json || d->line == b->first_line)
		report_difference(&b->printer, d, &b->out.text);
	else
		b->more++;
}

static void name_line(const struct line *l, struct buf *out)
{
	if (l && l->type == LINE_STEP)
		buf_printf(out, "step %lld", (long long)l->step);
	else
		buf_text(out, l ? line_type_name(l->type) : "rollout");
}

static void put_layer(struct bisecting *b, const struct golden *g, const struct layer *layer,
                      size_t differences)
{
	const struct line *l = b->first_line;

	json_line(&b->out.text, "layer", "rollout:%s,target:%t,against:%t,differences:%i,step:%c",
	          g->want.id, layer->name, layer[-1].name, (int64_t)differences, l ? l->step : -1);
}

static const struct line *same_line(const struct rollout_copy *r, const struct line *l)
{
	if (l->type == LINE_STEP)
		return l->step >= 0 && (size_t)l->step < r->count ? &r->steps[l->step] : NULL;
	return l->type == LINE_RESET ? &r->reset : &r->end;
}

/* The replies of all targets at that step, side by side. */
static void show_answers(struct bisecting *b, size_t index)
{
	const struct line *at = b->first_line;

	for (size_t i = 0;
	     at && at->type != LINE_END && at->type != LINE_HEADER && i < b->layer_count; i++) {
		const struct line *l = same_line(&b->layers[i].rollouts[index].got, at);
		const char *outcome = l ? outcome_name(l->outcome) : NULL;
		struct buf *out = &b->out.text;

		buf_printf(out, "    %c  %-16s ", letter(b, &b->layers[i]),
		           outcome ? outcome : "-");
		if (l)
			brief_put(out, l->value[KEY_OBSERVATION], BRIEF_MAX);
		buf_char(out, '\n');
	}
}

static void note_change(struct bisecting *b, const struct golden *g, const struct layer *layer)
{
	if (!b->changer || layer < b->changer) {
		b->changer = layer;
		buf_clear(&b->where);
		name_line(b->first_line, &b->where);
		buf_printf(&b->where, " of rollout %.*s", STR_ARG(g->want.id));
	}
}

static void compare_pair(struct bisecting *b, size_t index, struct layer *layer)
{
	struct layer_rollout *first = &layer[-1].rollouts[index], *second = &layer->rollouts[index];
	const struct golden *g = &b->goldens.items[index];
	struct compare_conf conf = {.replayed = true,
	                            .tools = tools_rule_of(&b->opts->tools),
	                            .take = take_difference,
	                            .ctx = b};
	struct compare_count count = {0};
	AUTO_BUF heading = BUF(BUF_MAX_SMALL);

	if (!first->whole || !second->whole)
		return;
	compare_rules_apply(&b->rules, &conf);
	b->first_line = NULL;
	b->more = 0;
	buf_printf(&heading, "%c -> %c", letter(b, layer - 1), letter(b, layer));
	b->printer.file = b->opts->json ? layer->name : buf_cstr(&heading);
	buf_clear(&b->printer.rollout);
	compare_rollouts(&first->got, &second->got, &conf, &count);
	compare_add(&b->total, &count);
	if (b->opts->json)
		put_layer(b, g, layer, count.differences);
	else if (count.differences)
		show_answers(b, index);
	if (!b->opts->json && b->more) {
		buf_printf(&b->out.text, "  %zu more difference%s after it\n", b->more,
		           plural(b->more));
	}
	if (count.differences)
		note_change(b, g, layer);
}

static int compare_all(struct bisecting *b, struct error *err)
{
	for (size_t i = 0; i < b->goldens.count; i++) {
		for (size_t k = 1; k < b->layer_count; k++) {
			compare_pair(b, i, &b->layers[k]);
			if (output_flush_some(&b->out, err))
				return -1;
		}
	}
	return 0;
}

/* ---- the end ---- */

static void say_end(struct bisecting *b)
{
	struct buf *out = &b->out.text;

	if (b->opts->json) {
		json_line(out, "summary", "targets:%i,rollouts:%i,differences:%i,first_change:%t",
		          (int64_t)b->layer_count, (int64_t)b->goldens.count,
		          (int64_t)b->total.differences, b->changer ? b->changer->name : NULL);
	} else if (b->changer) {
		buf_printf(out, "%c is the first to change a reply: %s, %s\n",
		           letter(b, b->changer), b->changer->name, buf_cstr(&b->where));
	} else if (!b->context->quiet && b->total.rollouts) {
		buf_printf(out, "no differences · %zu targets · %zu rollout%s\n", b->layer_count,
		           b->goldens.count, plural(b->goldens.count));
	}
}

static int conclude(struct bisecting *b, const struct batch_count *count, struct error *err)
{
	for (size_t i = 0; !b->opts->json && !b->context->quiet && i < b->layer_count; i++)
		buf_printf(&b->out.text, "%c  %s\n", letter(b, &b->layers[i]), b->layers[i].name);
	if (compare_all(b, err))
		return -1;
	say_end(b);
	if (output_flush(&b->out, err))
		return -1;
	for (size_t i = 0; i < b->layer_count; i++)
		if (b->layers[i].driver.peer.kind != FAIL_NONE)
			target_say_lost(b->layers[i].name, b->layers[i].driver.peer.text);
	if (count->interrupted)
		log_warn("interrupted");
	return count->interrupted ? 130 : count->unreachable ? 4 : b->changer != NULL;
}

/* ---- setting up ---- */

static int check_usage(const struct bisect_options *o, struct error *err)
{
	if (o->envs.count < 2 || o->envs.count > TARGETS_MAX) {
		return error_set(err, FAIL_USAGE,
		                 "needs 2 to %d targets (--env): the environment, then each proxy "
		                 "in front of it",
		                 TARGETS_MAX);
	}
	return 0;
}

static int read_calls(struct bisecting *b, int argc, char **argv, struct error *err)
{
	return store_operands(b->context, argc, argv, &b->files, err) ||
	       goldens_read(&b->goldens, &b->files, &b->opts->compare.masks, &b->rules.patterns,
	                    err);
}

static int open_layers(struct bisecting *b, struct error *err)
{
	const struct opt_list *envs = &b->opts->envs;

	b->layer_count = envs->count;
	for (size_t i = 0; i < envs->count; i++) {
		struct layer *layer = &b->layers[b->opened++];

		layer->name = envs->item[i];
		layer->options = b->opts->target;
		layer->options.env = envs->item[i];
		driver_init(&layer->driver, b->context);
		if (driver_start(&layer->driver, b->context, &layer->options, err))
			return -1;
	}
	return 0;
}

static void close_layer(struct layer *layer, size_t rollouts)
{
	for (size_t i = 0; layer->rollouts && i < rollouts; i++)
		rollout_copy_release(&layer->rollouts[i].got);
	free(layer->rollouts);
	driver_release(&layer->driver);
}

static void tear_down(struct bisecting *b)
{
	while (b->opened > 0)
		close_layer(&b->layers[--b->opened], b->goldens.count);
	goldens_release(&b->goldens);
	compare_rules_release(&b->rules);
	file_list_free(&b->files);
	difference_printer_release(&b->printer);
	output_release(&b->out);
	buf_release(&b->where);
}

static int bisect_main(const struct context *c, const void *opts, int argc, char **argv,
                       struct error *err)
{
	const struct bisect_options *o = opts;
	struct bisecting b = {.context = c,
	                      .opts = o,
	                      .out = output_of_results(o->json),
	                      .where = BUF(BUF_MAX_SMALL),
	                      .printer = {.style = c->style, .json = o->json}};
	struct batch_count count;
	size_t jobs = opt_number(o->jobs, 1);
	int code = check_usage(o, err) || compare_rules_read(&b.rules, &o->compare, err) ||
	                           descriptors_allow(jobs, err) ||
	                           read_calls(&b, argc, argv, err) || open_layers(&b, err) ||
	                           drive(&b, jobs, &count, err)
	                   ? -1
	                   : conclude(&b, &count, err);

	if (code < 0 && b.opened)
		env_target_hide(&b.layers[0].driver.target, err);
	tear_down(&b);
	return code;
}

CODE(bisect)
