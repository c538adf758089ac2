/* Writes the lines of a recording: see line_writer.h. Volatile facts are written under `meta`
   only. */
#include "recording/line_writer.h"

#include "base/base64.h"
#include "base/text.h"
#include "json/write.h"
#include "recording/line_cut.h"

#include <inttypes.h>
#include <stdio.h>

void line_writer_init(struct line_writer *w, struct recorder *recorder,
                      const struct line_sink *sinks, size_t sink_count, struct clock clock,
                      struct scratch_pool *pool)
{
	*w = (struct line_writer){.recorder = recorder,
	                          .sinks = sinks,
	                          .sink_count = sink_count,
	                          .clock = clock,
	                          .pool = pool,
	                          .rollout = ""};
}

/* Begins a line; put_line ends it. */
static struct line begin_line(struct line_writer *w, enum line_type type)
{
	w->s = scratch_take(w->pool);
	return (struct line){.type = type};
}

/* ---- values ---- */

/* A value is written to the scratch buffer and then copied to its arena. */
static struct json_writer begin_value(struct line_writer *w)
{
	struct json_writer j;

	buf_clear(&w->s->value);
	jw_init(&j, &w->s->value);
	return j;
}

static void keep_value(struct line_writer *w, struct line *l, enum key k)
{
	struct buf *value = &w->s->value;

	l->value[k] = value->full ? STR_NONE : arena_str(&w->s->arena, buf_view(value));
	w->overflown |= (uint64_t)value->full << k;
}

static struct json_writer begin_object(struct line_writer *w)
{
	struct json_writer j = begin_value(w);

	jw_object(&j);
	return j;
}

static void keep_object(struct line_writer *w, struct json_writer *j, struct line *l, enum key k)
{
	jw_end(j);
	keep_value(w, l, k);
}

static void set_text(struct line_writer *w, struct line *l, enum key k, const char *text)
{
	struct json_writer j = begin_value(w);

	jw_text(&j, text);
	keep_value(w, l, k);
}

static void set_i64(struct line_writer *w, struct line *l, enum key k, int64_t v)
{
	struct json_writer j = begin_value(w);

	if (v < 0)
		jw_null(&j);
	else
		jw_i64(&j, v);
	keep_value(w, l, k);
}

static void set_raw(struct line *l, enum key k, struct str raw)
{
	l->value[k] = raw.p ? raw : STR("null");
}

static void set_flag(struct line *l, enum key k, int8_t flag)
{
	l->value[k] = flag < 0 ? STR("null") : flag ? STR("true") : STR("false");
}

static void set_state(struct line_writer *w, struct line *l, struct str state,
                      const struct json_paths *ignore)
{
	char hex[HASH_HEX + 1];

	set_raw(l, KEY_STATE, state);
	l->value[KEY_STATE_HASH] = STR("null");
	if (state.p) {
		json_hash(w->s->hasher, state, ignore, &w->s->hash, hex);
		set_text(w, l, KEY_STATE_HASH, hex);
	}
}

/* null if absent. */
static void put_value(struct json_writer *j, const char *key, struct str s)
{
	jw_put_str(j, key, s);
}

/* Nothing if the value is empty. */
static void put_raw(struct json_writer *j, const char *key, struct str value)
{
	if (value.n)
		jw_put_raw(j, key, value);
}

static void put_text(struct json_writer *j, const char *key, const char *text)
{
	jw_put_text(j, key, text);
}

static void set_outcome(struct line_writer *w, struct line *l, const struct env_reply *r)
{
	struct json_writer j;

	set_text(w, l, KEY_OUTCOME, outcome_name(r->outcome));
	l->value[KEY_ERROR] = STR("null");
	if (r->outcome == OUTCOME_OK)
		return;
	j = begin_object(w);
	put_text(&j, "class", error_class_name(r->error.class));
	put_text(&j, "layer", error_layer_name(r->error.layer));
	jw_put_raw(&j, "code", r->error.code);
	put_value(&j, "message", r->error.message);
	if (r->error.disagrees != LAYER_NONE)
		put_text(&j, "disagrees", error_layer_name(r->error.disagrees));
	keep_object(w, &j, l, KEY_ERROR);
}

