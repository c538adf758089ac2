/* Reading and writing goldens: see goldens.h. */
#include "cmd/golden/goldens.h"

#include "base/file.h"
#include "base/new_file.h"
#include "cmd/options/compare_options.h"
#include "cmd/plan.h"
#include "env/state_source.h"

#include "json/canon.h"
#include "json/write.h"
#include "recording/by_rollout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- options about recorded calls ---- */

#define ROWS recorded
#include "cmd/options/rows.h"

const struct option_group recorded_group = {recorded_opts, ARRAY_LEN(recorded_opts), NULL};
const struct option_group tool_map_group = {recorded_opts + 1, ARRAY_LEN(recorded_opts) - 1, NULL};

static const char *equals_of(const char *entry)
{
	const char *equals = strchr(entry, '=');

	return equals && equals != entry && equals[1] ? equals : NULL;
}

static int tool_map_check(const struct opt_list *map, struct error *err)
{
	for (size_t i = 0; map && i < map->count; i++) {
		if (!equals_of(map->item[i])) {
			return error_set(err, FAIL_USAGE,
			                 "--tool-map %s: not NAME=TOOL, such as move=step",
			                 map->item[i]);
		}
	}
	return 0;
}

/* Appends the line of a step with the name of its tool replaced as the map says; false: it is none that
   the map names. */
static bool tool_map_apply(const struct opt_list *map, const struct line *l, struct buf *text)
{
	struct str name = JSON_GET(l->value[KEY_TOOL_CALL], "name");
	const char *line_end = l->text.p + l->text.n;

	for (size_t i = 0; map && i < map->count && l->type == LINE_STEP; i++) {
		const char *equals = equals_of(map->item[i]);
		struct str from = {map->item[i], (size_t)(equals - map->item[i])};

		if (json_is(name, from)) {
			buf_add(text, l->text.p, (size_t)(name.p - l->text.p));
			json_quote(text, str_from(equals + 1));
			buf_add(text, name.p + name.n, (size_t)(line_end - name.p) - name.n);
			return true;
		}
	}
	return false;
}

/* ---- reading ---- */

static const struct file_kind recording_kind = {
	"a recording", (const char *const[]){"{\"type\":\"header\"", NULL}};

struct golden_reading {
	struct goldens *goldens;
	struct golden *one;
	const char *file;
	struct mask_list masks;
	struct patterns *uses; /* NULL: usage is not tracked */
	struct strip *strip;
};

/* ---- the facts of a golden ---- */

static int refuse_torn(void *ctx, const struct line *l, const struct reader_note *note,
                       struct error *err)
{
	return error_set(
		err, FAIL_INPUT,
		"%s:%llu: the last line is truncated: only a complete recording can be replayed",
		note->file, (unsigned long long)note->line);
}

static int add_sent(struct golden_reading *r, const struct line *l, struct error *err)
{
	AUTO_BUF text = BUF(SIZE_MAX / 2), scratch = BUF(BUF_MAX_SMALL);
	struct line mapped = *l;

	if (tool_map_apply(r->goldens->tool_map, l, &text) &&
	    line_parse(buf_view(&text), &scratch, &mapped, NULL, err))
		return -1;
	mapped.number = l->number;
	return rollout_copy_add(&r->one->want, r->strip, &mapped, err);
}

static int add_line(void *ctx, const struct line *l, const struct reader_note *note,
                    struct error *err)
{
	struct golden_reading *r = ctx;

	r->one->lines++;
	if (l->type == LINE_END && !json_i64(l->value[KEY_LINES], &r->one->lines_counted))
		r->one->lines_counted = -1;
	if (r->uses)
		patterns_see(r->uses, l->text);
	/* steps that were never sent to the environment cannot be replayed */
	return l->type != LINE_STEP || line_was_sent(l)
	               ? add_sent(r, l, err)
	               : strip_line(r->strip, l, &r->one->stripped, err);
}

static struct str object_or_none(struct str value)
{
	return json_type(value) == JSON_OBJECT ? value : STR_NONE;
}

/* The masks of the header; strip has added those of the options and of the file. */
static void read_masks(struct golden *g)
{
	struct arena *arena = &g->want.arena;
	struct str masks = g->want.header.value[KEY_MASKS], mask;
	size_t cursor = 0;

	g->masks = arena_new(arena, (json_count(masks) + 1) * sizeof(*g->masks));
	while (json_next(masks, &cursor, &mask))
		g->masks[g->mask_count++] = json_text(arena, mask).p;
}

