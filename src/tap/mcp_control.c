/* Episodes of an MCP session, and what the control plane of MCP-Gym says about them. */
#include "env/state_source.h"
#include "json/write.h"
#include "tap/mcp_client.h"

#include <stdio.h>

bool mcp_is_control(struct str path)
{
	enum control_fact fact;

	return control_names(path, &fact) || str_ends(path, STR(CONTROL_RESET)) ||
	       str_ends(path, STR("/control/info"));
}

/* ---- the beginning of an episode ---- */

/* Rollouts that were asked for the same are one group. */
static void write_data(const struct mcp_client *c, struct buf *data)
{

	struct json_writer w = jw_form(data, "{task:%?s", c->task.n ? c->task : STR_NONE);
	if (c->has_seed)
		jw_put_i64(&w, "seed", c->seed);
	jw_pack(&w, "config:%?r}", buf_given(&c->config));
}

static enum state_kind state_kind_of(const struct mcp_client *c)
{
	const struct tap_recording *r = c->decoder->recording;

	if (tap_state_source(r))
		return tap_state_source(r)->kind;
	if (!c->has_control)
		return STATE_NONE;
	return c->observes && !(tap_asks(r) && c->env_id.n) ? STATE_OBSERVATION
	                                                    : STATE_CONTROL_PLANE;
}

static const struct tap_env_facts *facts_of(struct mcp_client *c)
{
	c->facts.protocol = c->has_control ? PROTOCOL_MCP_GYM : PROTOCOL_MCP;
	c->facts.tools = buf_given(&c->decoder->tools);
	return &c->facts;
}

void mcp_control_begin_episode(struct mcp_client *c)
{
	const struct state_source *named = tap_state_source(c->decoder->recording);
	enum state_kind kind = state_kind_of(c);
	struct env_reply reset = {.outcome = OUTCOME_OK, REPLY_UNKNOWN};
	AUTO_BUF data = BUF(BUF_MAX_MESSAGE);
	struct str answer = buf_given(&c->answer);
	struct str start = c->start.n ? buf_view(&c->start) : named ? STR_NONE : answer;
	struct str state = named ? answer : start;

	write_data(c, &data);
	reset.observation = start;
	reset.terminated = c->ending.terminated;
	reset.truncated = c->ending.truncated;
	struct tap_episode_start f = {
		.env = facts_of(c),
		.task = c->task,
		.has_seed = c->has_seed,
		.seed = c->seed,
		.reset_args = buf_given(&c->config),
		.data = c->task.n || c->has_seed || c->config.n ? buf_view(&data) : STR_NONE,
		.state_kind = kind,
		.state_target = named ? named->target : STR_NONE,
		.state_arguments = named ? named->arguments : STR_NONE,
		.first_state = kind == STATE_NONE ? STR("null") : state,
		.reset = &reset,
	};
	tap_episode_begin(c->session, &f);
	c->state_kind = kind;
	c->known.state_is_control = kind == STATE_CONTROL_PLANE;
	mcp_known_start(&c->known, start);
	tap_state(c->session, kind == STATE_NONE ? STR_NONE : state);
	buf_clear(&c->start);
	buf_clear(&c->answer);
}

/* ---- readings ---- */

static void keep_fact(struct mcp_control_fact *f, bool holds, struct str body, struct buf *why)
{
	buf_set(&f->text, holds ? body : STR_NONE);
	buf_set(&f->why, buf_view(why));
	f->read = true;
}

static void read_state(struct mcp_client *c, struct str state, const char *why)
{
	mcp_client_flush(c);
	if (!tap_episode_is_open(c->session)) {
		buf_set(&c->start, state);
		return;
	}
	if (!state.p)
		mcp_known_trouble(&c->known, "state", why);
	if (c->state_kind == STATE_CONTROL_PLANE) {
		mcp_known_state(&c->known, state);
		tap_state(c->session, state);
	}
}

/* Before the first step only the end of the episode counts: a reward belongs to earlier steps. */
static void read_status_before(struct mcp_client *c, struct str status, const char *why)
{
	struct env_reply before = {.outcome = OUTCOME_OK, REPLY_UNKNOWN};

	mcp_known_status(&c->known, status, why, &before);
	c->ending = before;
}

/* A server without these paths has no control plane; one that has says why it knows no session. */
static bool is_control_error(struct str body)
{
	return json_is_valid(body) && json_type(JSON_GET(body, "error")) == JSON_STRING;
}

void mcp_control_read(struct mcp_client *c, enum control_fact fact, int status, struct str body)
{
	AUTO_BUF why = BUF(BUF_MAX_SMALL);
	bool holds = control_reply_holds(fact, status, body, &why);
	struct mcp_control_fact *facts[] = {
		[CONTROL_REWARD] = &c->held.reward, [CONTROL_STATUS] = &c->held.status};

	c->has_control |= status != 404 || is_control_error(body);
	if (fact == CONTROL_STATE) {
		read_state(c, holds ? body : STR_NONE, buf_cstr(&why));
	} else if (c->held.step) {
		keep_fact(facts[fact], holds, body, &why);
		if (c->held.status.read && c->held.reward.read)
			mcp_client_flush(c);
	} else if (fact == CONTROL_STATUS && !tap_episode_is_open(c->session)) {
		read_status_before(c, holds ? body : STR_NONE, buf_cstr(&why));
	}
}

/* ---- reset ---- */

static void refuse_reset(struct mcp_client *c, int status, struct str body)
{
	AUTO_BUF why = BUF(BUF_MAX_SMALL);
	char code[16];

	control_explain_reset(status, body, &why);
	snprintf(code, sizeof(code), "%d", status);
	struct env_reply refusal = {.outcome = OUTCOME_PROTOCOL_ERROR,
	                            .http_status = status,
	                            .error = {.class = CLASS_PROTOCOL,
	                                      .layer = LAYER_HTTP,
	                                      .code = str_from(code),
	                                      .message = buf_view(&why)},
	                            REPLY_UNKNOWN};
	struct tap_episode_start f = {.env = facts_of(c),
	                              .task = c->task,
	                              .has_seed = c->has_seed,
	                              .seed = c->seed,
	                              .state_kind = state_kind_of(c),
	                              .reset = &refusal};
	tap_episode_begin(c->session, &f);
}

void mcp_control_reset(struct mcp_client *c, int status, struct str asked, struct str body)
{
	mcp_client_flush(c);
	c->has_control = true;
	c->has_seed = json_is_valid(asked) && json_i64(JSON_GET(asked, "seed"), &c->seed);
	if (status != 200) {
		refuse_reset(c, status, body);
		return;
	}
	tap_episode_end(c->session, END_FINISHED, "the client reset the environment");
	buf_clear(&c->start);
	mcp_ask_later(c);
	c->ending = (struct env_reply){REPLY_UNKNOWN};
	mcp_known_forget(&c->known);
}
