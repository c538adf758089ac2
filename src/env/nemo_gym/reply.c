/* What the replies of a resources server mean: see nemo_gym.h. */
#include "env/nemo_gym/nemo_gym.h"

#include "env/http_env.h"
#include "json/write.h"

/* Any JSON is a tool's result; a text that is not JSON is one, too. */
static void read_body(const struct http_json_answer *a, const struct http_json_meaning *meanings,
                      struct reply_reading *r, struct env_reply *out)
{
	*out = (struct env_reply){.outcome = OUTCOME_OK, REPLY_UNKNOWN};
	if (a->status != 200 || !a->data.p)
		http_json_read_failure(a, meanings, r, out);
	else
		out->observation = a->data;
	out->http_status = a->status;
}

void nemo_gym_read_other(const struct http_json_answer *a, struct reply_reading *r,
                         struct env_reply *out)
{
	static const struct http_json_meaning meanings[] = {
		{404, CLASS_SESSION}, {410, CLASS_SESSION}, {0, CLASS_NONE}};

	read_body(a, meanings, r, out);
}

void nemo_gym_read_begin(const struct http_json_answer *a, bool steps, struct reply_reading *r,
                         struct env_reply *out)
{
	static const struct http_json_meaning none[] = {
		{0, CLASS_NONE}}; /* 404 is no lost session: none was open */

	if (steps && a->status == 200)
		nemo_gym_read_step(a, r, out);
	else
		read_body(a, none, r, out);
}

static void put_added(struct str request, struct str reply, struct buf *detail)
{
	struct json_member m;
	struct json_writer w = jw_begin(detail);

	jw_put_text(&w, "what", "verify");
	for (size_t cursor = 0; json_next_member(reply, &cursor, &m);)
		if (!json_get(request, m.key).p) {
			jw_key_spelled(&w, m.key);
			jw_raw(&w, m.value);
		}
	jw_end(&w);
}

void nemo_gym_read_verify(const struct http_json_answer *a, struct str request,
                          struct reply_reading *r, struct nemo_gym_verified *out,
                          struct buf *detail)
{
	struct env_reply reply;

	nemo_gym_read_other(a, r, &reply);
	*out = (struct nemo_gym_verified){.reward = http_env_reward(JSON_GET(a->data, "reward"))};
	if (reply.outcome != OUTCOME_OK) {
		out->reward = STR_NONE;
		out->why = reply.error.message;
	} else if (!out->reward.p) {
		out->why = STR("the reply has no reward");
	} else {
		struct str components = JSON_GET(a->data, "reward_components");

		if (json_type(components) == JSON_OBJECT)
			out->components = components;
		put_added(request, a->data, detail);
	}
}

void nemo_gym_read_tool(const struct http_json_answer *a, bool known,
                        struct hidden_error_context before, const struct env_conf *conf,
                        struct reply_reading *r, struct env_reply *out)
{
	const struct http_json_meaning meanings[] = {
		{404, known ? CLASS_ENVIRONMENT : CLASS_UNKNOWN_TOOL},
		{405, CLASS_UNKNOWN_TOOL},
		{410, CLASS_SESSION},
		{0, CLASS_NONE}};

	read_body(a, meanings, r, out);
	if (out->outcome == OUTCOME_OK)
		http_env_find_error(before, conf, r, out);
}

/* ---- gymnasium-style servers ---- */

/* The output of the call, if the server executes calls itself; a text that is JSON, as JSON. */
static struct str tool_output(struct str info, struct reply_reading *r)
{
	struct str output = JSON_GET(json_first(JSON_GET(info, "tool_outputs")), "output");

	buf_clear(&r->observation);
	if (json_type(output) == JSON_STRING && json_decode(output, &r->observation) &&
	    json_is_valid(buf_view(&r->observation))) {
		return buf_view(&r->observation);
	}
	return output;
}

void nemo_gym_read_step(const struct http_json_answer *a, struct reply_reading *r,
                        struct env_reply *out)
{
	enum { OBSERVATION, REWARD, TERMINATED, TRUNCATED, INFO, COUNT };
	static const struct str keys[COUNT] = {STR_INIT("observation"), STR_INIT("reward"),
	                                       STR_INIT("terminated"), STR_INIT("truncated"),
	                                       STR_INIT("info")};
	struct str values[COUNT];
	bool flag;

	nemo_gym_read_other(a, r, out);
	if (out->outcome != OUTCOME_OK)
		return;
	json_pick(a->data, keys, COUNT, values);
	if (!values[OBSERVATION].p && !values[INFO].p) {
		reading_fail(r, OUTCOME_PROTOCOL_ERROR, LAYER_BODY, CLASS_PROTOCOL,
		             STR("the reply has neither an observation nor info"), out);
		return;
	}
	out->observation = values[OBSERVATION];
	out->reward = http_env_reward(values[REWARD]);
	if (json_bool(values[TERMINATED], &flag))
		out->terminated = (int8_t)flag;
	if (json_bool(values[TRUNCATED], &flag))
		out->truncated = (int8_t)flag;
	if (json_is_null(out->observation))
		out->observation = tool_output(values[INFO], r);
	if (json_count(values[INFO]))
		reading_structured(r, "info", values[INFO], out);
}
