/* Compares rollouts line by line: see compare.h. */
#include "compare/compare.h"

#include "base/map.h"
#include "compare/align.h"
#include "json/diff.h"
#include "json/paths.h"

#include <math.h>
#include <stdlib.h>

/* The compared values of each line type. */
static const struct {
	enum line_type type;
	enum key key;
	const char *member; /* compare only this member of an object; NULL: the whole value */
} compared[] = {
	{LINE_HEADER, KEY_TASK, NULL},       {LINE_HEADER, KEY_SEED, NULL},
	{LINE_HEADER, KEY_ENV, NULL},        {LINE_HEADER, KEY_STATE_SOURCE, NULL},
	{LINE_HEADER, KEY_POLICY, NULL},     {LINE_HEADER, KEY_TOOLS, NULL},
	{LINE_RESET, KEY_OUTCOME, NULL},     {LINE_RESET, KEY_ERROR, "class"},
	{LINE_RESET, KEY_OBSERVATION, NULL}, {LINE_RESET, KEY_STRUCTURED, NULL},
	{LINE_RESET, KEY_RAW, NULL},         {LINE_RESET, KEY_RAW_BASE64, NULL},
	{LINE_STEP, KEY_STATE, NULL},        {LINE_STEP, KEY_OUTCOME, NULL},
	{LINE_STEP, KEY_ERROR, "class"},     {LINE_STEP, KEY_OBSERVATION, NULL},
	{LINE_STEP, KEY_STRUCTURED, NULL},   {LINE_STEP, KEY_RAW, NULL},
	{LINE_STEP, KEY_RAW_BASE64, NULL},   {LINE_STEP, KEY_REWARD, NULL},
	{LINE_STEP, KEY_TERMINATED, NULL},   {LINE_STEP, KEY_TRUNCATED, NULL},
	{LINE_END, KEY_STATUS, NULL},        {LINE_END, KEY_TOTAL_REWARD, NULL},
	{LINE_END, KEY_STATE, NULL},         {LINE_END, KEY_REWARD_COMPONENTS, NULL},
};

struct comparison {
	bool imported[2]; /* imported from another format, where null means unknown */
	const struct compare_conf *conf;
	struct compare_count *count;
	struct difference d; /* the difference to report; everything but its values is set */
	struct buf pointer;  /* "/state" and the path below it */
	size_t base;         /* length of "/state" */
	bool one_sided;      /* report values that only one side has, instead of changed ones */
	bool found;
};

const char *difference_kind_name(enum difference_kind k)
{
	static const char *const names[DIFFERENCE_KINDS] = {
		"changed",    "added",           "removed",       "missing-step",
		"extra-step", "missing-rollout", "extra-rollout",
	};

	return names[k];
}

static void add_difference(struct comparison *c, enum difference_kind kind)
{
	c->found = true;
	c->count->differences++;
	c->count->kinds[kind]++;
	c->d.kind = kind;
	if (c->conf->take)
		c->conf->take(c->conf->ctx, &c->d);
}

/* An absent value is one that only the other side has. */
static void add_values(struct comparison *c, struct str expected, struct str got)
{
	c->d.expected = expected;
	c->d.got = got;
	add_difference(c, !expected.p ? DIFFERENCE_ADDED
	                  : !got.p    ? DIFFERENCE_REMOVED
	                              : DIFFERENCE_CHANGED);
}

/* ---- values ---- */

static double tolerance_at(const struct comparison *c)
{
	for (size_t i = 0; i < c->conf->tolerance_count; i++) {
		if (json_pattern_fits(str_from(c->conf->tolerances[i].pattern),
		                      buf_view(&c->pointer))) {
			return c->conf->tolerances[i].most;
		}
	}
	return 0;
}

static bool is_fraction(struct str number)
{
	return memchr(number.p, '.', number.n) || memchr(number.p, 'e', number.n) ||
	       memchr(number.p, 'E', number.n);
}

/* Numbers with one value, such as 1 and 1.0, are equal. Two different integers that round to the
   same double are not. */