static void read_calls(struct golden *g)
{
	struct buf calls = BUF(SIZE_MAX / 2);

	struct json_writer w = jw_form(&calls, "[");
	for (size_t i = 0; i < g->want.count; i++) {
		struct str call = g->want.steps[i].value[KEY_TOOL_CALL];

		struct str arguments = object_or_none(JSON_GET(call, "arguments"));

		jw_pack(&w, "{name:%r,arguments:%r}", JSON_GET(call, "name"),
		        arguments.p ? arguments : STR("{}"));
	}
	jw_end(&w);
	g->calls = buf_keep(&calls, &g->want.arena);
}

static void read_source(struct golden *g)
{
	struct str source = g->want.header.value[KEY_STATE_SOURCE], each;
	struct str list = JSON_GET(source, "ignore");
	AUTO_BUF spec = BUF(BUF_MAX_MESSAGE);

	state_source_spell(source, &spec);
	g->state = spec.n ? arena_str(&g->want.arena, buf_view(&spec)) : STR_NONE;
	g->ignore = arena_new(&g->want.arena, (json_count(list) + 1) * sizeof(*g->ignore));
	if (str_is(JSON_GET(source, "names"), "false"))
		g->ignore[g->ignore_count++] = "none";
	for (size_t at = 0; json_next(list, &at, &each);) {
		struct str pointer = json_text(&g->want.arena, each);

		if (pointer.p)
			g->ignore[g->ignore_count++] = pointer.p;
	}
}

static void read_header(struct golden *g)
{
	const struct line *h = &g->want.header;
	struct str task = h->value[KEY_TASK];

	g->task = json_text(&g->want.arena, JSON_GET(task, "id"));
	g->reset = object_or_none(JSON_GET(task, "reset"));
	g->has_seed = json_i64(h->value[KEY_SEED], &g->seed);
	g->sample = line_count(h->value[KEY_SAMPLE]);
	g->sample = g->sample < 0 ? 0 : g->sample;
	g->plain = line_protocol(h) == PROTOCOL_MCP;
	read_source(g);
}

static int check_complete(const struct golden *g, struct error *err)
{
	const char *missing = !g->want.header.text.p  ? "header"
	                      : !g->want.reset.text.p ? "reset"
	                      : !g->want.end.text.p   ? "end"
	                                              : NULL;

	if (missing) {
		return error_set(
			err, FAIL_INPUT,
			"%s: rollout %.*s has no %s line: only a complete recording can be replayed",
			g->file, STR_ARG(g->want.id), missing);
	}
	if (g->lines_counted >= 0 && g->lines_counted != g->lines) {
		return error_set(err, FAIL_INPUT,
		                 "%s: rollout %.*s %s: its end line counts %" PRId64
		                 " lines, but the file has %" PRId64 "; record it again",
		                 g->file, STR_ARG(g->want.id),
		                 g->lines < g->lines_counted ? "is incomplete" : "has extra lines",
		                 g->lines_counted, g->lines);
	}
	return 0;
}

void golden_start(const struct golden *g, bool seeded, struct rollout_conf *conf)
{
	conf->task = g->task.p;
	conf->sample = g->sample;
	conf->masks = g->masks;
	conf->mask_count = g->mask_count;
	if (g->has_seed && !seeded) {
		conf->env.has_seed = true;
		conf->env.seed = g->seed;
	}
	if (g->reset.p && !conf->env.reset_args.p)
		conf->env.reset_args = g->reset;
	if (g->state.p && str_is(conf->env.state_spec, "auto"))
		conf->env.state_spec = g->state;
	if (g->ignore_count && !conf->env.ignore_count) {
		conf->env.ignore = g->ignore;
		conf->env.ignore_count = g->ignore_count;
	}
	if (g->plain && !conf->env.protocol)
		conf->env.protocol = protocol_name(PROTOCOL_MCP);
	if (g->unrecorded)
		plan_apply_task(g->unrecorded, conf);
}

/* ---- files ---- */

static struct golden *add_golden(struct goldens *g, const char *file)
{
	g->items = mem_grow(g->items, g->count, sizeof(*g->items));
	struct golden *one = &g->items[g->count++];
	*one = (struct golden){
		.file = file, .text = BUF(SIZE_MAX / 2), .stripped = BUF(SIZE_MAX / 2)};
	return one;
}

