/* Runs the rules on facts, and counts findings: see judge.h. */
#include "check/judge.h"

#include "check/judge_internal.h"
#include "evidence/peer.h"
#include "evidence/sharing.h"
#include "json/canon.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- line numbers of the turns of an open rollout ---- */

#define TURN_LINES_MAX ((size_t)1 << 16) /* later turns are not kept */

/* Empty if zeroed. */
struct turn_lines {
	uint64_t header;
	uint64_t *first; /* by turn: its first line; 0: not seen */
	size_t count;
};

static void turn_lines_add(struct turn_lines *t, const struct line *l)
{
	if (l->type == LINE_HEADER && !t->header)
		t->header = l->number;
	if (l->turn < 0 || l->turn >= (int64_t)TURN_LINES_MAX)
		return;
	while (t->count <= (size_t)l->turn) {
		t->first = mem_grow(t->first, t->count, sizeof(*t->first));
		t->first[t->count++] = 0;
	}
	if (!t->first[l->turn])
		t->first[l->turn] = l->number;
}

static uint64_t turn_lines_find(const struct turn_lines *t, int64_t turn)
{
	bool kept = turn >= 0 && (uint64_t)turn < t->count && t->first[turn];

	return kept ? t->first[turn] : t->header;
}

/* ---- hashes that must match the states, because rules rely on them ---- */

/* Reads the pointers ignored in states from the header; *out is NULL if there are none. */
static int read_ignored(const struct line *header, struct workspace *w, struct json_paths **out,
                        struct error *err)
{
	struct str list = JSON_GET(header->value[KEY_STATE_SOURCE], "ignore"), one;

	*out = json_count(list) ? json_paths_new(false) : NULL;
	for (size_t cursor = 0; json_next(list, &cursor, &one);) {
		buf_clear(&w->text);
		json_decode(one, &w->text);
		if (json_paths_add(*out, buf_view(&w->text), err)) {
			json_paths_free(*out);
			*out = NULL;
			return error_wrap(err, "state_source.ignore");
		}
	}
	return 0;
}

static int verify_state(const struct line *l, const struct json_paths *ignored, struct workspace *w,
                        struct error *err)
{
	struct str state = l->value[KEY_STATE], hash = line_state_hash(l);
	char now[HASH_HEX + 1];

	if (json_is_null(state) || hash.n == 0)
		return 0;
	json_hash(state, ignored, &w->canon, now);
	if (str_is(hash, now))
		return 0;
	return error_set(err, FAIL_INPUT,
	                 "state_hash is %.*s, but the state's hash is %s: one of them was "
	                 "changed after recording",
	                 (int)(hash.n < HASH_HEX ? hash.n : HASH_HEX), hash.p, now);
}

/* ---- rules ---- */

/* Kept with the facts of an open rollout. */
struct judged_rollout {
	struct findings findings;
	struct json_paths *ignored; /* in states, when their hashes are verified */
	struct turn_lines lines;    /* only if line numbers are requested */
	_Alignas(max_align_t) unsigned char states[]; /* of the rules */
};

static void release_judged(void *user)
{
	struct judged_rollout *o = user;

	findings_release(&o->findings);
	json_paths_free(o->ignored);
	free(o->lines.first);
}

/* Sets the size of all states. */
static int select_rules(struct judge *j, size_t *size, struct error *err)
{
	bool chosen[CHECKS_MAX];
	const size_t unit = _Alignof(max_align_t);

	*size = 0;
	if (checks_choose(j->conf.only, j->conf.without, chosen, err))
		return -1;
	for (size_t i = 0; i < checks_count; i++) {
		if (!chosen[i])
			continue;
		for (unsigned kind = 0; kind < KINDS; kind++) {
			j->by_kind[kind] |= (uint64_t)(checks[i]->wants >> kind & 1)
			                    << j->rule_count;
		}
		j->rules[j->rule_count++] = (struct rule_instance){checks[i], *size, false};
		*size += (checks[i]->state_size + unit - 1) / unit * unit;
	}
	return 0;
}

int judge_new(const struct judge_conf *conf, struct judge **out, struct error *err)
{
	struct judge *j = mem_new(sizeof(*j));
	size_t states;

	j->conf = *conf;
	if (select_rules(j, &states, err)) {
		free(j);
		return -1;
	}
	j->facts = evidence_new(
		&(struct evidence_conf){.hints = conf->hints,
	                                .user_size = sizeof(struct judged_rollout) + states,
	                                .user_release = release_judged,
	                                .lenient = conf->lenient});
	j->sum.effective = -1;
	*out = j;
	return 0;
}

