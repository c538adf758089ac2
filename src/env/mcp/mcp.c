/* MCP servers as environments: plain MCP, and MCP-Gym with its control plane, which is
   detected. */
#include "env/mcp/mcp_internal.h"

#include "base/log.h"
#include "env/reading.h"
#include "json/write.h"

#include <stdlib.h>

static void note(struct env_mcp *e, enum event_kind event, const char *what, const char *why)
{
	reading_note(&e->base.events, event, what, str_from(why));
}

/* ---- the control plane ---- */

static int read_status(struct env_mcp *e, struct env_reply *out, struct error *err)
{
	struct str status;

	if (control_read(&e->control, CONTROL_STATUS, &status, err))
		return -1;
	mcp_known_status(&e->known, status, buf_cstr(&e->control.why), out);
	e->base.facts.total_reward = mcp_known_total_reward(&e->known);
	return 0;
}

static int read_control_plane(struct env_mcp *e, struct env_reply *out, struct error *err)
{
	struct str body;

	if (e->control.kind == CONTROL_NONE)
		return 0;
	if (read_status(e, out, err))
		return -1;
	if (e->known.state_lost)
		return 0;
	if (control_read(&e->control, CONTROL_REWARD, &body, err))
		return -1;
	mcp_known_reward(&e->known, body, buf_cstr(&e->control.why), out);
	return 0;
}

/* ---- tools ---- */

int mcp_check_tools(struct env_mcp *e, struct error *err)
{
	AUTO_BUF now = BUF(BUF_MAX_MESSAGE), detail = BUF(BUF_MAX_MESSAGE);
	struct mcp_reply r;

	if (!e->session->tools_changed)
		return 0;
	e->session->tools_changed = false;
	int failed = mcp_list_tools(e->session, &now, &r, err);
	if (!failed && r.got != MCP_GOT_RESULT) {
		note(e, EVENT_NOISE, "tools/list",
		     "the tool list changed, but reading the new one was refused");
	} else if (!failed && tools_differ(buf_view(&e->tools), buf_view(&now), &detail)) {
		struct buf before = e->tools;

		e->tools = now;
		now = before;
		e->base.facts.tools = buf_view(&e->tools);
		events_push(&e->base.events, EVENT_TOOLS_CHANGED, buf_view(&detail));
	}
	return failed;
}

/* ---- opening ---- */

static bool plain(const struct env_conf *conf)
{
	return conf->protocol && !strcmp(conf->protocol, "mcp");
}

/* Members of clientInfo that MCP-Gym servers read: the environment session and the seed. The
   version is unique per rollout, because one generation of servers identifies environments by it. */
static void describe_client(struct env_mcp *e)
{
	buf_text(&e->client_version, e->conf->version);
	if (plain(e->conf)) {
		if (e->conf->reset_args.p) {
			log_warn("\1protocol\2 mcp has no episodes to start: the reset arguments "
			         "are recorded, not sent");
		}
		return;
	}
	buf_printf(&e->client_version, "+%s", e->conf->env_session);
	struct json_writer w = jw_begin(&e->extra);
	jw_put_text(&w, "session_id", e->conf->env_session);
	if (e->conf->has_seed)
		jw_put_i64(&w, "seed", e->conf->seed);
	if (json_count(e->conf->reset_args))
		jw_put_raw(&w, "config", e->conf->reset_args);
	jw_end(&w);
}

static enum mcp_era era_of(const char *name)
{
	if (!name || !strcmp(name, "legacy"))
		return MCP_ERA_LEGACY;
	return strcmp(name, "modern") ? MCP_ERA_AUTO : MCP_ERA_MODERN;
}

static int list_tools(struct env_mcp *e, struct env_reply *refusal, struct error *err)
{
	struct mcp_reply r;

	if (mcp_list_tools(e->session, &e->tools, &r, err))
		return -1;
	if (r.got != MCP_GOT_RESULT)
		return mcp_refused(e, &r, "tools/list", refusal, err);
	e->base.facts.tools = buf_view(&e->tools);
	return 0;
}

static int find_control_plane(struct env_mcp *e, struct error *err)
{
	if (plain(e->conf))
		return 0;
	if (control_detect(&e->control, err))
		return -1;
	if (e->control.kind == CONTROL_HTTP_HASHED) {
		control_use_hash(&e->control, e->conf->reset_args, "rolldbg",
		                 buf_cstr(&e->client_version), e->conf->has_seed, e->conf->seed);
	}
	if (e->control.kind == CONTROL_NONE && e->control.undetected_why.n) {
		const char *why = buf_cstr(&e->control.undetected_why);

		log_warn("cannot tell whether the server has a control plane (%s): treated as "
		         "plain MCP",
		         why);
		note(e, EVENT_CONTROL_PLANE_FAILED, "detection", why);
	}
	if (e->control.kind == CONTROL_NONE && e->conf->protocol &&
	    !strcmp(e->conf->protocol, "mcp-gym")) {
		return error_set(err, FAIL_PROTOCOL,
		                 "%s has no MCP-Gym control plane (use \1protocol\2 mcp for "
		                 "plain MCP)",
		                 buf_cstr(&e->session->url));
	}
	return 0;
}

