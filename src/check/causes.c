/* Causes: see causes.h. */
#include "check/causes.h"

static bool explains(const char *rule, const char *other)
{
	const struct check *c = check_find(str_from(rule));

	for (size_t i = 0; c && i < EXPLAINS_MAX && c->explains[i]; i++) {
		if (strcmp(c->explains[i]->id, other) == 0) {
			return true;
		}
	}
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
	for (size_t i = 0; f->cause && i < count; i++) {
		if (strcmp(list[i].rule, f->cause) == 0 && overlap(&list[i], f)) {
			return &list[i];
		}
	}
	return NULL;
}

const struct finding *causes_root(const struct finding *list, size_t count, const struct finding *f)
{
	for (const struct finding *up = f; up; up = cause_finding(up, list, count)) {
		f = up;
	}
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

void causes_find(struct finding *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		list[i].cause = count > 1 ? cause_of(&list[i], list, count) : NULL;
		list[i].urgency = list[i].severity;
		list[i].depth = 0;
	}
	for (size_t i = 0; i < count; i++) {
		rank(list, count, &list[i]);
	}
}
