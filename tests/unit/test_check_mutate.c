/* One healthy rollout without findings, and the findings when a
   fact of it is falsified: the rule responsible for it must report that. Every rule has a row.
 */
#include "tap.h"
#include "verdicts.h"

#include "recording/trained.h"

#define HEALTHY "fixtures/check/incomplete/good-whole.jsonl"

/*  type       key    value
    a line's   a key  what that key of every such line becomes; "step=2", "step>0": of those steps
    a line's   "+"    a line to be added after every such line
    a line's   NULL   every such line is left out
    "expect"          the user expects an error of that text; no line changes
    "trainer"         a file with a trainer's log-probabilities; no line changes
    "minimum"         so many effective steps are required; no line changes */
struct change {
	const char *type, *key, *value;
};

struct mutation {
	const char *rule, *what;
	struct change changes[8];
};

#define EVENT(name) "{\"type\":\"event\",\"rollout\":\"lake.0\",\"turn\":1,\"event\":\"" name "\"}"
#define LONG                                                                                       \
	"Moves one field over the ice, if it can, and says where it stands afterwards; "           \
	"what it cannot do it says as well. "
#define UNKNOWN_TOOL "{\"class\":\"unknown-tool\",\"message\":\"Unknown tool: lake_move\"}"

#define TWIN(header, end)                                                                          \
	"{\"type\":\"header\",\"rollout\":\"lake.1\",\"format\":\"rolldbg\","                      \
	"\"version\":1,"                                                                           \
	"\"task\":{\"id\":\"lake\"},\"sample\":1," header "}\n"                                    \
	"{\"type\":\"end\",\"rollout\":\"lake.1\",\"status\":\"finished\"," end "}"
#define STILL "{\"position\":0}" /* the observation of the reset, too */