static bool are_near(const struct comparison *c, struct str a, struct str b)
{
	double x, y, most = tolerance_at(c);

	if (json_type(a) != JSON_NUMBER || json_type(b) != JSON_NUMBER || !json_double(a, &x) ||
	    !json_double(b, &y)) {
		return false;
	}
	if (most > 0)
		return fabs(x - y) <= most;
	return x == y && (is_fraction(a) || is_fraction(b));
}

static bool is_masked(struct str value)
{
	return str_eq(value, STR("\"<masked>\""));
}

/* Sets c->pointer to a pointer below the compared key. */
static void point_below(struct comparison *c, struct str pointer)
{
	buf_cut(&c->pointer, c->base);
	buf_str(&c->pointer, pointer);
}

static bool is_unordered(void *ctx, struct str pointer, struct str *key)
{
	struct comparison *c = ctx;

	point_below(c, pointer);
	for (size_t i = 0; i < c->conf->unordered_count; i++) {
		const struct unordered *u = &c->conf->unordered[i];

		if (json_pattern_fits(str_from(u->pattern), buf_view(&c->pointer))) {
			*key = str_from(u->key);
			return true;
		}
	}
	return false;
}

static bool take_value(void *ctx, const struct json_difference *v)
{
	struct comparison *c = ctx;

	point_below(c, v->pointer);
	if (is_masked(v->before) || is_masked(v->after) ||
	    c->one_sided == (v->before.p && v->after.p) ||
	    (v->before.p && v->after.p && are_near(c, v->before, v->after))) {
		return true;
	}
	c->d.pointer = buf_view(&c->pointer);
	add_values(c, v->before, v->after);
	return true;
}

/* ---- lines ---- */

static struct str value_of(const struct line *l, enum key key, const char *member)
{
	struct str value = l->value[key];

	if (member) {
		value = json_type(value) == JSON_OBJECT ? json_get(value, str_from(member))
		                                        : STR_NONE;
	}
	return value.p ? value : STR("null");
}

static bool ended_by_environment(const struct line *end)
{
	return end->status == END_TERMINATED || end->status == END_TRUNCATED;
}

/* If the policy ended both rollouts, their status is not a fact about the environment. */
static bool is_left_out(const struct comparison *c, enum key key, const struct line *a,
                        const struct line *b)
{
	return key == KEY_STATUS && c->conf->replayed && !ended_by_environment(a) &&
	       !ended_by_environment(b);
}

/* A value missing in a recording of another program is not a difference. */
static bool is_unknown(const struct comparison *c, struct str x, struct str y)
{
	return (c->imported[0] && json_is_null(x)) || (c->imported[1] && json_is_null(y));
}

static bool is_imported(const struct rollout_copy *r)
{
	return JSON_GET(r->header.value[KEY_ENV], "facts").p;
}

static void compare_values(struct comparison *c, const struct line *a, const struct line *b)
{
	const struct json_unordered how = {is_unordered, c};

	for (size_t i = 0; i < ARRAY_LEN(compared); i++) {
		if (compared[i].type != a->type)
			continue;
		enum key key = compared[i].key;
		const char *member = compared[i].member;
		struct str x = value_of(a, key, member), y = value_of(b, key, member);
		if (str_eq(x, y) || is_unknown(c, x, y) || is_left_out(c, key, a, b))
			continue;
		buf_clear(&c->pointer);
		buf_printf(&c->pointer, "/%s%s%s", line_key_name(key), member ? "/" : "",
		           member ? member : "");
		c->base = c->pointer.n;
		c->d.line = a;
		json_diff_unordered(x, y, &how, take_value);
	}
}

/* What changed says more than what is new, so it is reported first. */
static void compare_lines(struct comparison *c, const struct line *a, const struct line *b)
{
	c->one_sided = false;
	compare_values(c, a, b);
	c->one_sided = true;
	compare_values(c, a, b);
}

/* A line in only one of the rollouts is reported as one difference. */
static void compare_pair(struct comparison *c, const struct line *a, const struct line *b)
{
	if (a->text.p && b->text.p) {
		compare_lines(c, a, b);
	} else if (a->text.p || b->text.p) {
		c->d.line = a->text.p ? a : b;
		c->d.pointer = STR_NONE;
		add_values(c, a->text, b->text);
	}
}

/* ---- tools ---- */

