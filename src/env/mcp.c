/* MCP servers as environments: plain MCP, and MCP-Gym with its control plane, found by
 * asking. */
#include "env/mcp_inside.h"

#include "base/log.h"
#include "json/write.h"

#include <stdio.h>
#include <stdlib.h>

#define RAW_MAX ((size_t)4 << 20)

/* ---- opening ---- */

static bool plain(const struct env_conf *conf)
{
	return conf->protocol && !strcmp(conf->protocol, "mcp");
}

/* What MCP-Gym servers read from clientInfo: the environment session and the seed. The
   version is unique for each rollout, because one generation of servers tells
   environments apart by it. */
static void describe_client(struct env_mcp *e)
{
	struct json_writer w;

	buf_text(&e->client_version, e->conf->version);
	if (plain(e->conf)) {
		return;
	}
	buf_printf(&e->client_version, "+%s", e->conf->env_session);
	jw_init(&w, &e->extra);
	jw_object(&w);
	jw_key(&w, "session_id");
	jw_text(&w, e->conf->env_session);
	if (e->conf->has_seed) {
		jw_key(&w, "seed");
		jw_i64(&w, e->conf->seed);
	}
	jw_end(&w);
}

static enum mcp_era era_of(const char *name)
{
	if (!name || !strcmp(name, "legacy")) {
		return MCP_ERA_LEGACY;
	}
	return strcmp(name, "modern") ? MCP_ERA_AUTO : MCP_ERA_MODERN;
}

/* Nobody there, or somebody who does not speak MCP: our error. Anything else is a
   refusal, which is the server's answer and goes into the recording. */
static int refused(struct env_mcp *e, const struct mcp_reply *r, const char *what,
                   struct env_reply *refusal, struct error *err)
{
	bool answered = r->http_status == 429 || r->http_status >= 500 ||
	                r->http_status == 401 || r->http_status == 403;

	if (r->got == MCP_GOT_TIMEOUT || r->got == MCP_GOT_TRANSPORT) {
		return error_set(
			err, r->got == MCP_GOT_TIMEOUT ? FAIL_TIMEOUT : FAIL_TRANSPORT,
			"%.*s", STR_ARG(r->text));
	}
	if (r->got == MCP_GOT_UNUSABLE) {
		return error_set(err, FAIL_PROTOCOL, "%s: %.*s",
		                 mcp_session_url(e->session), STR_ARG(r->text));
	}
	if (r->got == MCP_GOT_HTTP && !answered) {
		return error_set(err, FAIL_PROTOCOL,
		                 "%s answered %s with HTTP %d (%.*s), which is not MCP; "
		                 "is the path "
		                 "right? MCP servers usually answer at /mcp",
		                 mcp_session_url(e->session), what, r->http_status,
		                 STR_ARG(r->media.n ? r->media : STR("no content type")));
	}
	mcp_read_refusal(r, &e->reading, refusal);
	return 0;
}

static int list_tools(struct env_mcp *e, struct env_reply *refusal, struct error *err)
{
	struct mcp_reply r;
	bool endless;

	if (mcp_list_tools(e->session, &e->tools, &endless, &r, err)) {
		return -1;
	}
	if (r.got != MCP_GOT_RESULT) {
		return refused(e, &r, "tools/list", refusal, err);
	}
	if (endless) {
		mcp_note(
			e, "noise", "tools/list",
			"the pages do not end: the cursor repeats, or they are too large",
			false);
	}
	e->facts.tools = buf_view(&e->tools);
	return 0;
}