void judge_free(struct judge *j)
{
	if (!j)
		return;
	evidence_free(j->facts);
	groups_release(&j->groups);
	free(j);
}

/* The rules that need any of the kinds, as bits by index in j->rules. */
static uint64_t rules_for(const struct judge *j, unsigned kinds, const struct rollout_facts *r)
{
	uint64_t rules = 0;

	for (; kinds; kinds &= kinds - 1)
		rules |= j->by_kind[__builtin_ctz(kinds)];
	for (size_t i = 0; r->known != UINT64_MAX && i < j->rule_count; i++)
		rules &= ~((uint64_t)check_lacks_facts(j->rules[i].check, r) << i);
	return rules;
}

static void run_line(const struct judge *j, struct judged_rollout *o,
                     const struct evidence_update *u)
{
	for (uint64_t rules = rules_for(j, u->kinds, u->rollout); rules; rules &= rules - 1) {
		size_t rule = (size_t)__builtin_ctzll(rules);
		const struct check *c = j->rules[rule].check;
		void *state = o->states + j->rules[rule].state;

		o->findings.rule = c->id;
		if (c->line)
			c->line(state, u->rollout, &u->derived);
		else
			c->find(state, u->rollout, &u->derived, &o->findings);
	}
}

static void list_not_checked(struct judge *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->rule_count && n < sizeof(j->not_checked); i++) {
		if (!j->rules[i].not_checked)
			continue;
		n += (size_t)snprintf(j->not_checked + n, sizeof(j->not_checked) - n, "%s%s",
		                      n ? "," : "", j->rules[i].check->id);
	}
}

static void run_end(struct judge *j, struct judged_rollout *o, const struct evidence_update *u)
{
	const struct findings *f = &o->findings;
	bool stripped = !u->rollout->has_meta && u->rollout->steps > 0, missed = false;

	for (size_t i = 0; i < j->rule_count; i++) {
		struct rule_instance *s = &j->rules[i];
		size_t findings_before = f->count + f->left_out;

		o->findings.rule = s->check->id;
		o->findings.not_judged = check_lacks_facts(s->check, u->rollout);
		if (s->check->end && !o->findings.not_judged)
			s->check->end(o->states + s->state, u->rollout, &o->findings);
		if (s->check->close && !o->findings.not_judged)
			s->check->close(o->states + s->state, u->rollout, &u->derived,
			                &o->findings);
		bool found_nothing = findings_before == f->count + f->left_out;
		if (f->not_judged || (stripped && s->check->needs_meta && found_nothing))
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

static void add_counters(struct judge *j, const struct counters *t)
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
		j->file_reward += reward;
		j->reward_known = true;
	}
}

/* Did others change its environment, or was the session replaced? */
static bool is_disturbed(const struct rollout_verdict *v)
{
	for (size_t i = 0; i < v->finding_count; i++) {
		const char *rule = v->findings[i].rule;
		if (!strcmp(rule, "session-alias") || !strcmp(rule, "session-churn"))
			return true;
	}
	return false;
}

static void add_to_group(struct judge *j, const struct rollout_verdict *v,
                         const struct rollout_facts *r)
{
	struct group_member m = {
		.task = v->task, .size = v->group_size, .sample = v->sample, .lost = v->lost};

	m.is_void = v->counters.steps == v->counters.failed &&
	            !(r->imported && r->steps == 0 && r->turns > 1);
	m.has_tools = r->steps > 0 || r->tool_count > 0 || !r->imported;
	m.unlisted = rollout_is_unlisted(r);
	m.open = !r->imported && r->group_size <= 0 && r->max_turns < 0;
	m.seed = r->seed;
	m.trace = r->has_seed && !is_disturbed(v) ? r->trace : NULL;
	m.rewarded = json_double(str_from(v->counters.reward), &m.reward);
	groups_add(&j->groups, &m);
}