/* Keeps bytes that are not JSON as text, or as base64 if they are not UTF-8. */
static void set_raw_bytes(struct line_writer *w, struct line *l, struct str bytes)
{
	struct json_writer j = begin_value(w);

	if (!bytes.p)
		return;
	if (text_utf8_valid(bytes) == bytes.n) {
		jw_str(&j, bytes);
		keep_value(w, l, KEY_RAW);
		return;
	}
	buf_char(&w->s->value, '"');
	base64_encode(&w->s->value, bytes);
	buf_char(&w->s->value, '"');
	keep_value(w, l, KEY_RAW_BASE64);
}

static void set_content(struct line_writer *w, struct line *l, const struct env_reply *r)
{
	set_raw(l, KEY_OBSERVATION, r->observation);
	if (r->observation.n && memchr(r->observation.p, '\n', r->observation.n)) {
		buf_clear(&w->s->value);
		json_minify(r->observation, &w->s->value);
		keep_value(w, l, KEY_OBSERVATION);
	}
	l->value[KEY_STRUCTURED] = r->structured;
	set_raw_bytes(w, l, r->raw);
}

/* The model's messages, followed by those added with the result. */
static void set_messages(struct line_writer *w, struct line *l, struct str first, struct str then)
{
	buf_clear(&w->s->value);
	buf_char(&w->s->value, '[');
	buf_str(&w->s->value, first);
	buf_text(&w->s->value, first.n && then.n ? "," : "");
	buf_str(&w->s->value, then);
	buf_char(&w->s->value, ']');
	keep_value(w, l, KEY_MESSAGES);
}

static void put_time(struct json_writer *j, const char *key, uint64_t unix_ms)
{
	char text[32];

	clock_format(unix_ms, text);
	put_text(j, key, text);
}

/* Writes a number with three decimals. */
static void put_thousandths(struct json_writer *j, const char *key, uint64_t thousandths)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 ".%03u", thousandths / 1000,
	         (unsigned)(thousandths % 1000));
	jw_put_raw(j, key, str_from(text));
}

static void put_str(struct json_writer *j, const char *key, struct str s)
{
	if (s.p && s.n)
		put_value(j, key, s);
}

/* Nothing if it is 0. */
static void put_count(struct json_writer *j, const char *key, int64_t n)
{
	if (n)
		jw_put_i64(j, key, n);
}

/* ---- writing ---- */

static int hand_out(struct line_writer *w, struct str text, struct error *err)
{
	struct line seen;
	size_t used;

	if (!w->sink_count)
		return 0;
	/* of the written text, so that live and offline checks see the same bytes */
	buf_clear(&w->s->parsed);
	if (line_parse(text, &w->s->parsed, &seen, &used, err))
		return error_wrap(err, "a line this program wrote");
	seen.number = recorder_line(w->recorder);
	for (size_t i = 0; i < w->sink_count; i++)
		if (w->sinks[i].take(w->sinks[i].ctx, &seen, err))
			return -1;
	return 0;
}

static void name_line(struct line_writer *w, struct line *l)
{
	set_text(w, l, KEY_TYPE, line_type_name(l->type));
	set_text(w, l, KEY_ROLLOUT, w->rollout);
}

/* Writes a line that is within the size limit. */
static int write_line(struct line_writer *w, struct line *l, struct error *err)
{
	struct str written;

	w->lines++;
	if (l->type == LINE_END)
		set_i64(w, l, KEY_LINES, w->lines);
	if (w->order)
		pthread_mutex_lock(w->order);
	int failed = recorder_write(w->recorder, l, &w->s->text, &written, err);
	if (!failed)
		failed = hand_out(w, written, err);
	if (w->order)
		pthread_mutex_unlock(w->order);
	scratch_give(w->pool, w->s);
	w->s = NULL;
	return failed;
}