static const struct mutation mutations[] = {
	{"multi-step-illusion",
         "every step failed where it stood",
         {{"step", "outcome", "\"tool-error\""},
          {"step", "state", STILL},
          {"end", "state", STILL}}},
	{"multi-step-illusion",
         "every step timed out",
         {{"step", "outcome", "\"timeout\""}, {"step", "state", STILL}, {"end", "state", STILL}}},
	{"effect-despite-error",
         "a step is marked as failed",
         {{"step=1", "outcome", "\"tool-error\""}}},
	{"drawn-calls",
         "every drawn call was refused",
         {{"header", "policy", "{\"kind\":\"random\"}"},
          {"step", "outcome", "\"tool-error\""},
          {"step", "error", "{\"class\":\"arguments\",\"message\":\"no\"}"}}},
	{"failed-run",
         "steps 1 to 3 failed where they stood",
         {{"step=1", "outcome", "\"tool-error\""},
          {"step=2", "outcome", "\"tool-error\""},
          {"step=3", "outcome", "\"tool-error\""},
          {"step>1", "state", "{\"position\":4}"},
          {"step>4", "state", "{\"position\":14}"}}},
	{"all-steps-failed",
         "one step, and it failed",
         {{"step>0", NULL, NULL}, {"step", "outcome", "\"tool-error\""}}},
	{"retry-same-error",
         "the first two calls failed alike",
         {{"step=0", "outcome", "\"tool-error\""},
          {"step=1", "outcome", "\"tool-error\""},
          {"step", "error", "{\"message\":\"no\"}"}}},
	{"expected-error-missing", "a step was to fail", {{"expect", "error", "no such text"}}},
	{"min-effective", "more steps are required", {{"minimum", "", "7"}}},
	{"timeout", "a step timed out", {{"step=2", "outcome", "\"timeout\""}}},
	{"timeout", "the reset timed out", {{"reset", "outcome", "\"timeout\""}}},
	{"loop",
         "the same call, the same answer",
         {{"step", "tool_call", "{\"name\":\"lake_move\",\"arguments\":{}}"},
          {"step", "observation", "1"},
          {"step", "state_hash", "null"}}},
	{"loop",
         "the same from the same state",
         {{"step", "tool_call", "{\"name\":\"lake_move\",\"arguments\":{}}"},
          {"step", "observation", "\"at 7\""},
          {"step=1", "observation", "\"at 8\""},
          {"step", "state_hash", "\"00\""}}},
	{"frozen-state",
         "state and replies do not change",
         {{"step", "state", STILL},
          {"step", "observation", STILL},
          {"step", "reward", "0"},
          {"end", "total_reward", "0"},
          {"end", "state", STILL}}},
	{"no-effect",
         "the last calls change nothing",
         {{"step>2", "state", STILL},
          {"step=4", "tool_call", "{\"name\":\"lake_move\",\"arguments\":{\"action\":\"UP\"}}"},
          {"end", "state", STILL}}},
	{"only-counts",
         "only a count changes",
         {{"step=0", "state", "{\"hits\":0}"},
          {"step=1", "state", "{\"hits\":1}"},
          {"step=2", "state", "{\"hits\":2}"},
          {"step=3", "state", "{\"hits\":3}"},
          {"step=4", "state", "{\"hits\":4}"},
          {"step=5", "state", "{\"hits\":5}"},
          {"end", "state", "{\"hits\":6}"}}},
	{"observation-frozen",
         "the policy always gets the observation of the reset",
         {{"step", "observation", STILL}}},
	{"starts-over",
         "each call finds a new environment",
         {{"step=5", "tool_call", "{\"name\":\"lake_move\",\"arguments\":{\"action\":\"DOWN\"}}"},
          {"step", "observation", "{\"position\":4}"},
          {"step=2", "observation", "{\"position\":1}"},
          {"step=4", "observation", "{\"position\":1}"}}},
	{"session-replaced",
         "another session goes on",
         {{"reset", "+", EVENT("session-replaced")}}},
	{"session-replaced", "the session is lost", {{"step=2", "outcome", "\"session-lost\""}}},
	{"session-replaced", "there was no reset", {{"reset", NULL, NULL}}},
	{"session-churn", "another session", {{"reset", "+", EVENT("session-id-changed")}}},
	{"session-churn", "another episode", {{"reset", "+", EVENT("episode-changed")}}},
	{"session-alias",
         "another one has the environment, too",
         {{"end", "+",
           TWIN("\"meta\":{\"env_session\":\"lake.0-5d41402a\"}", "\"total_reward\":0")}}},
	{"capacity", "no room for a session", {{"reset", "outcome", "\"capacity\""}}},
	{"capacity", "no room for a step", {{"step=3", "outcome", "\"capacity\""}}},
	{"fallback-session",
         "a reply from elsewhere",
         {{"step=3", "meta",
           "{\"session\":\"a\",\"env_session\":\"b\",\"reply_session\":\"gym_"
           "140247762780320\"}"}}},
	{"unknown-tool",
         "another name is offered",
         {{"header", "tools", "[{\"name\":\"lake_jump\"}]"}}},
	{"no-tools", "none is offered", {{"header", "tools", "[]"}}},
	{"no-tools",
         "what is offered is refused",
         {{"step", "outcome", "\"tool-error\""}, {"step", "error", UNKNOWN_TOOL}}},
	{"no-tool-call",
         "nothing was ever called",
         {{"step", "tool_call", "null"}, {"step", "outcome", "null"}, {"step", "step", "null"}}},
	{"observation-lost",
         "it is under another key",
         {{"step", "observation", "null"}, {"step", "structured", "{\"observations\":[4]}"}}},
	{"special-tokens",
         "a rendered prompt for a message",
         {{"reset", "messages", "[{\"role\":\"user\",\"content\":\"<|im_start|>user\"}]"}}},
	{"prompt-truncated",
         "the prompt does not grow",
         {{"step", "llm", "{\"usage\":{\"prompt_tokens\":64}}"},
          {"step", "messages",
           "[{\"role\":\"assistant\",\"content\":\"a long way to go and so much to say "
           "about it that no template could hold it in next to no tokens\"},"
           "{\"role\":\"tool\",\"tool_call_id\":\"c0\",\"content\":\"here\"}]"}}},
	{"tools-not-in-prompt",
         "many tools, few tokens",
         {{"header", "policy", "{\"kind\":\"llm\",\"params\":{\"tool_mode\":\"native\"}}"},
          {"header", "tools",
           "[{\"name\":\"lake_move\",\"description\":\"" LONG LONG LONG LONG LONG LONG "\"}]"},
          {"step", "llm", "{\"usage\":{\"prompt_tokens\":20}}"}}},
	{"prompt-drift",
         "the same prompt again",
         {{"step", "llm", "{\"prompt_token_ids\":[1,2,3],\"token_ids\":[4,5,6]}"}}},
	{"logprob-range",
         "all of them are zero",
         {{"step", "llm", "{\"logprobs\":{\"content\":[{\"logprob\":0},{\"logprob\":0}]}}"}}},
	{"kl-band",
         "the trainer has others",
         {{"trainer", "", "fixtures/check/kl-band/good-near.trainer"},
          {"step", "llm",
           "{\"logprobs\":{\"token_logprobs\":[-9,-9,-9,-9,-9,-9,-9,-9,-9,-9,-9,-9]}}"}}},
	{"tool-drift",
         "another session is offered another tool",
         {{"end", "+",
           TWIN("\"env\":{\"protocol\":\"mcp-gym\",\"name\":\"FrozenLake-v1\",\"version\":"
                "\"1.30.0\"},\"tools\":[{\"name\":\"lake_jump\"}],\"meta\":{\"url\":"
                "\"http://127.0.0.1:8000/mcp\"}",
                "\"total_reward\":0")}}},
	{"tool-drift",
         "the task has another name",
         {{"header", "task", "{\"id\":\"lake\",\"tools\":[\"lake_jump\"]}"}}},
	{"tool-drift",
         "the tool is taken away",
         {{"reset", "+",
           "{\"type\":\"event\",\"rollout\":\"lake.0\",\"event\":\"tools-changed\","
           "\"detail\":{\"removed\":[\"lake_move\"]}}"}}},
	{"arguments-schema",
         "a word that is not allowed",
         {{"step=2", "tool_call", "{\"name\":\"lake_move\",\"arguments\":{\"action\":\"JUMP\"}}"}}},
	{"aliased-state",
         "every state is the last one",
         {{"header", "policy", "{\"kind\":\"import\"}"},
          {"header", "state_source", "{\"kind\":\"import\"}"},
          {"step", "state", "{\"position\":15}"}}},
	{"missing-state", "no state before an action", {{"step=2", "state", "null"}}},
	{"missing-state",
         "none with the observation as state",
         {{"header", "state_source", "{\"kind\":\"observation\"}"}, {"step=2", "state", "null"}}},
	{"terminated-at-reset", "it is over already", {{"reset", "terminated", "true"}}},
	{"terminated-at-reset", "or was cut off", {{"reset", "truncated", "true"}}},
	{"post-terminal", "the end comes early", {{"step=3", "terminated", "true"}}},
	{"post-terminal", "or is a limit", {{"step=3", "truncated", "true"}}},
	{"control-plane-blind",
         "a reward could not be read",
         {{"step=2", "reward", "null"},
          {"step=2", "meta", "{\"control\":{\"reward\":\"failed\"}}"}}},
	{"control-plane-blind",
         "an endpoint failed",
         {{"reset", "+", EVENT("control-plane-failed")}}},
	{"control-plane-blind", "another's state", {{"reset", "+", EVENT("state-source-lost")}}},
	{"stale-reward",
         "a failed step has the last reward",
         {{"step=2", "reward", "0.5"},
          {"step=3", "reward", "0.50"},
          {"step=3", "outcome", "\"timeout\""}}},
	{"one-step-episode",
         "a model stops after one step",
         {{"step>0", NULL, NULL},
          {"header", "policy", "{\"kind\":\"llm\"}"},
          {"end", "status", "\"finished\""}}},
	{"reward-without-effect",
         "nothing moved",
         {{"header", "state_source", "{\"kind\":\"tool\"}"},
          {"step", "state", STILL},
          {"end", "state", STILL}}},
	{"reward-without-effect",
         "a failed step was rewarded",
         {{"step=2", "outcome", "\"timeout\""}, {"step=2", "reward", "0.5"}}},
	{"void-rollouts",
         "another one made no call",
         {{"end", "+", TWIN("\"limits\":{}", "\"total_reward\":0")}}},
	{"fault-injected", "an event says so", {{"reset", "+", EVENT("fault-injected")}}},
	{"group-size", "two make a group", {{"header", "limits", "{\"group_size\":2}"}}},
	{"zero-variance-group",
         "another one with that reward",
         {{"end", "+", TWIN("\"limits\":{}", "\"total_reward\":1")}}},
	{"seed-ignored",
         "another one with its seed starts elsewhere",
         {{"end", "+",
           TWIN("\"seed\":42,\"state_source\":{\"kind\":\"control-plane\"}",
                "\"total_reward\":1,\"state\":{\"position\":8}")}}},
	{"incomplete", "no end", {{"end", NULL, NULL}}},
	{"incomplete", "a lost line", {{"step=2", NULL, NULL}}},
	{"incomplete", "another count", {{"end", "lines", "8"}}},
};