static void conclude(struct judge *j, struct judged_rollout *o, const struct evidence_update *u)
{
	const struct rollout_end *end = u->end;

	run_end(j, o, u);
	for (size_t i = 0; i < o->findings.count; i++) {
		struct finding *f = &o->findings.list[i];

		f->line = turn_lines_find(&o->lines, f->first_turn);
	}
	findings_spell(&o->findings, j->conf.settings);
	findings_sort(&o->findings);
	struct rollout_verdict v = {
		.file = j->file,
		.rollout = end->id,
		.task = u->rollout->task,
		.line = o->lines.header,
		.status = end->status,
		.reason = end->reason,
		.counters = end->counters,
		.sample = u->rollout->sample,
		.group_size = u->rollout->group_size,
		.lost = end->lost,
		.failure = end->failure,
		.no_reward = end->no_reward,
		.findings = o->findings.list,
		.finding_count = o->findings.count,
	};
	count_findings(j, &o->findings);
	add_counters(j, &v.counters);
	failure_count_take(&j->sum.failures, v.failure, v.no_reward);
	movement_add(&j->sum.movement, u->rollout);
	add_to_group(j, &v, u->rollout);
	if (j->conf.verdict)
		j->conf.verdict(j->conf.ctx, &v);
}

static void judge_update(struct judge *j, const struct evidence_update *u)
{
	struct judged_rollout *o = u->user;

	if (j->conf.places && u->derived.line)
		turn_lines_add(&o->lines, u->derived.line);
	run_line(j, o, u);
	if (j->conf.line)
		j->conf.line(j->conf.ctx, u);
	if (u->end)
		conclude(j, o, u);
}

/* Reports findings that do not belong to one rollout, if any, and clears the list. */
static void report_findings(struct judge *j, struct rollout_verdict v, struct findings *f)
{
	findings_sort(f);
	v.counters = (struct counters){.effective = -1, .reward = "null"};
	v.findings = f->list;
	v.finding_count = f->count;
	count_findings(j, f);
	if (f->count && j->conf.verdict)
		j->conf.verdict(j->conf.ctx, &v);
	findings_release(f);
}

bool judge_has_rule(const struct judge *j, const struct check *rule)
{
	for (size_t i = 0; i < j->rule_count; i++)
		if (j->rules[i].check == rule)
			return true;
	return false;
}

void judge_confirm(struct judge *j, enum confirmation what, const char *message)
{
	const struct rollout_verdict v = {.file = j->file};
	struct findings f = {.rule = check_no_history.id};

	j->sum.confirmation = what;
	if ((what == REFUTED || what == DOUBTED) && judge_has_rule(j, &check_no_history)) {
		finding_add(&f, what == REFUTED ? SEVERITY_ERROR : SEVERITY_WARNING, NULL, "", "%s",
		            message);
	}
	report_findings(j, v, &f);
}

static void report_group_findings(void *ctx, const struct task_group *g, bool carried)
{
	struct judge *j = ctx;
	struct findings f = {0};
	struct task_group named = *g;
	char name[64];
	const struct rollout_verdict v = {.file = carried ? NULL : j->file, .task = g->task};

	peer_name(evidence_workspace(j->facts), g->task, name, sizeof(name));
	named.name = name;
	named.acted = j->sum.steps > 0;
	for (size_t i = 0; i < j->rule_count; i++) {
		f.rule = j->rules[i].check->id;
		if (j->rules[i].check->group)
			j->rules[i].check->group(&named, &f);
	}
	report_findings(j, v, &f);
}

static void finish_open(struct judge *j)
{
	struct evidence_update u;

	while (evidence_end_next(j->facts, &u))
		judge_update(j, &u);
}

/* Findings that do not belong to one file. */
static void report_last(struct judge *j)
{
	struct findings f = {0};

	for (size_t i = 0; i < j->rule_count; i++) {
		f.rule = j->rules[i].check->id;
		if (j->rules[i].check->finish)
			j->rules[i].check->finish(j->conf.hints.trained, &f);
	}
	report_findings(j, (struct rollout_verdict){.file = NULL}, &f);
}

void judge_finish(struct judge *j)
{
	finish_open(j);
	groups_take(&j->groups, true, report_group_findings, j);
	if (j->conf.hints.trained)
		report_last(j);
}

void judge_many(struct judge *j)
{
	j->many = true;
}

void judge_file(struct judge *j, const char *file)
{
	finish_open(j);
	groups_take(&j->groups, false, report_group_findings, j);
	evidence_new_file(j->facts);
	/* per file, so that the rounded sum does not depend on the number of threads */
	j->reward += j->file_reward;
	j->file_reward = 0;
	j->file = file;
	j->headless = false;
}

