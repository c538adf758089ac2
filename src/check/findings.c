/* The list of findings: filled by rules with finding_add, read by the judge. */
#include "check/judge_internal.h"

#include "base/settings.h"
#include "base/text.h"
#include "check/check.h"
#include <stdio.h>
#include <stdlib.h>

/* The slot of the next finding. If the list is full, a less severe finding is dropped, so that
   many warnings cannot hide an error. NULL: dropped. */
static struct finding *place(struct findings *f, enum severity severity)
{
	if (f->count < FINDINGS_MAX) {
		f->list = mem_grow(f->list, f->count, sizeof(*f->list));
		return &f->list[f->count++];
	}
	f->left_out++;
	for (size_t i = f->count; i-- > 0;)
		if (f->list[i].severity < severity)
			return &f->list[i];
	return NULL;
}

void finding_add(struct findings *out, enum severity severity, const struct span *where,
                 const char *pointer, const char *fmt, ...)
{
	struct finding *f = where && where->count == 0 ? NULL : place(out, severity);

	if (!f)
		return;
	*f = (struct finding){.rule = out->rule,
	                      .severity = severity,
	                      .first_turn = -1,
	                      .last_turn = -1,
	                      .first_step = -1,
	                      .last_step = -1};
	if (where) {
		f->first_turn = where->first_turn;
		f->last_turn = where->last_turn;
		f->first_step = where->first_step;
		f->last_step = where->last_step;
	}
	snprintf(f->pointer, sizeof(f->pointer), "%s", pointer);
	va_list args;
	va_start(args, fmt);
	vsnprintf(f->message, sizeof(f->message), fmt, args);
	va_end(args);
	f->message[text_utf8_valid(str_from(f->message))] = '\0';
}

void rule_not_judged(struct findings *out)
{
	out->not_judged = true;
}

static int by_weight(const void *left, const void *right)
{
	const struct finding *a = left, *b = right;

	if (a->urgency != b->urgency)
		return a->urgency > b->urgency ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->severity != b->severity)
		return a->severity > b->severity ? -1 : 1;
	if (a->first_turn != b->first_turn)
		return a->first_turn < b->first_turn ? -1 : 1;
	if (a->first_step != b->first_step)
		return a->first_step < b->first_step ? -1 : 1;
	return strcmp(a->rule, b->rule);
}

void findings_spell(struct findings *f, void (*settings)(char *text, size_t n))
{
	for (size_t i = 0; i < f->count; i++) {
		char *text = f->list[i].message;

		if (strchr(text, SETTING_BEGIN) && settings)
			settings(text, strlen(text));
		else if (strchr(text, SETTING_BEGIN))
			settings_unmark(text);
	}
}

void findings_release(struct findings *f)
{
	free(f->list);
	*f = (struct findings){0};
}

/* ---- which findings of a rollout explain others ---- */

static bool explains(const char *rule, const char *other)
{
	const struct check *c = check_find(str_from(rule));

	for (size_t i = 0; c && i < EXPLAINS_MAX && c->explains[i]; i++)
		if (strcmp(c->explains[i]->id, other) == 0)
			return true;
	return false;
}

/* A cause must overlap with the turns of the finding it explains. */
static bool overlap(const struct finding *a, const struct finding *b)
{
	return a->first_turn < 0 || b->first_turn < 0 ||
	       (a->first_turn <= b->last_turn && b->first_turn <= a->last_turn);
}

/* The nearest cause, if a cause has a cause itself. */
static const char *cause_of(const struct finding *f, const struct finding *list, size_t count)
{
	const char *nearest = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *rule = list[i].rule;

		if (explains(rule, f->rule) && overlap(&list[i], f) &&
		    (!nearest || explains(nearest, rule))) {
			nearest = rule;
		}
	}
	return nearest;
}

/* The finding's cause, with overlapping turns. */
static const struct finding *cause_finding(const struct finding *f, const struct finding *list,
                                           size_t count)
{
	for (size_t i = 0; f->cause && i < count; i++)
		if (strcmp(list[i].rule, f->cause) == 0 && overlap(&list[i], f))
			return &list[i];
	return NULL;
}

const struct finding *causes_root(const struct finding *list, size_t count, const struct finding *f)
{
	for (const struct finding *up = f; up; up = cause_finding(up, list, count))
		f = up;
	return f;
}

/* A cause is at least as urgent as the findings it explains. */
static void rank(struct finding *list, size_t count, struct finding *f)
{
	for (const struct finding *up = f; (up = cause_finding(up, list, count));) {
		struct finding *cause = &list[up - list];

		f->depth++;
		cause->urgency = f->severity > cause->urgency ? f->severity : cause->urgency;
	}
}

/* Sets cause, urgency and depth of each finding. */
static void causes_find(struct finding *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		list[i].cause = count > 1 ? cause_of(&list[i], list, count) : NULL;
		list[i].urgency = list[i].severity;
		list[i].depth = 0;
	}
	for (size_t i = 0; i < count; i++)
		rank(list, count, &list[i]);
}

void findings_sort(struct findings *f)
{
	causes_find(f->list, f->count);
	if (f->count > 1)
		qsort(f->list, f->count, sizeof(*f->list), by_weight);
	if (f->left_out == 0)
		return;
	char *message = f->list[f->count - 1].message;
	char more[64];
	int n = snprintf(more, sizeof(more), " (and %zu more findings, not listed)", f->left_out);
	size_t keep = sizeof(f->list->message) - 1 - (size_t)n;
	size_t end = strlen(message);
	end = text_utf8_cut((struct str){message, end}, keep).n;
	memcpy(message + end, more, (size_t)n + 1);
}