/* "step", "step=2" or "step>0"; the number is the step's. */
static bool concerns(const struct change *c, const struct line *l)
{
	const char *type = line_type_name(l->type);
	size_t n = strlen(type);

	if (!c->type || strncmp(c->type, type, n) != 0)
		return false;
	if (c->type[n] == '=')
		return l->step == c->type[n + 1] - '0';
	return c->type[n] == '\0' || (c->type[n] == '>' && l->step > c->type[n + 1] - '0');
}

static enum key key_of(const char *name)
{
	for (size_t i = 0; i < line_keys_count; i++)
		if (strcmp(line_keys[i].name, name) == 0)
			return line_keys[i].key;
	return KEY_COUNT;
}

/* Feeds the healthy rollout with the mutation. */
static int feed(struct verdicts *v, const struct change *changes, size_t count, struct error *err)
{
	struct reader *r;
	struct reader_note note;
	struct line l;
	struct buf text = BUF(BUF_MAX_MESSAGE);
	int got;

	if (reader_open(HEALTHY, &r, err))
		return -1;
	while ((got = reader_next(r, &l, &note, err)) == 1) {
		bool drop = false;
		const char *more = NULL;

		for (size_t i = 0; i < count; i++) {
			if (!concerns(&changes[i], &l))
				continue;
			if (!changes[i].key)
				drop = true;
			else if (changes[i].key[0] == '+')
				more = changes[i].value;
			else
				l.value[key_of(changes[i].key)] = str_from(changes[i].value);
		}
		if (!drop)
			line_write(&l, &text, (size_t[KEY_COUNT]){0});
		if (more)
			buf_printf(&text, "%s\n", more);
	}
	reader_close(r);
	got = got ? got : verdicts_feed(v, buf_view(&text), err);
	judge_finish(v->judge);
	buf_release(&text);
	return got;
}