/* Adds the finding `incomplete` about the file. */
static void add_incomplete(struct judge *j, const char *what)
{
	struct findings f = {.rule = "incomplete"};
	const struct rollout_verdict v = {.file = j->file, .status = END_INCOMPLETE};

	if (!judge_has_rule(j, &check_incomplete))
		return;
	finding_add(&f, SEVERITY_ERROR, NULL, "", "%s", what);
	report_findings(j, v, &f);
}

static int verify(const struct evidence_update *u, struct error *err)
{
	struct judged_rollout *o = u->user;
	const struct line *l = u->derived.line;

	return l->type == LINE_HEADER ? read_ignored(l, u->rollout->work, &o->ignored, err)
	                              : verify_state(l, o->ignored, u->rollout->work, err);
}

/* Called for the first such line of a file. */
static void judge_headless(struct judge *j)
{
	if (!j->headless) {
		add_incomplete(j, "lines of a rollout without a header: the file starts in the "
		                  "middle of the rollout");
	}
	j->headless = true;
}

int judge_line(struct judge *j, const struct line *l, const struct reader_note *note,
               struct error *err)
{
	struct evidence_update u;

	if (evidence_end_unfinished(j->facts, l, &u))
		judge_update(j, &u);
	if (evidence_line(j->facts, l, note, &u, err)) {
		if (!j->many || !evidence_is_headless(j->facts, l))
			return -1;
		judge_headless(j);
		return 0;
	}
	if (note && note->torn && evidence_open_count(j->facts) == 0) {
		add_incomplete(j,
		               "the file ends in a truncated line that belongs to no open rollout");
	}
	if (!u.rollout)
		return 0;
	if (j->conf.verify && verify(&u, err))
		return -1;
	judge_update(j, &u);
	return 0;
}

struct judging {
	struct judge *judge;
	after_line_fn *after;
	void *ctx;
};

static int to_judge(void *ctx, const struct line *l, const struct reader_note *n, struct error *err)
{
	struct judging *j = ctx;

	if (judge_line(j->judge, l, n, err))
		return -1;
	return j->after ? j->after(j->ctx, err) : 0;
}

int judge_recording(struct judge *j, const char *path, after_line_fn *after, void *ctx,
                    struct error *err)
{
	struct judging judging = {j, after, ctx};

	judge_file(j, path);
	if (!j->many)
		return reader_file(path, to_judge, &judging, err);
	bool any;
	if (reader_file_lines(path, to_judge, &judging, &any, err))
		return -1;
	if (!any)
		add_incomplete(j, "the file is empty");
	return 0;
}

int judge_part_new(const struct judge_conf *conf, int64_t number, struct judge **out,
                   struct error *err)
{
	if (judge_new(conf, out, err))
		return -1;
	judge_many(*out);
	groups_keep_log(&(*out)->groups);
	evidence_number_file((*out)->facts, number);
	return 0;
}

void judge_part_finish(struct judge *part)
{
	finish_open(part);
}

bool judge_can_absorb(const struct judge *j, const struct judge *part)
{
	return sharing_can_absorb(evidence_sharing(j->facts), evidence_sharing(part->facts));
}

static void add_sums(struct judge_summary *to, const struct judge_summary *s)
{
	to->rollouts += s->rollouts;
	to->turns += s->turns;
	to->steps += s->steps;
	to->unknown += s->unknown;
	to->failed += s->failed;
	to->errors += s->errors;
	to->warnings += s->warnings;
	to->infos += s->infos;
	failure_count_add(&to->failures, &s->failures);
	movement_absorb(&to->movement, &s->movement);
	if (s->effective >= 0)
		to->effective = s->effective + (to->effective > 0 ? to->effective : 0);
}

void judge_absorb(struct judge *j, struct judge *part)
{
	sharing_absorb(evidence_sharing(j->facts), evidence_sharing(part->facts));
	groups_absorb(&j->groups, &part->groups);
	add_sums(&j->sum, &part->sum);
	j->file_reward += part->file_reward;
	j->reward_known |= part->reward_known;
	for (size_t i = 0; i < j->rule_count; i++)
		j->rules[i].not_checked |= part->rules[i].not_checked;
	list_not_checked(j);
}

void judge_summary(const struct judge *j, struct judge_summary *out)
{
	*out = j->sum;
	counters_number(j->reward_known, j->reward + j->file_reward, out->reward);
}

const char *judge_not_checked(const struct judge *j)
{
	return j->not_checked;
}
