/* Tools that are advertised answer. Only what was called anyway is judged, and, on
   request, every tool that says it only reads. */
#include "env/mcp_tools.h"
#include "probe/inside.h"

/* The tool is not there, or nobody answers it. Errors of its own are answers. */
static bool is_dead(const struct answer *a)
{
	return a->class == CLASS_UNKNOWN_TOOL || a->outcome == OUTCOME_TIMEOUT ||
	       a->outcome == OUTCOME_TRANSPORT_ERROR ||
	       (a->outcome == OUTCOME_PROTOCOL_ERROR && a->layer == LAYER_HTTP);
}

struct tally {
	size_t called, dead, failed; /* failed: by its own words, whatever was asked */
	bool late;                   /* one of the dead was waited for in vain */
};

static void note(struct tally *t, struct str name, const struct answer *a,
                 struct property *out)
{
	t->called++;
	if (!is_dead(a)) {
		return;
	}
	t->dead++;
	t->late = t->late || a->outcome == OUTCOME_TIMEOUT;
	if (t->dead == 1) {
		property_saw(out, "%.*s", STR_ARG(name));
		property_quote(out, a);
	}
}

/* Calls that somebody named are meant to succeed; drawn ones need not. */
static void note_failure(struct tally *t, const struct act *best, struct property *out)
{
	enum outcome o = best->answer.outcome;

	if (o == OUTCOME_OK || o == OUTCOME_CAPACITY || is_dead(&best->answer)) {
		return;
	}
	t->failed++;
	if (t->failed == 1) {
		property_saw(out, "no call of %.*s succeeded", STR_ARG(best->name));
		property_quote(out, &best->answer);
	}
}

static int rank(const struct answer *a)
{
	return a->outcome == OUTCOME_OK ? 2 : !is_dead(a);
}

/* One entry for each tool that was called: the best of its answers. */
static void note_acts(const struct probe *p, struct tally *t, struct property *out)
{
	for (size_t i = 0; i < p->act_count; i++) {
		const struct act *best = &p->acts[i];
		bool seen = false;

		for (size_t j = 0; j < i; j++) {
			seen |= str_eq(p->acts[j].name, p->acts[i].name);
		}
		for (size_t j = i; j < p->act_count; j++) {
			if (str_eq(p->acts[j].name, best->name) &&
			    rank(&p->acts[j].answer) > rank(&best->answer)) {
				best = &p->acts[j];
			}
		}
		if (!seen) {
			note(t, best->name, &best->answer, out);
		}
		if (!seen && p->named) {
			note_failure(t, best, out);
		}
	}
}

static bool was_called(const struct probe *p, struct str name)
{
	for (size_t i = 0; i < p->act_count; i++) {
		if (str_eq(p->acts[i].name, name)) {
			return true;
		}
	}
	return false;
}

static int call_readers(struct probe *p, struct str tools, struct tally *t,
                        struct property *out, struct error *err)
{
	struct session *s = &p->sessions[0];
	struct buf name = BUF(BUF_MAX_SMALL);
	struct answer a;
	struct str tool;
	size_t cursor = 0;
	int failed = 0;

	while (!failed && session_is_open(s) && json_next(tools, &cursor, &tool)) {
		buf_clear(&name);
		json_decode(JSON_GET(tool, "name"), &name);
		if (!mcp_tool_reads_only(tools, buf_view(&name)) ||
		    was_called(p, buf_view(&name))) {
			continue;
		}
		failed = session_step(&p->asking, s, buf_view(&name), STR("{}"), &a, err);
		if (!failed) {
			note(t, buf_view(&name), &a, out);
		}
	}
	buf_release(&name);
	return failed;
}

static int examine(struct probe *p, struct property *out, struct error *err)
{
	struct session *s = &p->sessions[0];
	struct tally t = {0};
	struct arena kept = {0};

	if (!s->env) {
		property_judge(out, PROPERTY_UNKNOWN, "not listed");
		property_saw(out, "%s", p->no_acts ? p->no_acts : "the session is gone");
		return 0;
	}
	/* the list may be replaced while its tools are called */
	struct str tools = arena_str(&kept, session_facts(s)->tools);
	size_t count = json_count(tools);
	note_acts(p, &t, out);
	int failed = p->conf->call_read_only ? call_readers(p, tools, &t, out, err) : 0;
	arena_release(&kept);
	if (failed) {
		return -1;
	}
	property_judge(out,
	               !count || t.dead || t.failed ? PROPERTY_RED
	               : t.called                   ? PROPERTY_OK
	                                            : PROPERTY_UNKNOWN,
	               "%zu advertised, %zu of %zu called answered", count,
	               t.called - t.dead, t.called);
	if (!count) {
		property_judge(out, PROPERTY_RED, "none");
		property_saw(out, "the list of tools is empty");
		property_advise(out, "the server has to register its tools before it is "
		                     "asked for them");
	} else if (t.dead || t.failed) {
		property_advise(out,
		                "call it by hand: rolldbg run --env .. --actions ..; "
		                "then see the server's own log%s",
		                t.late ? "; a step that takes longer needs a longer "
		                         "--timeout"
		                       : "");
	} else if (!t.called) {
		property_judge(out, PROPERTY_UNKNOWN, "%zu advertised, none called",
		               count);
		property_advise(out, "name calls to try (--actions); --call-read-only "
		                     "calls the tools that say they only read");
	}
	return 0;
}

const struct property_ops property_tools = {examine};