static void check_mutation(const struct mutation *m)
{
	struct verdicts v;
	struct error err = {0};
	char rule[80];

	snprintf(rule, sizeof(rule), "|%s|", m->rule);
	const struct change *first = &m->changes[0];
	bool expects = strcmp(first->type, "expect") == 0;
	struct hints hints = {.errors = &first->value, .error_count = expects};
	if (strcmp(first->type, "minimum") == 0)
		hints.min_effective = strtoll(first->value, NULL, 10);

	if (strcmp(first->type, "trainer") == 0) {
		ok(trained_read(first->value, &hints.trained, &err) == 0, "%s is read",
		   first->value);
	}
	verdicts_begin_with(&v, (struct judge_conf){.hints = hints});
	ok(feed(&v, m->changes, ARRAY_LEN(m->changes), &err) == 0, "%s: %s: is read", m->rule,
	   m->what);
	if (!ok(strstr(buf_cstr(&v.rules), rule) != NULL, "%s: %s: fires", m->rule, m->what))
		fprintf(stderr, "# %s%s\n", err.text, buf_cstr(&v.text));
	verdicts_end(&v);
	trained_free(hints.trained);
}

int main(void)
{
	struct verdicts v;
	struct error err = {0};

	verdicts_begin(&v, NULL, NULL);
	ok(feed(&v, NULL, 0, &err) == 0 && v.count == 1, "the healthy rollout is read");
	is_str(buf_cstr(&v.rules), "", "it has no findings");
	verdicts_end(&v);
	for (size_t i = 0; i < ARRAY_LEN(mutations); i++)
		check_mutation(&mutations[i]);
	for (size_t i = 0; i < checks_count; i++) {
		size_t rows = 0;

		for (size_t m = 0; m < ARRAY_LEN(mutations); m++)
			rows += strcmp(mutations[m].rule, checks[i]->id) == 0;
		ok(rows > 0 || checks[i] == &check_no_history,
		   "%s has a mutation (else add a row to mutations[] in this file: falsify "
		   "good-whole.jsonl so that the rule fires)",
		   checks[i]->id);
	}
	return done();
}