static struct line event_line(struct line_writer *w, int64_t turn, const struct event *e)
{
	struct line l = begin_line(w, LINE_EVENT);

	set_i64(w, &l, KEY_TURN, turn);
	set_text(w, &l, KEY_EVENT, event_kind_name(e->kind));
	set_raw(&l, KEY_DETAIL, e->detail);
	name_line(w, &l);
	return l;
}

/* Writes a truncated-bytes event before the current line. */
static int write_truncation(struct line_writer *w, struct line *l, const char *detail,
                            struct error *err)
{
	struct event cut = {.kind = EVENT_TRUNCATED_BYTES, .detail = str_from(detail)};
	struct scratch *s = w->s;
	struct line event = event_line(w, line_count(l->value[KEY_TURN]), &cut);
	int failed = write_line(w, &event, err);

	w->s = s;
	return failed;
}

static int cut_line(struct line_writer *w, struct line *l, struct error *err)
{
	char detail[128];
	int failed = 0;

	for (unsigned k = 0; !failed && k < KEY_COUNT; k++) {
		if (w->overflown >> k & 1) {
			line_cut_whole(l, k, detail);
			failed = write_truncation(w, l, detail, err);
		}
	}
	while (!failed && !recorder_fits(w->recorder, l, &w->s->text) &&
	       line_cut_longest(l, &w->s->arena, detail)) {
		failed = write_truncation(w, l, detail, err);
	}
	w->overflown = 0;
	return failed;
}

static int put_line(struct line_writer *w, struct line *l, struct error *err)
{
	name_line(w, l);
	if ((w->overflown || line_values_bytes(l) > LINE_MAX_BYTES / 4) && l->type != LINE_HEADER &&
	    cut_line(w, l, err)) {
		scratch_give(w->pool, w->s);
		w->s = NULL;
		return -1;
	}
	return write_line(w, l, err);
}

/* ---- header ---- */

static const char *const target_keys[] = {
	[STATE_RESOURCE] = "resource", [STATE_TOOL] = "tool", [STATE_OBSERVATION] = "pointer"};

static void set_env(struct line_writer *w, struct line *l, const struct header_fields *f)
{
	struct json_writer j = begin_object(w);

	put_text(&j, "protocol", f->protocol);
	put_value(&j, "name", f->env_name);
	put_value(&j, "version", f->env_version);
	keep_object(w, &j, l, KEY_ENV);

	j = begin_object(w);
	put_text(&j, "kind",
	         state_kind_name(f->state_kind == STATE_UNKNOWN ? STATE_NONE : f->state_kind));
	put_str(&j, f->state_target.n ? target_keys[f->state_kind] : "", f->state_target);
	put_raw(&j, "arguments", json_count(f->state_arguments) ? f->state_arguments : STR_NONE);
	put_raw(&j, "ignore", f->state_ignore.p ? f->state_ignore : STR("[]"));
	put_raw(&j, "volatile", f->volatile_numbers);
	put_raw(&j, "names", f->no_names ? STR("false") : STR_NONE);
	keep_object(w, &j, l, KEY_STATE_SOURCE);
	set_raw(l, KEY_TOOLS, f->tools);
}

static void set_policy(struct line_writer *w, struct line *l, const struct header_fields *f)
{
	struct json_writer j = begin_object(w);

	put_text(&j, "kind", policy_kind_name(f->policy_kind));
	put_value(&j, "name", f->policy_name);
	put_raw(&j, "params", f->policy_params);
	keep_object(w, &j, l, KEY_POLICY);
	l->value[KEY_POLICY] = f->policy_kind ? l->value[KEY_POLICY] : STR("null");
}