static void take_tool(void *ctx, const struct tool_change *t)
{
	struct comparison *c = ctx;

	if (t->class != TOOL_BREAKING && c->conf->tools != TOOLS_STRICT) {
		if (c->conf->tool_said)
			c->conf->tool_said(c->conf->ctx, t);
		return;
	}
	c->d.pointer = t->pointer;
	add_values(c, t->expected, t->got);
}

static void compare_tool_lists(struct comparison *c, const struct line *a, const struct line *b)
{
	if (c->conf->tools != TOOLS_IGNORED && !c->imported[0] && !c->imported[1]) {
		c->d.line = a;
		tool_changes(a->value[KEY_TOOLS], b->value[KEY_TOOLS], take_tool, c);
	}
}

/* ---- steps ---- */

static uint64_t call_of(const struct line *step)
{
	return map_hash_with(map_hash(line_arguments(step)), map_hash(line_tool_name(step)));
}

/* The call with the state before it and the reply. */
static uint64_t content_of(const struct line *step)
{
	static const enum key keys[] = {KEY_STATE, KEY_OBSERVATION, KEY_OUTCOME};
	uint64_t hash = call_of(step);

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		hash = map_hash_with(hash, map_hash(step->value[keys[i]]));
	return hash;
}

typedef uint64_t hash_fn(const struct line *step);

static uint64_t *hashes_of(const struct rollout_copy *r, hash_fn *hash)
{
	uint64_t *hashes = mem_array(r->count + 1, sizeof(*hashes));

	for (size_t i = 0; i < r->count; i++)
		hashes[i] = hash(&r->steps[i]);
	return hashes;
}

static void report_unpaired_step(struct comparison *c, const struct line *step, bool extra)
{
	struct str call = line_has(step, KEY_TOOL_CALL) ? step->value[KEY_TOOL_CALL] : STR("null");

	c->d.line = step;
	c->d.pointer = STR_NONE;
	c->d.expected = extra ? STR_NONE : call;
	c->d.got = extra ? call : STR_NONE;
	add_difference(c, extra ? DIFFERENCE_EXTRA_STEP : DIFFERENCE_MISSING_STEP);
}

/* An alignment of the steps of two rollouts. */
struct alignment {
	struct aligned *list;
	size_t count, pairs;
};

static struct alignment align_by(const struct rollout_copy *a, const struct rollout_copy *b,
                                 hash_fn *hash)
{
	uint64_t *first = hashes_of(a, hash), *second = hashes_of(b, hash);
	struct alignment all = {.list = mem_array(a->count + b->count + 1, sizeof(*all.list))};

	all.count = align(first, a->count, second, b->count, all.list);
	for (size_t i = 0; i < all.count; i++)
		all.pairs += all.list[i].kind == ALIGN_BOTH;
	free(first);
	free(second);
	return all;
}

/* Pairs the calls between two of the pairs, too. */
static void align_gap(struct alignment *out, const struct rollout_copy *a, size_t a_from,
                      size_t a_end, const struct rollout_copy *b, size_t b_from, size_t b_end)
{
	const struct rollout_copy first = {.steps = a->steps + a_from, .count = a_end - a_from};
	const struct rollout_copy second = {.steps = b->steps + b_from, .count = b_end - b_from};
	struct alignment gap = align_by(&first, &second, call_of);

	for (size_t i = 0; i < gap.count; i++) {
		gap.list[i].first += a_from;
		gap.list[i].second += b_from;
		out->list[out->count++] = gap.list[i];
	}
	out->pairs += gap.pairs;
	free(gap.list);
}

static struct alignment align_by_content(const struct rollout_copy *a, const struct rollout_copy *b)
{
	struct alignment same = align_by(a, b, content_of);
	struct alignment all = {.list = mem_array(a->count + b->count + 1, sizeof(*all.list))};
	size_t x = 0, y = 0;

	for (size_t i = 0; i < same.count; i++) {
		struct aligned pair = same.list[i];

		if (pair.kind == ALIGN_BOTH) {
			align_gap(&all, a, x, pair.first, b, y, pair.second);
			all.list[all.count++] = pair;
			all.pairs++;
			x = pair.first + 1;
			y = pair.second + 1;
		}
	}
	align_gap(&all, a, x, a->count, b, y, b->count);
	free(same.list);
	return all;
}