static int find_control_plane(struct env_mcp *e, struct error *err)
{
	if (plain(e->conf)) {
		return 0;
	}
	if (control_detect(&e->control, err)) {
		return -1;
	}
	if (e->control.kind == CONTROL_HTTP_HASHED) {
		control_use_hash(&e->control, e->hasher, "rolldbg",
		                 buf_cstr(&e->client_version), e->conf->has_seed,
		                 e->conf->seed);
	}
	if (e->control.kind == CONTROL_NONE && e->control.silence.n) {
		const char *why = buf_cstr(&e->control.silence);

		log_warn("nobody answered whether there is a control plane (%s): driven "
		         "as plain MCP",
		         why);
		mcp_note(e, "control-plane-failed", "detection", why, false);
	}
	if (e->control.kind == CONTROL_NONE && e->conf->protocol &&
	    !strcmp(e->conf->protocol, "mcp-gym")) {
		return error_set(err, FAIL_PROTOCOL,
		                 "%s has no MCP-Gym control plane (--protocol mcp drives "
		                 "it as plain "
		                 "MCP)",
		                 mcp_session_url(e->session));
	}
	return 0;
}

static int settle_source(struct env_mcp *e, struct error *err)
{
	bool control = e->control.kind != CONTROL_NONE;

	if (e->source.kind == STATE_AUTO) {
		e->source.kind = control ? STATE_CONTROL_PLANE : STATE_NONE;
	}
	if (e->source.kind == STATE_CONTROL_PLANE && !control) {
		return error_set(
			err, FAIL_USAGE,
			"--state control-plane: this server has no control plane; name a "
			"resource:URI, a tool:NAME, or observation");
	}
	if (e->source.kind == STATE_OPENENV) {
		return error_set(err, FAIL_USAGE,
		                 "--state openenv: this server speaks MCP");
	}
	return 0;
}

static void settle_facts(struct env_mcp *e)
{
	static const char *const kinds[] = {[CONTROL_NONE] = "none",
	                                    [CONTROL_HTTP] = "HTTP, our own session id",
	                                    [CONTROL_HTTP_HASHED] =
	                                            "HTTP, hashed session id",
	                                    [CONTROL_RESOURCES] = "resources"};

	e->facts.protocol = e->control.kind == CONTROL_NONE ? "mcp" : "mcp-gym";
	e->facts.revision = mcp_session_revision(e->session);
	e->facts.era = mcp_session_is_none(e->session) ? "modern" : "legacy";
	e->facts.transport = mcp_session_transport(e->session);
	e->facts.name = mcp_server_name(e->session);
	e->facts.version = mcp_server_version(e->session);
	e->facts.state_kind = state_kind_name(e->source.kind);
	e->facts.session = mcp_session_id(e->session);
	if (!plain(e->conf) &&
	    (e->control.kind != CONTROL_NONE || !mcp_session_is_none(e->session))) {
		e->facts.env_session = buf_view(&e->control.id);
	}
	e->facts.url = str_from(mcp_session_url(e->session));
	e->facts.starts_over = e->control.kind == CONTROL_HTTP;
	e->facts.takes_seed =
		e->facts.starts_over || e->control.kind == CONTROL_HTTP_HASHED;
	log_info("%s: control plane: %s; state source: %s", mcp_session_url(e->session),
	         kinds[e->control.kind], e->facts.state_kind);
}

/* ---- the vtable ---- */

static struct env_mcp *mcp_of(struct env *base)
{
	return (struct env_mcp *)base;
}

static int mcp_claims(const char *url)
{
	struct str s = str_from(url);

	if (str_starts(s, STR(MCP_STDIO_SCHEME))) {
		return s.n > strlen(MCP_STDIO_SCHEME) ? 2 : 0;
	}
	if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) {
		return 0;
	}
	s.n = strcspn(url, "?#");
	while (str_ends(s, STR("/"))) {
		s.n--;
	}
	return str_ends(s, STR("/mcp")) || str_ends(s, STR("/sse")) ? 2 : 1;
}

static struct env_mcp *mcp_new(const struct env_conf *conf, struct io *io);