static void choose_source(struct env_mcp *e)
{
	bool control = e->control.kind != CONTROL_NONE;

	if (e->source.kind == STATE_AUTO)
		e->source.kind = control ? STATE_CONTROL_PLANE : STATE_NONE;
	e->known.state_is_control = e->source.kind == STATE_CONTROL_PLANE;
}

/* A hashing server takes the seed with the first tool call only; reading its state earlier would
   create an unseeded environment. */
static bool must_not_read_state(const struct env_mcp *e)
{
	return e->control.kind == CONTROL_HTTP_HASHED && e->conf->has_seed && !e->acted;
}

static int check_source(struct env_mcp *e, struct error *err)
{
	if (e->source.kind == STATE_CONTROL_PLANE && e->control.kind == CONTROL_NONE) {
		return error_set(err, FAIL_USAGE,
		                 "\1state\2 control-plane: the server has no control plane; use "
		                 "resource:URI, tool:NAME or observation");
	}
	if (e->source.kind == STATE_OPENENV)
		return error_set(err, FAIL_USAGE, "\1state\2 openenv: this is an MCP server");
	return e->source.kind == STATE_TOOL && !must_not_read_state(e)
	               ? mcp_check_state_tool(&e->source, buf_view(&e->tools), e->session,
	                                      &e->known.reading, err)
	               : 0;
}

static void fill_facts(struct env_mcp *e)
{
	static const char *const kinds[] = {[CONTROL_NONE] = "none",
	                                    [CONTROL_HTTP] = "HTTP, client-chosen session id",
	                                    [CONTROL_HTTP_HASHED] = "HTTP, hashed session id",
	                                    [CONTROL_RESOURCES] = "resources"};

	e->base.facts.protocol = e->control.kind == CONTROL_NONE ? "mcp" : "mcp-gym";
	e->base.facts.revision = e->session->revision;
	e->base.facts.era = e->session->modern ? "modern" : "legacy";
	e->base.facts.transport = e->session->ops->name;
	e->base.facts.name = buf_given(&e->session->name);
	e->base.facts.version = buf_given(&e->session->version);
	e->base.facts.state_kind = e->source.kind;
	e->base.facts.state_target = e->source.target;
	e->base.facts.state_arguments = e->source.arguments;
	e->base.facts.session = buf_view(&e->session->id);
	if (!plain(e->conf) && (e->control.kind != CONTROL_NONE || !e->session->modern))
		e->base.facts.env_session = buf_view(&e->control.id);
	e->base.facts.url = str_from(buf_cstr(&e->session->url));
	bool own_server = str_starts(str_from(e->conf->url), STR(STDIO_SCHEME));
	e->base.facts.traits = (struct env_traits){
		.takes_seed =
			e->control.kind == CONTROL_HTTP || e->control.kind == CONTROL_HTTP_HASHED,
		.starts_over = e->control.kind == CONTROL_HTTP,
		.has_episodes = e->control.kind != CONTROL_NONE,
		.names_sessions = !own_server,
		.own_server = own_server,
	};
	log_info("%s: control plane: %s; state source: %s", buf_cstr(&e->session->url),
	         kinds[e->control.kind], state_kind_name(e->base.facts.state_kind));
}

/* ---- the vtable ---- */

static struct env_mcp *mcp_of(struct env *base)
{
	return (struct env_mcp *)base;
}

static int mcp_claims(const char *url)
{
	struct str s = str_from(url);

	if (str_starts(s, STR(STDIO_SCHEME)))
		return s.n > strlen(STDIO_SCHEME) ? 2 : 0;
	if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
		return 0;
	s.n = strcspn(url, "?#");
	while (str_ends(s, STR("/")))
		s.n--;
	return str_ends(s, STR("/mcp")) || str_ends(s, STR("/sse")) ? 2 : 1;
}

static struct env_mcp *mcp_new(const struct env_conf *conf, struct io *io);

static int open_session(struct env_mcp *e, struct env_reply *refusal, struct error *err)
{
	struct mcp_reply r;

	if (mcp_session_open(e->session, &r, err))
		return -1;
	if (r.got != MCP_GOT_RESULT) {
		bool modern = era_of(e->conf->era) == MCP_ERA_MODERN;

		return mcp_refused(e, &r, modern ? "server/discover" : "initialize", refusal, err);
	}
	e->base.facts.session = buf_view(&e->session->id);
	return list_tools(e, refusal, err) ? error_from_peer(err) : 0;
}