static void set_limits_and_masks(struct line_writer *w, struct line *l,
                                 const struct header_fields *f)
{
	struct json_writer j = begin_object(w);

	jw_put_i64(&j, "max_turns", f->max_turns);
	jw_put_u64(&j, "timeout_ms", f->timeout_ms);
	put_count(&j, "group_size", f->group_size);
	keep_object(w, &j, l, KEY_LIMITS);
	l->value[KEY_LIMITS] = f->max_turns < 0 ? STR("null") : l->value[KEY_LIMITS];

	j = begin_value(w);
	jw_array(&j);
	for (size_t i = 0; i < f->mask_count; i++)
		jw_text(&j, f->masks[i]);
	keep_object(w, &j, l, KEY_MASKS);
}

static void put_mcp(struct json_writer *j, const struct header_fields *f)
{
	if (f->revision) {
		jw_put_object(j, "mcp");
		put_text(j, "revision", f->revision);
		put_text(j, "era", f->era);
		put_text(j, "transport", f->transport);
		jw_end(j);
	}
}

static void set_header_meta(struct line_writer *w, struct line *l, const struct header_fields *f)
{
	struct json_writer j = begin_object(w);

	put_time(&j, "started", w->clock.unix_ms(w->clock.ctx));
	put_text(&j, "rolldbg", f->version);
	put_str(&j, "url", f->url);
	put_str(&j, "session", f->session);
	put_str(&j, "env_session", f->env_session);
	put_count(&j, "client_port", f->client_port);
	put_str(&j, "parent", f->parent_file);
	put_mcp(&j, f);
	keep_object(w, &j, l, KEY_META);
}

int line_writer_header(struct line_writer *w, const struct header_fields *f, struct error *err)
{
	struct line l = begin_line(w, LINE_HEADER);
	struct json_writer j = begin_object(w);

	put_text(&j, "id", f->task);
	put_raw(&j, "vars", f->vars);
	put_raw(&j, "reset", f->reset_args);
	keep_object(w, &j, &l, KEY_TASK);
	set_text(w, &l, KEY_FORMAT, RECORD_FORMAT);
	set_i64(w, &l, KEY_VERSION, RECORD_VERSION);
	set_i64(w, &l, KEY_SAMPLE, f->sample);
	l.value[KEY_SEED] = STR("null");
	if (f->has_seed) {
		j = begin_value(w);
		jw_i64(&j, f->seed);
		keep_value(w, &l, KEY_SEED);
	}
	set_env(w, &l, f);
	set_policy(w, &l, f);
	if (f->parent.p) {
		j = begin_object(w);
		put_str(&j, "rollout", f->parent);
		jw_put_i64(&j, "step", f->parent_steps);
		jw_put_bool(&j, "seeded", f->seeded);
		keep_object(w, &j, &l, KEY_PARENT);
	}
	set_limits_and_masks(w, &l, f);
	set_header_meta(w, &l, f);
	return put_line(w, &l, err);
}

/* ---- reset, step, event, end ---- */

int line_writer_reset(struct line_writer *w, const struct env_reply *r, struct str messages,
                      struct error *err)
{
	struct line l = begin_line(w, LINE_RESET);

	set_outcome(w, &l, r);
	set_content(w, &l, r);
	if (r->terminated > 0)
		set_flag(&l, KEY_TERMINATED, r->terminated);
	if (r->truncated > 0)
		set_flag(&l, KEY_TRUNCATED, r->truncated);
	set_messages(w, &l, messages, STR_NONE);
	return put_line(w, &l, err);
}

static void set_tool_call(struct line_writer *w, struct line *l, const struct step_fields *f)
{
	struct json_writer j = begin_object(w);
	struct str id = f->call->id;
	char own[32];
	int n = id.p ? 0 : snprintf(own, sizeof(own), "c%lld", (long long)f->step);

	put_value(&j, "id", n ? (struct str){own, (size_t)n} : id);
	put_value(&j, "name", f->call->name);
	jw_put_raw(&j, "arguments", f->call->arguments);
	keep_object(w, &j, l, KEY_TOOL_CALL);
}