static int open_session(struct env_mcp *e, struct env_reply *refusal, struct error *err)
{
	struct mcp_reply r;

	if (mcp_session_open(e->session, &r, err)) {
		return -1;
	}
	if (r.got != MCP_GOT_RESULT) {
		bool modern = era_of(e->conf->era) == MCP_ERA_MODERN;
		return refused(e, &r, modern ? "server/discover" : "initialize", refusal,
		               err);
	}
	e->facts.session = mcp_session_id(e->session);
	return list_tools(e, refusal, err);
}

static int mcp_open(const struct env_conf *conf, struct io *io, struct env **out,
                    struct env_reply *refusal, struct error *err)
{
	struct env_mcp *e = mcp_new(conf, io);

	*out = &e->base;
	*refusal = (struct env_reply){.outcome = OUTCOME_OK, .env_steps = -1};
	if (state_source_parse(conf->state_spec, &e->source, err) ||
	    open_session(e, refusal, err)) {
		return -1;
	}
	if (refusal->outcome != OUTCOME_OK) {
		return 0;
	}
	if (find_control_plane(e, err) || settle_source(e, err)) {
		return -1;
	}
	settle_facts(e);
	return 0;
}

/* A hashing server takes the seed only with the first tool call, and reading its state
   before would make an unseeded environment. */
static bool must_not_look(const struct env_mcp *e)
{
	return e->control.kind == CONTROL_HTTP_HASHED && e->conf->has_seed && !e->acted;
}

static void read_refused_reset(struct env_mcp *e, int status, struct env_reply *out)
{
	char code[16];

	snprintf(code, sizeof(code), "%d", status);
	out->outcome = status ? OUTCOME_PROTOCOL_ERROR : OUTCOME_TRANSPORT_ERROR;
	out->http_status = status;
	out->error = (struct env_error){
		.class = status ? CLASS_PROTOCOL : CLASS_TRANSPORT,
		.layer = status ? LAYER_HTTP : LAYER_TRANSPORT,
		.code = status ? arena_str(&e->kept, str_from(code))
	                       : (struct str){NULL, 0},
		.message = arena_str(&e->kept, buf_view(&e->control.why))};
}

static int seed_episode(struct env_mcp *e, struct env_reply *out, struct error *err)
{
	int status;

	if (!e->conf->has_seed) {
		return 0;
	}
	if (e->control.kind != CONTROL_HTTP) {
		if (e->control.kind != CONTROL_HTTP_HASHED) {
			log_warn("this server cannot be given a seed: --seed is "
			         "recorded, not sent");
		}
		return 0;
	}
	if (control_reset(&e->control, e->conf->seed, &status, err)) {
		return -1;
	}
	if (status != 200) {
		read_refused_reset(e, status, out);
	}
	return 0;
}

static int read_start(struct env_mcp *e, struct env_reply *out, struct error *err)
{
	struct str first;

	if (must_not_look(e)) {
		mcp_note(e, "control-plane-failed", "state",
		         "not read before the first call: on this server that would make "
		         "an "
		         "unseeded "
		         "environment",
		         true);
		return 0;
	}
	if (control_read(&e->control, CONTROL_STATE, &first, err)) {
		return -1;
	}
	/* the environment exists from here on; only now can it be seeded */
	if (seed_episode(e, out, err) || out->outcome != OUTCOME_OK) {
		return out->outcome != OUTCOME_OK ? 0 : -1;
	}
	if (e->conf->has_seed && control_read(&e->control, CONTROL_STATE, &first, err)) {
		return -1;
	}
	if (!first.p) {
		mcp_control_trouble(e, "state");
	}
	out->observation = arena_str(&e->kept, first);
	return 0;
}

static int read_source(struct env_mcp *e, struct str *out, struct error *err)
{
	if (state_source_read(&e->source, e->session, &e->control, &e->reading, e->last,
	                      out, err)) {
		return -1;
	}
	if (!out->p && e->source.why.n) {
		mcp_note(e, "control-plane-failed", "state", buf_cstr(&e->source.why),
		         false);
	}
	return 0;
}

/* What is no change is decided by the first state. A source that is read for this alone
   is not read again before the first turn. */
