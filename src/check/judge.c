/* Lines in, verdicts out: finds the rollout a line belongs to, asks the rules
   that want it, and sums up. Which line means what is worked out in derive.c. */
#include "check/judge.h"

#include "base/text.h"
#include "check/company.h"
#include "check/derive.h"
#include "check/groups.h"
#include "check/peer.h"
#include "check/verify.h"
#include <stdio.h>
#include <stdlib.h>

/* One rule that takes part, and where its state stands in a rollout's block. */
struct seat {
	const struct check *check;
	size_t offset;
	bool not_checked;
};

struct judge {
	struct judge_conf conf;
	const char *file;
	struct seat seats[CHECKS_MAX];
	size_t seat_count;
	uint64_t by_want[WANTS]; /* which seats want the kind of that bit */
	size_t states;           /* bytes of all states of one rollout */
	struct open_table open;
	struct open_rollout *newest; /* the one the last line belonged to */
	struct company company;
	struct groups groups;
	struct judge_summary sum;
	double reward;
	bool reward_known;
	struct workspace work;
	char not_checked[1024];
};

static int unknown_rule(struct str name, struct error *err)
{
	const char *names[CHECKS_MAX];
	for (size_t i = 0; i < checks_count; i++)
		names[i] = checks[i]->id;
	const char *near = text_nearest(name, names, checks_count);
	if (!near)
		return error_set(err, FAIL_USAGE, "no rule is called \"%.*s\"",
		                 STR_ARG(name));
	return error_set(err, FAIL_USAGE,
	                 "no rule is called \"%.*s\"; did you mean \"%s\"?",
	                 STR_ARG(name), near);
}

/* Marks the rules that a comma-separated list names. */
static int read_list(const char *list, bool named[CHECKS_MAX], struct error *err)
{
	struct str rest = str_from(list);
	for (;;) {
		const char *comma = rest.n ? memchr(rest.p, ',', rest.n) : NULL;
		struct str name = {rest.p, comma ? (size_t)(comma - rest.p) : rest.n};
		size_t i = 0;
		while (i < checks_count && !str_is(name, checks[i]->id))
			i++;
		if (i == checks_count)
			return unknown_rule(name, err);
		named[i] = true;
		if (!comma)
			return 0;
		rest = str_skip(rest, name.n + 1);
	}
}

static size_t aligned(size_t n)
{
	size_t to = _Alignof(max_align_t);
	return (n + to - 1) / to * to;
}

static int take_seats(struct judge *j, struct error *err)
{
	bool only[CHECKS_MAX] = {false}, without[CHECKS_MAX] = {false};
	if (j->conf.only && read_list(j->conf.only, only, err))
		return -1;
	if (j->conf.without && read_list(j->conf.without, without, err))
		return -1;
	for (size_t i = 0; i < checks_count; i++) {
		if ((j->conf.only && !only[i]) || without[i])
			continue;
		for (unsigned want = 0; want < WANTS; want++)
			j->by_want[want] |= (uint64_t)(checks[i]->wants >> want & 1)
			                    << j->seat_count;
		j->seats[j->seat_count++] = (struct seat){checks[i], j->states, false};
		j->states += aligned(checks[i]->state_size);
	}
	return 0;
}

int judge_new(const struct judge_conf *conf, struct judge **out, struct error *err)
{
	struct judge *j = mem_new(sizeof(*j));
	j->conf = *conf;
	if (take_seats(j, err)) {
		free(j);
		return -1;
	}
	j->work.text = BUF(BUF_MAX_MESSAGE);
	j->work.canon = BUF(BUF_MAX_MESSAGE);
	j->work.hasher = hasher_new();
	j->sum.effective = -1;
	j->company.open = &j->open;
	*out = j;
	return 0;
}

void judge_free(struct judge *j)
{
	if (!j)
		return;
	open_release(&j->open);
	company_release(&j->company);
	groups_release(&j->groups);
	buf_release(&j->work.text);
	buf_release(&j->work.canon);
	hasher_free(j->work.hasher);
	free(j);
}

/* The rules that want any of the kinds, one bit each, by their seats. */
static uint64_t who_wants(const struct judge *j, unsigned kinds)
{
	uint64_t who = 0;
	for (; kinds; kinds &= kinds - 1)
		who |= j->by_want[__builtin_ctz(kinds)];
	return who;
}

