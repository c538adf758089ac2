/* Advertised tools answer. Judges the tools that were called anyway and, on request, every tool
   marked read-only. */
#include "compare/tool_changes.h"
#include "probe/probe_internal.h"
#include "protocol/tool_list.h"

/* The tool does not exist or never replies. A tool's own error is a reply. */
static bool has_no_answer(const struct probe_reply *a)
{
	return a->class == CLASS_UNKNOWN_TOOL || a->outcome == OUTCOME_TIMEOUT ||
	       a->outcome == OUTCOME_TRANSPORT_ERROR ||
	       (a->outcome == OUTCOME_PROTOCOL_ERROR && a->layer == LAYER_HTTP);
}

struct tally {
	size_t called, unanswered, failed;   /* failed: every call of the tool ended in an error */
	bool late;                           /* one of the unanswered calls timed out */
	size_t changes[TOOL_CHANGE_CLASSES]; /* since the golden */
	struct property *out;
};

/* A tool_change_fn: the first one that breaks calls is quoted. */
static void note_change(void *tally, const struct tool_change *c)
{
	struct tally *t = tally;

	if (c->class == TOOL_BREAKING && !t->changes[TOOL_BREAKING])
		property_evidence(t->out, "%s: %.*s", c->what, STR_ARG(c->pointer));
	t->changes[c->class]++;
}

static void compare_with_golden(const struct probe *p, struct str tools, struct tally *t)
{
	AUTO_BUF counts = BUF(BUF_MAX_SMALL);

	if (!p->conf->golden_tools.p)
		return;
	tool_changes(p->conf->golden_tools, tools, note_change, t);
	for (int i = 0; i < TOOL_CHANGE_CLASSES; i++) {
		if (t->changes[i]) {
			buf_printf(&counts, "%s%zu %s", counts.n ? ", " : "", t->changes[i],
			           tool_change_class_name((enum tool_change_class)i));
		}
	}
	property_evidence(t->out, "%s", counts.n ? "since the golden" : "as in the golden");
	if (counts.n) {
		buf_text(&t->out->evidence, ": ");
		buf_str(&t->out->evidence, buf_view(&counts));
	}
}

static void note(struct tally *t, struct str name, const struct probe_reply *a,
                 struct property *out)
{
	t->called++;
	if (!has_no_answer(a))
		return;
	t->unanswered++;
	t->late = t->late || a->outcome == OUTCOME_TIMEOUT;
	if (t->unanswered == 1) {
		property_evidence(out, "%.*s", STR_ARG(name));
		property_quote(out, a);
	}
}

/* Calls given by the user should succeed; random ones need not. */
static void note_failure(struct tally *t, const struct probe_call *best, struct property *out)
{
	enum outcome o = best->reply.outcome;

	if (o == OUTCOME_OK || o == OUTCOME_CAPACITY || has_no_answer(&best->reply))
		return;
	t->failed++;
	if (t->failed == 1) {
		property_evidence(out, "no call to %.*s succeeded", STR_ARG(best->name));
		property_quote(out, &best->reply);
	}
}

static int rank(const struct probe_reply *a)
{
	return a->outcome == OUTCOME_OK ? 2 : !has_no_answer(a);
}

/* Notes each called tool once, with its best reply. */
static void note_called_tools(const struct probe *p, struct tally *t, struct property *out)
{
	for (size_t i = 0; i < p->call_count; i++) {
		const struct probe_call *best = &p->calls[i];
		bool seen = false;

		for (size_t j = 0; j < i; j++)
			seen |= str_eq(p->calls[j].name, p->calls[i].name);
		for (size_t j = i; j < p->call_count; j++) {
			if (str_eq(p->calls[j].name, best->name) &&
			    rank(&p->calls[j].reply) > rank(&best->reply)) {
				best = &p->calls[j];
			}
		}
		if (!seen)
			note(t, best->name, &best->reply, out);
		if (!seen && p->named)
			note_failure(t, best, out);
	}
}

static bool was_called(const struct probe *p, struct str name)
{
	for (size_t i = 0; i < p->call_count; i++)
		if (str_eq(p->calls[i].name, name))
			return true;
	return false;
}

static int call_readers(struct probe *p, struct str tools, struct tally *t, struct property *out,
                        struct error *err)
{
	struct session *s = &p->sessions[0];
	struct probe_reply a;
	struct str tool;
	size_t cursor = 0;
	int failed = 0;

	while (!failed && session_is_open(s) && json_next(tools, &cursor, &tool)) {
		struct str name = json_text(&p->arena, JSON_GET(tool, "name"));

		if (!tool_is_read_only(tools, name) || was_called(p, name))
			continue;
		failed = session_step(&p->pool, s, name, STR("{}"), &a, err);
		if (!failed)
			note(t, name, &a, out);
	}
	return failed;
}

int property_tools(struct probe *p, struct property *out, struct error *err)
{
	struct session *s = &p->sessions[0];
	struct tally t = {.out = out};
	AUTO_ARENA kept = {0};

	if (!s->env) {
		return property_say(out, PROPERTY_UNKNOWN, "not listed",
		                    p->not_called ? p->not_called : "the session was lost", NULL);
	}
	/* the list may be replaced while its tools are called */
	struct str tools = arena_str(&kept, session_facts(s)->tools);
	size_t count = json_count(tools);
	note_called_tools(p, &t, out);
	int failed = p->conf->call_read_only ? call_readers(p, tools, &t, out, err) : 0;
	if (!failed)
		compare_with_golden(p, tools, &t);
	if (failed)
		return -1;
	bool broken = t.changes[TOOL_BREAKING] > 0;
	property_judge(out,
	               !count || broken || t.unanswered || t.failed ? PROPERTY_FAIL
	               : t.called                                   ? PROPERTY_OK
	                                                            : PROPERTY_UNKNOWN,
	               "%zu advertised; %zu of %zu tested replied", count, t.called - t.unanswered,
	               t.called);
	if (!count) {
		property_say(out, PROPERTY_FAIL, "none", "the list of tools is empty",
		             "register the tools before the server accepts clients");
	} else if (t.unanswered || t.failed) {
		property_fix(out,
		             "call it with rolldbg run \1env\2 .. \1call\2 .., and check the "
		             "server's log%s",
		             t.late ? "; for slow steps, raise \1timeout\2" : "");
	} else if (broken) {
		property_fix(out, "undo the change of the tools, or record the golden again");
	} else if (!t.called) {
		property_judge(out, PROPERTY_UNKNOWN, "%zu advertised; none called", count);
		property_fix(
			out,
			"specify calls to try (\1call\2 or \1actions\2), or let \1call_read_only\2 "
			"call the tools marked read-only");
	}
	return 0;
}