static int settle_ignored(struct env_mcp *e, struct error *err)
{
	bool given = e->conf->ignore && e->conf->ignore->count;
	bool control = e->source.kind == STATE_CONTROL_PLANE;
	struct str first = control ? e->last : (struct str){NULL, 0};

	if (!control && !given && read_source(e, &first, err)) {
		return -1;
	}
	e->state_read = !control && first.p != NULL;
	if (e->source.kind == STATE_NONE && !given) {
		first = STR("null"); /* there will never be one: nothing to leave out */
	}
	ignored_release(&e->ignored);
	e->ignored = (struct ignored){.json = BUF(BUF_MAX_MESSAGE)};
	if (ignored_settle(&e->ignored, e->conf->ignore, first, err)) {
		return -1;
	}
	e->facts.state_ignore = buf_view(&e->ignored.json);
	e->facts.ignore_paths = e->ignored.paths;
	return 0;
}

/* Where the counter stands before our first step. What it says of rewards and endings is
 * older than we. */
static int read_status_before(struct env_mcp *e, const struct env_reply *start,
                              struct error *err)
{
	struct env_reply before = *start;

	if (mcp_read_status(e, &before, err)) {
		return -1;
	}
	if (before.terminated > 0 || before.truncated > 0) {
		mcp_note(e, "notification", "status",
		         "the episode was over before our first step: somebody played "
		         "it, and it was not reset",
		         false);
	}
	return 0;
}

static int mcp_reset(struct env *base, struct env_reply *out, struct error *err)
{
	struct env_mcp *e = mcp_of(base);

	*out = (struct env_reply){.outcome = OUTCOME_OK,
	                          .terminated = -1,
	                          .truncated = -1,
	                          .env_steps = -1};
	arena_release(&e->kept);
	e->reading.suspected = LAYER_NONE; /* what the episode before left */
	e->env_steps = -1;
	if (e->control.kind == CONTROL_NONE || e->control.kind == CONTROL_RESOURCES) {
		if (seed_episode(e, out, err)) {
			return -1;
		}
	}
	if (e->control.kind != CONTROL_NONE && read_start(e, out, err)) {
		return -1;
	}
	e->last = out->observation;
	if (out->outcome == OUTCOME_OK && e->control.kind != CONTROL_NONE &&
	    !must_not_look(e) && read_status_before(e, out, err)) {
		return -1;
	}
	buf_clear(&e->start);
	buf_str(&e->start, out->observation);
	return settle_ignored(e, err);
}

static int mcp_state(struct env *base, struct str *out, struct error *err)
{
	struct env_mcp *e = mcp_of(base);
	bool source_gone = e->source.kind == STATE_CONTROL_PLANE &&
	                   (e->state_lost || must_not_look(e));

	*out = (struct str){NULL, 0};
	if (mcp_look_at_tools(e, err)) {
		return -1;
	}
	if (source_gone) {
		return 0;
	}
	if (e->state_read) {
		e->state_read = false;
		*out = buf_view(&e->source.value);
		return 0;
	}
	return read_source(e, out, err);
}

/* Escaped, bytes take six times their room: what is no JSON is kept only so far. */
static void cut_raw(struct env_mcp *e, struct env_reply *out)
{
	char detail[96];
	size_t n = RAW_MAX;

	if (out->raw.n <= RAW_MAX) {
		return;
	}
	while (n > RAW_MAX - 4 && ((unsigned char)out->raw.p[n] & 0xc0) == 0x80) {
		n--; /* not in the middle of a character */
	}
	snprintf(detail, sizeof(detail), "{\"what\":\"raw\",\"kept\":%zu,\"of\":%zu}", n,
	         out->raw.n);
	events_push(&e->events, "truncated-bytes", str_from(detail));
	out->raw.n = n;
}

/* The buffers that hold a reply are used again by the reads that follow: what the rollout
 * gets is copied. */
