/* A recording in memory and the sessions that play it: rollouts, calls, states. */
#include "serve/gym/gym.h"
#include "serve/playback/playback.h"

#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#define HEADER(id, seed, kind)                                                                     \
	"{\"type\":\"header\",\"rollout\":\"" id "\",\"format\":\"rolldbg\",\"version\":1,"        \
	"\"task\":{\"id\":\"t\"},\"seed\":" seed ",\"env\":{\"protocol\":\"mcp-gym\","             \
	"\"name\":\"n\"},\"state_source\":{\"kind\":\"" kind "\"},\"tools\":[]}\n"
#define RESET(id)                                                                                  \
	"{\"type\":\"reset\",\"rollout\":\"" id                                                    \
	"\",\"outcome\":\"ok\",\"observation\":{\"at\":0}}\n"
#define STEP(id, state, to, seen)                                                                  \
	"{\"type\":\"step\",\"rollout\":\"" id "\",\"turn\":0,\"step\":0,\"state\":" state         \
	",\"tool_call\":{\"name\":\"go\",\"arguments\":" to "},\"observation\":" seen              \
	",\"outcome\":\"ok\",\"reward\":0.5,\"env_steps\":1}\n"
#define TALK(id, state)                                                                            \
	"{\"type\":\"step\",\"rollout\":\"" id "\",\"turn\":1,\"state\":" state "}\n"
#define END(id, state)                                                                             \
	"{\"type\":\"end\",\"rollout\":\"" id "\",\"status\":\"finished\",\"total_reward\":1.00,"  \
	"\"state\":" state "}\n"

static const struct playback_request anything = {.has_seed = false};

static struct playback_source *record(const char *text, struct playback_conf conf)
{
	char path[] = "/tmp/test_playback.XXXXXX";
	struct playback_source *p = NULL;
	struct error err = {0};
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		abort();
	conf.path = path;
	if (playback_new(&conf, &p, &err) != 0)
		tap_note("refused", err.text);
	unlink(path);
	return p;
}

static const char two[] = HEADER("a", "7", "control-plane") RESET("a")
	STEP("a", "{\"at\":0}", "{\"x\":1,\"y\":2}", "{\"at\":1}") TALK("a", "{\"at\":1}")
		STEP("a", "{\"at\":1}", "{}", "\"[7]\"") END("a", "{\"at\":2}")
			HEADER("b", "8", "control-plane") RESET("b")
				STEP("b", "{\"at\":0}", "{\"y\":3}", "\"plain\"")
					END("b", "{\"at\":9}");

static struct str state_of(const struct playback_session *s)
{
	return playback_state(s);
}

static void check_calls(void)
{
	struct playback_source *p = record(two, (struct playback_conf){.match = MATCH_EXACT});
	struct buf why = BUF(BUF_MAX_SMALL);
	struct playback_session *s = playback_begin(p, &anything, &why);

	ok(str_is(state_of(s), "{\"at\":0}"), "the first state");
	ok(!playback_call(s, STR("go"), STR("{\"x\":1}"), &why),
	   "different arguments are not found");
	ok(strstr(buf_cstr(&why), "recorded as call 0: go {\"x\":1,\"y\":2}"),
	   "which shows the call that was recorded: %s", buf_cstr(&why));
	const struct recorded_call *c =
		playback_call(s, STR("go"), STR("{ \"y\":2, \"x\":1 }"), &why);

	ok(c && str_is(c->reply.observation, "{\"at\":1}"), "members in any order are a hit");
	ok(str_is(state_of(s), "{\"at\":1}"), "the state after it");
	c = playback_call(s, STR("go"), STR_NONE, &why);
	ok(c != NULL, "no arguments are the empty object; a turn without a call is passed over");
	ok(str_is(state_of(s), "{\"at\":2}"), "the last state is that of the end");
	ok(!playback_call(s, STR("go"), STR_NONE, &why), "no call after the end");
	ok(playback_reset(s, &anything, &why) && str_is(state_of(s), "{\"at\":0}"),
	   "a reset starts over");
	playback_end(s);
	playback_free(p);
	buf_release(&why);
}