static void tell_past(struct judge *j, struct open_rollout *o, unsigned kinds)
{
	if (kinds && j->conf.step)
		j->conf.step(j->conf.ctx, &o->facts, &o->newest);
	for (uint64_t who = who_wants(j, kinds); who; who &= who - 1) {
		const struct seat *s = &j->seats[__builtin_ctzll(who)];
		o->findings.rule = s->check->id;
		s->check->past(o->states + s->offset, &o->facts, &o->newest,
		               &o->findings);
	}
}

static void ask(struct judge *j, struct open_rollout *o, unsigned kinds,
                const struct moment *m)
{
	for (uint64_t who = who_wants(j, kinds); who; who &= who - 1) {
		const struct seat *s = &j->seats[__builtin_ctzll(who)];
		o->findings.rule = s->check->id;
		s->check->line(o->states + s->offset, &o->facts, m, &o->findings);
	}
}

static void tell_line(const struct judge *j, const struct open_rollout *o,
                      const struct moment *m)
{
	if (j->conf.line)
		j->conf.line(j->conf.ctx, &o->facts, m);
}

/* In the order of the table, whatever the order in which they were missed. */
static void list_not_checked(struct judge *j)
{
	size_t n = 0;
	for (size_t i = 0; i < j->seat_count; i++) {
		if (!j->seats[i].not_checked || n >= sizeof(j->not_checked))
			continue;
		n += (size_t)snprintf(j->not_checked + n, sizeof(j->not_checked) - n,
		                      "%s%s", n ? "," : "", j->seats[i].check->id);
	}
}

static void ask_last(struct judge *j, struct open_rollout *o, const struct moment *m)
{
	const struct findings *f = &o->findings;
	bool stripped = !o->facts.has_meta && o->facts.steps > 0, missed = false;
	for (struct seat *s = j->seats, *end = s + j->seat_count; s < end; s++) {
		size_t said = f->count + f->left_out;
		o->findings.rule = s->check->id;
		if (s->check->end)
			s->check->end(o->states + s->offset, &o->facts, m, &o->findings);
		if (stripped && s->check->needs_meta && said == f->count + f->left_out)
			missed = s->not_checked = true;
	}
	if (missed)
		list_not_checked(j);
}

static void count_findings(struct judge *j, const struct findings *f)
{
	for (size_t i = 0; i < f->count; i++) {
		switch (f->list[i].severity) {
		case SEVERITY_INFO:
			j->sum.infos++;
			break;
		case SEVERITY_WARNING:
			j->sum.warnings++;
			break;
		case SEVERITY_ERROR:
			j->sum.errors++;
			break;
		}
	}
}

static void sum_up(struct judge *j, const struct tally *t)
{
	struct judge_summary *sum = &j->sum;
	double reward;
	sum->rollouts++;
	sum->turns += t->turns;
	sum->steps += t->steps;
	sum->failed += t->failed;
	sum->unknown += t->unknown;
	if (t->effective >= 0)
		sum->effective = t->effective + (sum->effective > 0 ? sum->effective : 0);
	if (json_double(str_from(t->reward), &reward)) {
		j->reward += reward;
		j->reward_known = true;
	}
}

/* A string's text in memory of the rollout. */
static struct str end_text(struct open_rollout *o, struct str value)
{
	if (json_type(value) != JSON_STRING)
		return (struct str){NULL, 0};
	if (!json_has_escape(value))
		return json_inner(value);
	buf_clear(&o->facts.work->text);
	json_decode(value, &o->facts.work->text);
	return arena_str(&o->arena, buf_view(&o->facts.work->text));
}

static struct str shown_id(struct open_rollout *o)
{
	if (o->instance == 1)
		return o->facts.id;
	char number[32];
	int n = snprintf(number, sizeof(number), "#%lld", (long long)o->instance);
	char *text = arena_new(&o->arena, o->facts.id.n + (size_t)n + 1);
	memcpy(text, o->facts.id.p, o->facts.id.n);
	memcpy(text + o->facts.id.n, number, (size_t)n);
	return (struct str){text, o->facts.id.n + (size_t)n};
}

