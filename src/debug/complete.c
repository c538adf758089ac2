/* Completion of words: commands, tools, facts, pointers into the state, rules. See debugger.h. */
#include "debug/debugger.h"

#include "base/text.h"
#include "check/check.h"

#define POINTERS_MAX 200

struct word_completion {
	struct str word;
	completion_fn *take;
	void *ctx;
};

/* A peer's name with a line feed or an escape sequence is not put into the typed line. */
static void offer(struct word_completion *c, struct str candidate)
{
	if (str_starts(candidate, c->word) && text_is_safe(candidate))
		c->take(c->ctx, candidate);
}

static void offer_verbs(struct word_completion *c)
{
	for (size_t i = 0; i < verbs_count; i++)
		offer(c, str_from(verbs[i].name));
}

static void offer_tools(struct debugger *d, struct word_completion *c)
{
	struct buf name = BUF(BUF_MAX_SMALL);
	struct str tools = cursor_facts(d->cursor)->header.value[KEY_TOOLS], tool;

	for (size_t cursor = 0; json_next(tools, &cursor, &tool);) {
		buf_clear(&name);
		json_decode(JSON_GET(tool, "name"), &name);
		offer(c, buf_view(&name));
	}
	buf_release(&name);
}

/* Offers the members one level below the last slash of the word. */
static void offer_pointers(struct debugger *d, struct word_completion *c)
{
	struct buf pointer = BUF(BUF_MAX_SMALL), scratch = BUF(BUF_MAX_MESSAGE);
	size_t slash = c->word.n, cursor = 0;
	struct json_member m;

	while (slash && c->word.p[slash - 1] != '/')
		slash--;
	size_t dot = 0;
	while (dot < slash && c->word.p[dot] != '/')
		dot++;
	struct str above = {c->word.p + dot, slash ? slash - 1 - dot : 0};
	struct str value = json_point(d->now.after, above, &scratch);
	for (size_t n = 0; n < POINTERS_MAX && json_next_member(value, &cursor, &m); n++) {
		buf_set(&pointer, slash ? (struct str){c->word.p, slash} : STR("./"));
		buf_str(&pointer, m.key);
		offer(c, buf_view(&pointer));
	}
	BUFS_RELEASE(&pointer, &scratch);
}

/* Candidates in an expression or for a path argument. */
static void offer_paths(struct debugger *d, struct word_completion *c)
{
	offer_pointers(d, c);
	if (c->word.n && memchr(c->word.p, '/', c->word.n))
		return;
	for (size_t i = 0; i < FACTS_NAMED; i++)
		offer(c, str_from(named_facts[i].name));
	for (size_t i = 0; c->word.n && i < checks_count; i++)
		offer(c, str_from(checks[i]->id));
	if (c->word.n)
		offer_tools(d, c);
}

void complete_line(struct debugger *d, struct str line, completion_fn *take, void *ctx)
{
	size_t n = 0;

	while (n < line.n && line.p[line.n - 1 - n] != ' ')
		n++;
	struct word_completion c = {{line.p + line.n - n, n}, take, ctx};
	struct str before = text_trim((struct str){line.p, line.n - n});
	struct str rest = before, verb = argument_word(&rest);
	const struct verb *v;
	struct error unused;

	if (!before.n) {
		offer_verbs(&c);
		return;
	}
	if (verb_find(verb, &v, &unused))
		return;
	if (v->run == verb_help)
		offer_verbs(&c);
	else if (v->run == verb_info)
		for (size_t i = 0; info_topic(i); i++)
			offer(&c, str_from(info_topic(i)));
	else if (v->group == GROUP_LIVE || v->run == verb_tools)
		offer_tools(d, &c);
	else if (v->run == verb_print || v->group == GROUP_STOP)
		offer_paths(d, &c);
}