/* By their calls; which of several equal calls was left out is told by the state and the reply. A replay
   sends its calls in order. */
static struct alignment align_steps(const struct rollout_copy *a, const struct rollout_copy *b,
                                    bool replayed)
{
	struct alignment calls = align_by(a, b, call_of);

	if (replayed || a->count == b->count)
		return calls;
	struct alignment content = align_by_content(a, b);
	bool better = content.pairs >= calls.pairs;

	free(better ? calls.list : content.list);
	return better ? content : calls;
}

static void compare_steps(struct comparison *c, const struct rollout_copy *first,
                          const struct rollout_copy *second)
{
	struct alignment all = align_steps(first, second, c->conf->replayed);

	for (size_t i = 0; i < all.count; i++) {
		const struct aligned *p = &all.list[i];

		if (p->kind == ALIGN_BOTH)
			compare_lines(c, &first->steps[p->first], &second->steps[p->second]);
		else if (p->kind == ALIGN_FIRST)
			report_unpaired_step(c, &first->steps[p->first], false);
		else
			report_unpaired_step(c, &second->steps[p->second], true);
	}
	free(all.list);
}

/* ---- rollouts ---- */

static struct comparison begin_comparison(const struct rollout_copy *first,
                                          const struct rollout_copy *second,
                                          const struct compare_conf *conf,
                                          struct compare_progress *p, struct compare_count *count)
{
	struct comparison c = {.conf = conf,
	                       .count = count,
	                       .imported = {is_imported(first), is_imported(second)},
	                       .d = {.rollout = first->id},
	                       .pointer = BUF(BUF_MAX_MESSAGE),
	                       .found = p->found};

	if (!p->begun) {
		p->begun = true;
		if (conf->header)
			compare_pair(&c, &first->header, &second->header);
		compare_tool_lists(&c, &first->header, &second->header);
		compare_pair(&c, &first->reset, &second->reset);
	}
	return c;
}

static void end_comparison(struct comparison *c, struct compare_progress *p)
{
	p->found = c->found;
	buf_release(&c->pointer);
}

bool compare_same_call(const struct line *a, const struct line *b)
{
	return call_of(a) == call_of(b);
}

bool compare_same_content(const struct line *a, const struct line *b)
{
	return content_of(a) == content_of(b);
}

void compare_next_steps(const struct rollout_copy *first, const struct line *a,
                        const struct rollout_copy *second, const struct line *b,
                        const struct compare_conf *conf, struct compare_progress *p,
                        struct compare_count *count)
{
	struct comparison c = begin_comparison(first, second, conf, p, count);

	compare_lines(&c, a, b);
	p->steps++;
	end_comparison(&c, p);
}

void compare_rest(const struct rollout_copy *first, const struct rollout_copy *second,
                  const struct compare_conf *conf, struct compare_progress *p,
                  struct compare_count *count)
{
	struct comparison c = begin_comparison(first, second, conf, p, count);

	count->rollouts++;
	count->steps += p->steps + first->count;
	compare_steps(&c, first, second);
	compare_pair(&c, &first->end, &second->end);
	end_comparison(&c, p);
	count->different += p->found;
}

void compare_rollouts(const struct rollout_copy *first, const struct rollout_copy *second,
                      const struct compare_conf *conf, struct compare_count *count)
{
	compare_rest(first, second, conf, &(struct compare_progress){.begun = false}, count);
}

void compare_unpaired(const struct rollout_copy *r, bool extra, const struct compare_conf *conf,
                      struct compare_count *count)
{
	struct comparison c = {.conf = conf, .count = count, .d = {.rollout = r->id}};

	count->rollouts++;
	count->steps += extra ? 0 : r->dropped + r->count;
	add_difference(&c, extra ? DIFFERENCE_EXTRA_ROLLOUT : DIFFERENCE_MISSING_ROLLOUT);
	count->different++;
}

void compare_add(struct compare_count *to, const struct compare_count *more)
{
	to->rollouts += more->rollouts;
	to->different += more->different;
	to->steps += more->steps;
	to->differences += more->differences;
	for (int kind = 0; kind < DIFFERENCE_KINDS; kind++)
		to->kinds[kind] += more->kinds[kind];
}