/* What a trainer can use: an imported rollout without a status is one that ended. */
static bool is_lost(struct str status)
{
	static const char *const lost[] = {"refused", "unreachable", "interrupted",
	                                   "failed", "incomplete"};
	for (size_t i = 0; i < ARRAY_LEN(lost); i++) {
		if (str_is(status, lost[i]))
			return true;
	}
	return false;
}

static void join_group(struct judge *j, const struct rollout_verdict *v)
{
	struct group_member m = {.task = v->task,
	                         .size = v->group_size,
	                         .sample = v->sample,
	                         .lost = v->lost};
	m.rewarded = json_double(str_from(v->tally.reward), &m.reward);
	groups_add(&j->groups, &m);
}

/* The last moment of a rollout: its end line, or none. Frees it. */
static void conclude(struct judge *j, struct open_rollout *o, const struct moment *m)
{
	ask_last(j, o, m);
	findings_sort(&o->findings);
	derive_tally(o, m->line);
	struct str status =
		m->line ? end_text(o, m->line->value[KEY_STATUS]) : STR("incomplete");
	struct rollout_verdict v = {
		.file = j->file,
		.rollout = shown_id(o),
		.task = o->facts.task,
		.status = status.p ? status : STR(""),
		.reason = m->line ? end_text(o, m->line->value[KEY_REASON])
	                          : (struct str){NULL, 0},
		.tally = o->tally,
		.sample = o->facts.sample,
		.group_size = o->facts.group_size,
		.lost = is_lost(status.p ? status : STR("")),
		.findings = o->findings.list,
		.finding_count = o->findings.count,
	};
	count_findings(j, &o->findings);
	sum_up(j, &o->tally);
	join_group(j, &v);
	if (j->conf.verdict)
		j->conf.verdict(j->conf.ctx, &v);
	j->newest = NULL;
	open_end(&j->open, o);
}

static void end_without_line(struct judge *j, struct open_rollout *o)
{
	j->company.current = o;
	const struct moment m = {.tool = TOOL_NONE, .env_steps = -1};
	tell_past(j, o, derive_past(o, NULL));
	conclude(j, o, &m);
}

/* Hands on findings that are about no one rollout, if there are any, and forgets them. */
static void say_findings(struct judge *j, struct rollout_verdict v, struct findings *f)
{
	findings_sort(f);
	v.tally = (struct tally){.effective = -1, .reward = "null"};
	v.findings = f->list;
	v.finding_count = f->count;
	count_findings(j, f);
	if (f->count && j->conf.verdict)
		j->conf.verdict(j->conf.ctx, &v);
	findings_release(f);
}

static void say_group(void *ctx, const struct task_group *g, bool carried)
{
	struct judge *j = ctx;
	struct findings f = {0};
	struct task_group named = *g;
	char name[64];
	const struct rollout_verdict v = {
		.file = carried ? NULL : j->file, .task = g->task, .status = STR("")};
	peer_name(&j->work, g->task, name, sizeof(name));
	named.name = name;
	for (size_t i = 0; i < j->seat_count; i++) {
		f.rule = j->seats[i].check->id;
		if (j->seats[i].check->group)
			j->seats[i].check->group(&named, &f);
	}
	say_findings(j, v, &f);
}

static void finish_open(struct judge *j)
{
	size_t count = j->open.count;
	struct open_rollout **list = open_list(&j->open);
	for (size_t i = 0; i < count; i++)
		end_without_line(j, list[i]);
	free(list);
}

/* Findings about no rollout of any one file. */
static void say_last(struct judge *j)
{
	struct findings f = {0};
	for (size_t i = 0; i < j->seat_count; i++) {
		f.rule = j->seats[i].check->id;
		if (j->seats[i].check->finish)
			j->seats[i].check->finish(j->conf.told.trained, &f);
	}
	say_findings(j, (struct rollout_verdict){.status = STR("")}, &f);
}

void judge_finish(struct judge *j)
{
	finish_open(j);
	groups_take(&j->groups, true, say_group, j);
	if (j->conf.told.trained)
		say_last(j);
}

void judge_file(struct judge *j, const char *file)
{
	finish_open(j);
	groups_take(&j->groups, false, say_group, j);
	open_forget(&j->open);
	j->file = file;
}