static void put_control(struct json_writer *j, const struct env_reply *r)
{
	if (!r->control_reward && !r->control_status)
		return;
	jw_put_object(j, "control");
	put_text(j, "reward", r->control_reward);
	put_text(j, "status", r->control_status);
	jw_end(j);
}

static void set_step_meta(struct line_writer *w, struct line *l, const struct step_fields *f)
{
	struct json_writer j = begin_object(w);
	const struct env_reply *r = f->reply;

	put_time(&j, "at", f->at_ms);
	put_thousandths(&j, "latency_ms", f->latency_us);
	put_count(&j, "http_status", r->http_status);
	put_str(&j, "session", r->session);
	put_str(&j, "env_session", r->env_session);
	put_str(&j, "reply_session", r->reply_session);
	put_control(&j, r);
	put_str(&j, "joined", str_from(f->joined));
	keep_object(w, &j, l, KEY_META);
}

int line_writer_step(struct line_writer *w, const struct step_fields *f, struct error *err)
{
	struct line l = begin_line(w, LINE_STEP);

	set_i64(w, &l, KEY_TURN, f->turn);
	set_i64(w, &l, KEY_STEP, f->step);
	set_state(w, &l, f->state, f->ignore);
	set_tool_call(w, &l, f);
	set_outcome(w, &l, f->reply);
	set_content(w, &l, f->reply);
	set_messages(w, &l, f->messages, f->more_messages);
	set_raw(&l, KEY_REWARD, f->reply->reward);
	set_flag(&l, KEY_TERMINATED, f->reply->terminated);
	set_flag(&l, KEY_TRUNCATED, f->reply->truncated);
	set_i64(w, &l, KEY_ENV_STEPS, f->reply->env_steps);
	l.value[KEY_LLM] = f->llm;
	set_step_meta(w, &l, f);
	return put_line(w, &l, err);
}

int line_writer_turn(struct line_writer *w, const struct step_fields *f, struct error *err)
{
	struct line l = begin_line(w, LINE_STEP);

	set_i64(w, &l, KEY_TURN, f->turn);
	l.value[KEY_STEP] = l.value[KEY_TOOL_CALL] = l.value[KEY_OUTCOME] = l.value[KEY_ERROR] =
		STR("null");
	set_state(w, &l, f->state, f->ignore);
	if (f->call) {
		set_tool_call(w, &l, f);
		set_outcome(w, &l, f->reply);
	}
	set_messages(w, &l, f->messages, f->more_messages);
	l.value[KEY_OBSERVATION] = l.value[KEY_REWARD] = l.value[KEY_TERMINATED] =
		l.value[KEY_TRUNCATED] = l.value[KEY_ENV_STEPS] = STR("null");
	l.value[KEY_LLM] = f->llm;
	struct json_writer j = begin_object(w);
	put_time(&j, "at", f->at_ms);
	put_str(&j, "joined", str_from(f->joined));
	keep_object(w, &j, &l, KEY_META);
	return put_line(w, &l, err);
}

int line_writer_event(struct line_writer *w, int64_t turn, const struct event *e, struct error *err)
{
	struct line l = event_line(w, turn, e);

	return put_line(w, &l, err);
}

int line_writer_end(struct line_writer *w, const struct end_fields *f, struct error *err)
{
	struct line l = begin_line(w, LINE_END);

	set_text(w, &l, KEY_STATUS, end_status_name(f->status));
	set_text(w, &l, KEY_REASON, f->reason);
	set_i64(w, &l, KEY_TURNS, f->turns);
	set_i64(w, &l, KEY_STEPS, f->steps);
	set_raw(&l, KEY_TOTAL_REWARD, f->total_reward);
	l.value[KEY_REWARD_COMPONENTS] = f->reward_components;
	set_state(w, &l, f->state, f->ignore);
	struct json_writer j = begin_object(w);
	put_time(&j, "ended", w->clock.unix_ms(w->clock.ctx));
	put_thousandths(&j, "seconds", f->took_ms);
	keep_object(w, &j, &l, KEY_META);
	return put_line(w, &l, err);
}