static void check_rollouts(void)
{
	struct playback_source *p = record(two, (struct playback_conf){.match = MATCH_EXACT});
	struct playback_request eight = {.has_seed = true, .seed = 8}, nine = {true, 9, STR_NONE};
	struct buf why = BUF(BUF_MAX_SMALL);
	struct playback_session *s = playback_begin(p, &eight, &why), *t;

	ok(s && str_is(s->rollout->id, "b"), "by its seed");
	t = playback_begin(p, &anything, &why);
	ok(t && str_is(t->rollout->id, "a"), "else the first that is left");
	ok(!playback_begin(p, &anything, &why), "then none");
	ok(strstr(buf_cstr(&why), "has 2 rollouts, and all have been played"), "%s",
	   buf_cstr(&why));
	buf_clear(&why);
	ok(t && !playback_reset(t, &nine, &why) && str_is(t->rollout->id, "a"),
	   "a reset with an unknown seed changes nothing");
	ok(strstr(buf_cstr(&why), "0 rollouts with seed 9"), "%s", buf_cstr(&why));
	playback_end(s);
	ok(!playback_begin(p, &anything, &why), "a played rollout is not played again");
	playback_end(t);
	playback_free(p);
	/* a session without requests is replaced */
	p = record(two, (struct playback_conf){.match = MATCH_EXACT});
	s = playback_begin(p, &anything, &why);
	t = playback_begin(p, &anything, &why);
	ok(playback_reset(t, &(struct playback_request){true, 7, STR_NONE}, &why) &&
	           str_is(t->rollout->id, "a") && str_is(s->rollout->id, "b"),
	   "two sessions that opened in reverse order are exchanged");
	playback_end(s);
	playback_end(t);
	playback_free(p);
	p = record(two, (struct playback_conf){.match = MATCH_EXACT, .loop = true});
	for (int i = 0; i < 4; i++) {
		s = playback_begin(p, &anything, &why);
		ok(s && str_is(s->rollout->id, i % 2 ? "b" : "a"), "a loop, session %d", i);
		playback_end(s);
	}
	playback_free(p);
	buf_release(&why);
}

/* The tool's reply as an MCP result. */
static void check_answer(struct playback_session *s, const char *arguments, const char *want)
{
	struct buf body = BUF(BUF_MAX_SMALL), why = BUF(BUF_MAX_SMALL);

	gym_write_recorded(s, playback_call(s, STR("go"), str_from(arguments), &why), &body);
	is_str(buf_cstr(&body), want, "the answer to %s", arguments);
	BUFS_RELEASE(&body, &why);
}

#define TEXT(text) "{\"content\":[{\"type\":\"text\",\"text\":" text "}],\"isError\":false}"

static void check_answers(void)
{
	struct playback_source *p = record(two, (struct playback_conf){.match = MATCH_SEQUENTIAL});
	struct buf why = BUF(BUF_MAX_SMALL), total = BUF(BUF_MAX_SMALL);
	struct playback_session *s = playback_begin(p, &anything, &why);

	ok(str_is(playback_control_state(s), "{\"at\":0}"), "the control plane's first state");
	check_answer(s, "{}", TEXT("\"{\\\"at\\\":1}\""));
	playback_total(s, &total);
	is_str(buf_cstr(&total), "0.5", "the reward so far");
	check_answer(s, "{}", TEXT("\"\\\"[7]\\\"\""));
	buf_clear(&total);
	playback_total(s, &total);
	is_str(buf_cstr(&total), "1.00", "in the end the total, as it was spelled");
	playback_end(s);
	s = playback_begin(p, &anything, &why);
	check_answer(s, "{}", TEXT("\"plain\""));
	playback_end(s);
	playback_free(p);
	buf_release(&why);
	buf_release(&total);
}

int main(void)
{
	check_calls();
	check_rollouts();
	check_answers();
	return done();
}