static int mcp_open(const struct env_conf *conf, struct io *io, struct env **out,
                    struct env_reply *refusal, struct error *err)
{
	struct env_mcp *e = mcp_new(conf, io);

	*out = &e->base;
	if (state_source_parse(conf->state_spec, &e->source, err) || open_session(e, refusal, err))
		return -1;
	if (refusal->outcome != OUTCOME_OK)
		return 0;
	if (find_control_plane(e, err))
		return error_from_peer(err);
	choose_source(e);
	fill_facts(e);
	return check_source(e, err);
}

static int seed_episode(struct env_mcp *e, struct env_reply *out, struct error *err)
{
	int status;

	if (!e->conf->has_seed || e->control.kind != CONTROL_HTTP)
		return 0;
	if (control_reset(&e->control, e->conf->seed, &status, err))
		return -1;
	if (status != 200) {
		reading_fail(&e->known.reading,
		             status ? OUTCOME_PROTOCOL_ERROR : OUTCOME_TRANSPORT_ERROR,
		             status ? LAYER_HTTP : LAYER_TRANSPORT,
		             status ? CLASS_PROTOCOL : CLASS_TRANSPORT, buf_view(&e->control.why),
		             out);
		out->http_status = status;
		out->error.code = status ? reading_code(&e->known.reading, status) : STR_NONE;
		env_reply_keep(out, &e->kept);
	}
	return 0;
}

static int read_start(struct env_mcp *e, struct env_reply *out, struct error *err)
{
	struct str first;

	if (must_not_read_state(e)) {
		events_push(
			&e->base.events, EVENT_CONTROL_PLANE_FAILED,
			STR("{\"what\":\"state\",\"why\":\"not read before the first call, which "
		            "would create an unseeded environment on this server\",\"skipped\":"
		            "true}"));
		return 0;
	}
	if (control_read(&e->control, CONTROL_STATE, &first, err))
		return -1;
	/* the environment exists from here on and can only now be seeded */
	if (seed_episode(e, out, err) || out->outcome != OUTCOME_OK)
		return out->outcome != OUTCOME_OK ? 0 : -1;
	if (e->conf->has_seed && control_read(&e->control, CONTROL_STATE, &first, err))
		return -1;
	if (!first.p)
		mcp_known_trouble(&e->known, "state", buf_cstr(&e->control.why));
	out->observation = arena_str(&e->kept, first);
	return 0;
}

static int read_source(struct env_mcp *e, struct str *out, struct error *err)
{
	if (mcp_read_state(&e->source, e->session, &e->control, &e->known.reading, e->last, out,
	                   err)) {
		return -1;
	}
	if (!out->p && e->source.why.n)
		note(e, EVENT_CONTROL_PLANE_FAILED, "state", buf_cstr(&e->source.why));
	if (e->source.kind == STATE_CONTROL_PLANE)
		mcp_known_state(&e->known, *out);
	return 0;
}

/* The first state decides which members are ignored. A state read only for this is not read
   again before the first turn. */
static int choose_ignored(struct env_mcp *e, struct error *err)
{
	bool given = e->conf->ignore_count > 0;
	bool control = e->source.kind == STATE_CONTROL_PLANE;
	struct str first = control ? e->last : STR_NONE;

	if (!control && !given && read_source(e, &first, err))
		return -1;
	e->state_read = !control && first.p != NULL;
	if (e->source.kind == STATE_NONE && !given)
		first = STR("null"); /* there will never be a state: nothing to ignore */
	return ignore_paths_of_session(&e->ignored, &e->base, e->conf, first, err);
}

/* Reads the step count before our first step. Its reward belongs to earlier steps and is
   dropped; the end of the episode is kept. */
static int read_status_before(struct env_mcp *e, struct env_reply *start, struct error *err)
{
	struct env_reply before = *start;

	if (read_status(e, &before, err))
		return -1;
	if (before.terminated > 0 || before.truncated > 0) {
		start->terminated = before.terminated;
		start->truncated = before.truncated;
		note(e, EVENT_NOTIFICATION, "status",
		     "the episode was over before the first step: another client used it, "
		     "and it was not reset");
	}
	return 0;
}

static int mcp_reset(struct env *base, struct env_reply *out, struct error *err)
{
	struct env_mcp *e = mcp_of(base);

	arena_release(&e->kept);
	mcp_known_forget(&e->known);
	if (e->control.kind != CONTROL_NONE && read_start(e, out, err))
		return -1;
	e->last = out->observation;
	if (out->outcome == OUTCOME_OK && e->control.kind != CONTROL_NONE &&
	    !must_not_read_state(e) && read_status_before(e, out, err)) {
		return -1;
	}
	mcp_known_start(&e->known, out->observation);
	return choose_ignored(e, err);
}