static void keep_reply(struct env_mcp *e, struct env_reply *out)
{
	struct str *all[] = {&out->observation, &out->structured,    &out->raw,
	                     &out->error.code,  &out->error.message, &out->reply_session};

	arena_release(&e->kept);
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		*all[i] = arena_str(&e->kept, *all[i]);
	}
	e->last = out->outcome == OUTCOME_OK ? out->observation : (struct str){NULL, 0};
}

static int mcp_step(struct env *base, struct str name, struct str arguments,
                    struct env_reply *out, struct error *err)
{
	struct env_mcp *e = mcp_of(base);
	struct mcp_reply r;

	*out = (struct env_reply){.terminated = -1, .truncated = -1, .env_steps = -1};
	e->acted = true;
	e->reads_only = mcp_tool_reads_only(buf_view(&e->tools), name);
	if (mcp_call_tool(e->session, name, arguments, &r, err)) {
		return -1;
	}
	mcp_read_tool_reply(&r, e->facts.env_session, &e->reading, out);
	cut_raw(e, out);
	keep_reply(e, out);
	e->facts.session = mcp_session_id(e->session);
	out->session = e->facts.session;
	out->env_session = e->facts.env_session;
	if (out->outcome != OUTCOME_OK && out->error.layer == LAYER_TRANSPORT) {
		return 0; /* nobody answers: two more questions would only wait as long
		             again */
	}
	return mcp_read_control_plane(e, out, err);
}

static const struct env_facts *mcp_facts(const struct env *base)
{
	return &((const struct env_mcp *)base)->facts;
}

static bool mcp_event(struct env *base, struct event *out)
{
	return events_take(&mcp_of(base)->events, out);
}

static void mcp_close(struct env *base)
{
	struct env_mcp *e = mcp_of(base);

	if (!e) {
		return;
	}
	struct buf *all[] = {&e->tools,        &e->extra,  &e->client_version,
	                     &e->total_reward, &e->reward, &e->start};
	mcp_session_close(e->session);
	mcp_session_free(e->session);
	control_release(&e->control);
	state_source_release(&e->source);
	mcp_reading_release(&e->reading);
	events_release(&e->events);
	hasher_free(e->hasher);
	ignored_release(&e->ignored);
	arena_release(&e->kept);
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		buf_release(all[i]);
	}
	free(e);
}

const struct env_ops env_mcp = {
	.name = "mcp",
	.help = "MCP over Streamable HTTP, stdio or the older HTTP+SSE; MCP-Gym's "
		"control plane is found by "
		"asking",
	.claims = mcp_claims,
	.open = mcp_open,
	.reset = mcp_reset,
	.state = mcp_state,
	.step = mcp_step,
	.facts = mcp_facts,
	.event = mcp_event,
	.close = mcp_close,
};

static struct env_mcp *mcp_new(const struct env_conf *conf, struct io *io)
{
	struct env_mcp *e = mem_new(sizeof(*e));

	e->base.ops = &env_mcp;
	e->conf = conf;
	e->io = io;
	e->tools = e->start = e->ignored.json = BUF(BUF_MAX_MESSAGE);
	e->extra = e->client_version = e->total_reward = e->reward = BUF(BUF_MAX_SMALL);
	e->env_steps = -1;
	e->hasher = hasher_new();
	mcp_reading_init(&e->reading);
	describe_client(e);
	struct mcp_conf mcp = {.url = conf->url,
	                       .era = era_of(conf->era),
	                       .headers = conf->headers,
	                       .header_count = conf->header_count,
	                       .timeout_ms = conf->timeout_ms,
	                       .client_version = buf_cstr(&e->client_version),
	                       .extra = e->extra.n ? buf_view(&e->extra)
	                                           : (struct str){NULL, 0},
	                       .io = io,
	                       .events = &e->events};
	e->session = mcp_session_new(&mcp);
	control_init(&e->control, io, e->session, &e->events, conf);
	return e;
}