static int read_rollout(struct golden_reading *r, struct by_rollout *lines, struct error *err)
{
	r->one = add_golden(r->goldens, r->file);
	r->one->want.text = &r->one->stripped;
	if (by_rollout_next(lines, add_line, r, err) || check_complete(r->one, err))
		return -1;
	read_header(r->one);
	read_masks(r->one);
	read_calls(r->one);
	return masks_strip(r->one->masks, r->one->mask_count, &r->one->strip, err);
}

static int read_file(struct goldens *g, struct golden_reading *r, char *const *file,
                     struct error *err)
{
	struct by_rollout *lines = NULL;
	size_t before = g->count;
	int failed = mask_list_file(&r->masks, *file, r->uses, err) ||
	             masks_strip(r->masks.items, r->masks.count, &r->strip, err) ||
	             by_rollout_open(NULL, file, 1, refuse_torn, NULL, &lines, err);

	while (!failed && by_rollout_id(lines).p)
		failed = read_rollout(r, lines, err);
	if (!failed && g->count == before)
		failed = error_set(err, FAIL_INPUT, "%s: contains no recording", *file);
	by_rollout_close(lines);
	strip_free(r->strip);
	return failed ? -1 : 0;
}

/* Sets pointers into the items, which no longer move. */
static void keep_texts(struct goldens *g)
{
	for (size_t i = 0; i < g->count; i++) {
		g->items[i].want.text = &g->items[i].stripped;
		g->items[i].got.text = &g->items[i].text;
	}
}

int goldens_read(struct goldens *g, const struct file_list *files, const struct opt_list *masks,
                 struct patterns *uses, struct error *err)
{
	int failed = tool_map_check(g->tool_map, err);

	*g = (struct goldens){.tool_map = g->tool_map};
	for (size_t i = 0; i < files->count && !failed; i++) {
		struct golden_reading r = {.goldens = g, .file = files->paths[i], .uses = uses};

		mask_list_options(&r.masks, masks);
		failed = read_file(g, &r, &files->paths[i], err);
		mask_list_release(&r.masks);
	}
	keep_texts(g);
	return failed;
}

int goldens_add_task(struct goldens *g, const struct task *t, const char *file,
                     const struct opt_list *masks, struct error *err)
{
	struct golden *one = add_golden(g, file);
	AUTO_BUF id = BUF(BUF_MAX_SMALL);

	buf_printf(&id, "%s.0", t->id);
	one->unrecorded = t;
	one->want.id = arena_str(&one->want.arena, buf_view(&id));
	one->task = arena_str(&one->want.arena, str_from(t->id));
	one->masks = arena_new(&one->want.arena, (masks->count + 1) * sizeof(*one->masks));
	for (size_t i = 0; i < masks->count; i++)
		one->masks[one->mask_count++] = masks->item[i];
	keep_texts(g);
	return masks_strip(one->masks, one->mask_count, &one->strip, err);
}

int goldens_check_environment(const struct goldens *g, const struct target_options *o,
                              struct error *err)
{
	for (size_t i = 0; i < g->count; i++) {
		const struct golden *one = &g->items[i];

		if (!one->unrecorded &&
		    env_target_check_recorded(o, one->file, one->want.header.value[KEY_ENV], err)) {
			return -1;
		}
	}
	return 0;
}

int goldens_check_begin(const struct goldens *g, const struct target_options *o, struct error *err)
{
	for (size_t i = 0; i < g->count && !o->env && !o->seed.given; i++) {
		const struct golden *one = &g->items[i];
		const struct line *then = &one->want.reset, *now = &one->got.reset;

		/* other programs may not record how an episode begins, or otherwise */
		if (one->compared && !one->unrecorded && now->text.p &&
		    line_policy_kind(&one->want.header) != POLICY_IMPORT &&
		    line_has(then, KEY_OBSERVATION) &&
		    !json_equal(then->value[KEY_OBSERVATION], now->value[KEY_OBSERVATION])) {
			return error_set(
				err, FAIL_USAGE,
				"%s: rollout %.*s begins differently in the built-in lake, which "
				"is the environment without --env: name its environment with --env",
				one->file, STR_ARG(one->want.id));
		}
	}
	return 0;
}

struct str goldens_policy(const struct goldens *g)
{
	return g->policy ? g->policy->calls : STR_NONE;
}