static int mcp_state(struct env *base, struct str *out, struct error *err)
{
	struct env_mcp *e = mcp_of(base);
	bool unreadable = e->source.kind == STATE_CONTROL_PLANE && must_not_read_state(e);

	*out = STR_NONE;
	if (mcp_check_tools(e, err))
		return -1;
	if (unreadable)
		return 0;
	if (e->state_read) {
		e->state_read = false;
		*out = buf_view(&e->source.value);
		return 0;
	}
	return read_source(e, out, err);
}

static struct mcp_call_context call_context(const struct env_mcp *e)
{
	return (struct mcp_call_context){.env_session = e->base.facts.env_session,
	                                 .before = mcp_known_before(&e->known),
	                                 .error_texts = e->conf->error_texts,
	                                 .error_text_count = e->conf->error_text_count};
}

static int mcp_step(struct env *base, struct str name, struct str arguments, struct env_reply *out,
                    struct error *err)
{
	struct env_mcp *e = mcp_of(base);
	struct mcp_reply r;

	e->acted = true;
	e->known.reads_only = tool_is_read_only(buf_view(&e->tools), name);
	if (mcp_call_tool(e->session, name, arguments, &r, err))
		return -1;
	struct mcp_call_context context = call_context(e);
	mcp_read_tool_reply(&r, &context, &e->known.reading, out);
	mcp_known_cut_raw(&e->known, out);
	e->last = reading_keep(out, &e->kept);
	if (e->last.p && !json_is_null(out->structured) && !e->source.target.n)
		e->last = env_reply_whole(out->observation, out->structured, &e->kept);
	e->base.facts.session = buf_view(&e->session->id);
	out->session = e->base.facts.session;
	out->env_session = e->base.facts.env_session;
	if (out->outcome != OUTCOME_OK && out->error.layer == LAYER_TRANSPORT)
		return 0; /* no reply: two more requests would only time out again */
	int failed = read_control_plane(e, out, err);
	mcp_known_conclude(&e->known, out);
	if (out->outcome != OUTCOME_OK)
		e->last = STR_NONE;
	return failed;
}

static int mcp_resources(struct env *base, struct buf *out, struct error *err)
{
	return mcp_list_resources(mcp_of(base)->session, out, err);
}

static void mcp_close(struct env *base)
{
	struct env_mcp *e = mcp_of(base);

	if (!e)
		return;
	e->session->ops->close(e->session->channel);
	mcp_session_free(e->session);
	control_release(&e->control);
	state_source_release(&e->source);
	mcp_known_release(&e->known);
	events_release(&e->base.events);
	ignore_paths_release(&e->ignored);
	arena_release(&e->kept);
	BUFS_RELEASE(&e->tools, &e->extra, &e->client_version);
	free(e);
}

const struct env_ops env_mcp = {
	.name = "mcp",
	.help = "MCP over Streamable HTTP, stdio or the older HTTP+SSE; MCP-Gym's control plane "
		"is detected",
	.protocols = (const char *const[]){"mcp", "mcp-gym", NULL},
	.places = "http(s)://HOST/mcp, stdio:COMMAND",
	.limit_fix = "raise the server's session limit (max_sessions of the Python MCP SDK, "
		     "MAX_CONCURRENT_ENVS of MCP-Gym)",
	.has_eras = true,
	.claims = mcp_claims,
	.open = mcp_open,
	.reset = mcp_reset,
	.state = mcp_state,
	.step = mcp_step,
	.resources = mcp_resources,
	.close = mcp_close,
};

static struct env_mcp *mcp_new(const struct env_conf *conf, struct io *io)
{
	struct env_mcp *e = mem_new(sizeof(*e));

	e->base.ops = &env_mcp;
	e->conf = conf;
	e->tools = BUF(BUF_MAX_MESSAGE);
	e->extra = e->client_version = BUF(BUF_MAX_SMALL);
	mcp_known_init(&e->known, &e->base.events);
	describe_client(e);
	struct mcp_conf mcp = {.url = conf->url,
	                       .era = era_of(conf->era),
	                       .headers = conf->headers,
	                       .header_count = conf->header_count,
	                       .child_variables = conf->child_variables,
	                       .timeout_ms = conf->timeout_ms,
	                       .client_version = buf_cstr(&e->client_version),
	                       .extra = buf_given(&e->extra),
	                       .io = io,
	                       .events = &e->base.events};
	e->session = mcp_session_new(&mcp);
	control_init(&e->control, io, e->session, &e->base.events, conf);
	return e;
}