/* Half a line after the end of all rollouts: a finding about the file. */
static void judge_torn_tail(struct judge *j)
{
	struct findings f = {.rule = "incomplete"};
	const struct rollout_verdict v = {.file = j->file, .status = STR("incomplete")};
	bool wanted = false;
	for (size_t i = 0; i < j->seat_count; i++)
		wanted = wanted || strcmp(j->seats[i].check->id, f.rule) == 0;
	if (!wanted)
		return;
	finding_say(&f, SEVERITY_ERROR, NULL, "",
	            "the file ends in half a line, after the end of the rollouts in it");
	say_findings(j, v, &f);
}

static void note_torn(struct judge *j)
{
	if (j->open.count == 0) {
		judge_torn_tail(j);
		return;
	}
	struct open_rollout **list = open_list(&j->open);
	for (size_t i = 0; i < j->open.count; i++)
		list[i]->facts.torn = true;
	free(list);
}

static struct open_rollout *find(struct judge *j, struct str id, uint64_t *hash)
{
	if (j->newest && str_eq(j->newest->facts.id, id)) {
		*hash = j->newest->hash;
		return j->newest;
	}
	*hash = open_hash(id);
	return open_find(&j->open, id, *hash);
}

static int not_open(const struct judge *j, const struct line *l, uint64_t hash,
                    struct error *err)
{
	const char *type = line_type_name(l->type);
	if (open_ended(&j->open, hash))
		return error_set(err, FAIL_INPUT,
		                 "a line \"%s\" of rollout \"%.*s\" after its end", type,
		                 STR_ARG(l->rollout));
	return error_set(err, FAIL_INPUT,
	                 "a line \"%s\" of rollout \"%.*s\", which has no header", type,
	                 STR_ARG(l->rollout));
}

static void count_line(struct open_rollout *o, const struct line *l,
                       const struct reader_note *note)
{
	o->facts.lines++;
	o->facts.fused += note && note->fused;
	o->facts.has_meta = o->facts.has_meta || line_has(l, KEY_META);
}

static int judge_header(struct judge *j, const struct line *l,
                        const struct reader_note *note, struct error *err)
{
	uint64_t hash;
	if (find(j, l->rollout, &hash))
		return error_set(err, FAIL_INPUT,
		                 "a second header of rollout \"%.*s\" before its end",
		                 STR_ARG(l->rollout));
	struct open_rollout *o = open_add(&j->open, l->rollout, hash, j->states);
	struct moment m = {.line = l, .tool = TOOL_NONE, .env_steps = -1};
	o->facts.work = &j->work;
	o->facts.company = &j->company;
	o->facts.trained = j->conf.told.trained;
	o->told = &j->conf.told;
	j->company.current = o;
	o->seen = ++j->company.clock;
	j->newest = o;
	if (j->conf.verify && verify_ignored(l, &j->work, &o->ignored, err))
		return -1;
	derive_header(o, l);
	count_line(o, l, note);
	ask(j, o, WANT_HEADER, &m);
	tell_line(j, o, &m);
	return 0;
}

int judge_line(struct judge *j, const struct line *l, const struct reader_note *note,
               struct error *err)
{
	if (note && note->torn) {
		note_torn(j);
		return 0;
	}
	if (l->type == LINE_HEADER)
		return judge_header(j, l, note, err);
	uint64_t hash;
	struct open_rollout *o = find(j, l->rollout, &hash);
	if (!o)
		return l->type == LINE_UNKNOWN ? 0 : not_open(j, l, hash, err);
	if (j->conf.verify && verify_state(l, o->ignored, &j->work, err))
		return -1;
	j->newest = o;
	j->company.current = o;
	j->company.clock++;
	count_line(o, l, note);
	struct moment m;
	tell_past(j, o, derive_past(o, l));
	ask(j, o, derive_line(o, l, &m), &m);
	tell_line(j, o, &m);
	o->seen = j->company.clock;
	if (m.is_step)
		o->acted = j->company.clock;
	if (l->type == LINE_END)
		conclude(j, o, &m);
	return 0;
}

void judge_summary(const struct judge *j, struct judge_summary *out)
{
	*out = j->sum;
	derive_number(j->reward_known, j->reward, out->reward);
}

const char *judge_not_checked(const struct judge *j)
{
	return j->not_checked;
}