int goldens_check_out(const struct file_list *files, const char *out, struct error *err)
{
	for (size_t i = 0; out && i < files->count; i++) {
		if (file_is_same(out, files->paths[i])) {
			return error_set(
				err, FAIL_USAGE,
				"--out %s: that is a golden; name another file, or replace "
				"the golden with --accept",
				out);
		}
	}
	return 0;
}

void goldens_release(struct goldens *g)
{
	for (size_t i = 0; i < g->count; i++) {
		rollout_copy_release(&g->items[i].want);
		rollout_copy_release(&g->items[i].got);
		strip_free(g->items[i].strip);
		proposals_release(&g->items[i].proposals);
		BUFS_RELEASE(&g->items[i].text, &g->items[i].stripped, &g->items[i].lost);
	}
	free(g->items);
	free(g->path);
	*g = (struct goldens){.count = 0};
}

const char *goldens_repeated_id(const struct goldens *g)
{
	struct map seen = {.root = NULL};

	for (size_t i = 0; i < g->count; i++) {
		uint64_t hash = map_hash(g->items[i].want.id);

		if (map_find(&seen, hash, STR_NONE))
			return g->items[i].want.id.p;
		map_add(&seen, &g->items[i].item, hash);
	}
	return NULL;
}

void goldens_propose(const struct goldens *g, struct buf *out)
{
	struct proposals all = {.count = 0};
	size_t before = out->n;
	bool equal = true; /* with the options */

	for (size_t i = 0; i < g->count; i++) {
		const struct golden *one = &g->items[i];

		proposals_add(&all, &one->proposals);
		equal = equal && (!one->count.differences || one->proposals.count);
	}
	all.count = equal ? all.count : 0;
	proposals_say(&all, out);
	buf_text(out, out->n > before ? "\n" : "");
	proposals_release(&all);
}

/* ---- writing ---- */

struct file_verdict goldens_verdict(const struct goldens *g, const char *file)
{
	struct file_verdict v = {.whole = true};

	for (size_t i = 0; i < g->count; i++) {
		const struct golden *one = &g->items[i];

		if (one->file == file) {
			bool differs = one->count.differences > 0;

			v.different += differs;
			v.accepted += differs && one->accepted;
			v.rejected += one->rejected;
			v.recorded += one->unrecorded != NULL;
			v.whole = v.whole && one->compared && one->opened;
		}
	}
	return v;
}

/* The calls are those of the golden, and so is what chose them. */
static void write_replayed(const struct golden *g, struct new_file *to)
{
	struct str text = buf_view(&g->text), header = g->got.header.text;
	struct str now = g->got.header.value[KEY_POLICY], then = g->want.header.value[KEY_POLICY];

	if (now.p && then.p && str_starts(text, header)) {
		size_t before = (size_t)(now.p - header.p);

		new_file_write(to, (struct str){text.p, before});
		new_file_write(to, then);
		text = str_skip(text, before + now.n);
	}
	new_file_write(to, text);
}

static void write_rollouts(const struct goldens *g, const char *file, bool over,
                           struct new_file *to)
{
	for (size_t i = 0; i < g->count; i++) {
		const struct golden *one = &g->items[i];

		if (one->file == file && over && !one->accepted)
			new_file_write(to, buf_view(&one->stripped));
		else if (one->file == file)
			write_replayed(one, to);
	}
}

int goldens_write(const struct goldens *g, const char *file, bool over, struct error *err)
{
	AUTO_BUF path = BUF(BUF_MAX_SMALL);
	struct new_file to = {.fd = -1};

	buf_printf(&path, "%s%s", file, over ? "" : ".new");
	struct new_file_conf conf = {buf_cstr(&path),
	                             .kind = over ? &file_kind_any : &recording_kind};
	int failed = !file_is_link(conf.path) && file_may_block(conf.path)
	                     ? error_set(err, FAIL_USAGE, "%s is not a regular file: remove it",
	                                 conf.path)
	                     : new_file_open(&to, &conf, err);
	if (!failed) {
		write_rollouts(g, file, over, &to);
		failed = new_file_publish(&to, err);
	}
	new_file_release(&to);
	return failed;
}

void goldens_forget(const char *file)
{
	AUTO_BUF path = BUF(BUF_MAX_SMALL);

	buf_printf(&path, "%s.new", file);
	if (file_is_of_kind(buf_cstr(&path), &recording_kind))
		unlink(buf_cstr(&path));
}
